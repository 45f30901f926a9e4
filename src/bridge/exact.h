/* What other libraries have exactly: is a program one product of matrices, or one convolution, and
 * nothing else?
 *
 * Told by what is computed, not by names: one stage, the sum of products of two inputs, all f32.
 * Subscripts are not looked at but evaluated, for every value of the indices they depend on, and
 * compared with what a product or a convolution would read; however they are written, and whatever
 * was simplified, is no matter.
 */
#ifndef HONE_BRIDGE_EXACT_H
#define HONE_BRIDGE_EXACT_H

#include "lang/ir.h"

/* Y[p,m,n] = sum over k of A and B, `batch` times; each A is m by k, or k by m where it is
 * transposed, B k by n or n by k, all dense. n = 1: a matrix times a vector. */
struct exact_product {
    int64_t batch, m, n, k;
    bool transposed_a, transposed_b;
    size_t a, b; /* which inputs */
};

bool
exact_product(const struct program *program, struct exact_product *product);

#define EXACT_SPATIAL 3

/* X[N,C,...], F[K,C/groups,...] and Y[N,K,...] with one to three spatial dimensions. */
struct exact_convolution {
    unsigned spatial;
    int64_t groups;
    int64_t stride[EXACT_SPATIAL], pad[EXACT_SPATIAL], dilation[EXACT_SPATIAL];
    size_t x, f; /* which inputs */
};

bool
exact_convolution(const struct program *program, struct exact_convolution *convolution);

#endif
