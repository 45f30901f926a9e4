// task scale.op: build_failed
/* A message of bytes that are no text in any encoding; who passes it on must still write valid
 * JSON. */

#error ÿþÀ€ " \ 
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
