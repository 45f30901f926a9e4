// task scale.op: rejected; kernel
/* Declares the function again and never defines it. */
void
kernel(const float *restrict X, float *restrict Y);
