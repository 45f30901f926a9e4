// task softmax.op
// Style: hone.h: vectors of the machine's width, tails by vf32_load_tail, exponentials kept in Y.
#include "hone.h"

static inline vf32 lanes_below(vf32 x, int n, float other) /* x in the first n lanes */
{
    return vf32_select(vi32_iota() < n, x, vf32_all(other));
}

void kernel(const float *restrict X, float *restrict Y)
{
    const int whole = N / VF32 * VF32, rest = N - whole;
#pragma omp parallel for
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float *y = Y + (size_t)r * N;
        vf32 top = vf32_all(-INFINITY), total = vf32_all(0);
        for (int j = 0; j < whole; j += VF32)
            top = vf32_max(top, vf32_load(x + j));
        top = vf32_max(top, lanes_below(vf32_load_tail(x + whole, rest), rest, -INFINITY));
        const float most = vf32_hmax(top);
        for (int j = 0; j < whole; j += VF32) {
            const vf32 e = vf32_exp(vf32_load(x + j) - most);
            vf32_store(y + j, e);
            total += e;
        }
        const vf32 e = vf32_exp(vf32_load_tail(x + whole, rest) - most);
        total += lanes_below(e, rest, 0);
        const float scale = 1 / vf32_hsum(total);
        for (int j = 0; j < whole; j += VF32)
            vf32_store(y + j, vf32_load(y + j) * scale);
        vf32_store_tail(y + whole, e * scale, rest);
    }
}
