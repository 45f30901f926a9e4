/* Passes in vectors of two: what every processor has. */
#include "task/pass_int.h"

#define TARGET
#define VECTOR_BYTES 16
#define PASSES pass__plain

typedef double vd __attribute__((vector_size(VECTOR_BYTES)));

static inline vd
v_max(vd x, vd y)
{
    return (vd){x[0] > y[0] ? x[0] : y[0], x[1] > y[1] ? x[1] : y[1]};
}

static bool
supported(void)
{
    return true;
}

#include "task/pass_body_int.h"
