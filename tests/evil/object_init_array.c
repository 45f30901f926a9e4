// task scale.op: rejected; constructor
/* The same as a constructor, by the name of its section. */
static volatile int ready;

static void
early(void)
{
    ready = 1;
}

__attribute__((section(".init_array"), used)) static void (*const entry)(void) = early;

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
