/* The pieces of `hone machine`. */
#ifndef HONE_APP_MACHINE_H
#define HONE_APP_MACHINE_H

#include "app/cli.h"
#include "box/box.h"
#include "measure/measure.h"

struct machine_view {
    struct measure_facts facts;
    struct measure_kept kept;
    struct measure_state state;
    bool tsc;                          /* the clock in use is the processor's counter */
    const char *gcc, *clang;           /* versions; NULL: not found */
    const struct box_machine *sandbox; /* NULL: hone-box was not found */
    unsigned advice_count;
    const char *advice[MEASURE_MOST_ADVICE];
};

void
machine_screen(struct buf *buf, const struct machine_view *view, int verbosity);
void
machine_json(struct buf *buf, const struct machine_view *view);

#endif
