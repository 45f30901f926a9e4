// task scale.op: build_failed
/* The mistake claims to stand in a file of the host: a compiler that shows the line of a mistake
 * would show a line of that file. */
#line 1 "/etc/passwd"
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    undeclared = 1;
}
