/* Inputs and sizes that somebody proposes: refused with a message, or inside what the task allows.
 */
#include "task/task.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char text[] = "op norm\ndim R=3\ndim any N=5\nin X: f32[R,N] from -2 to 2\n"
                           "in I: i32[R]\nY[r] = sum[j](X[r,j]) + X[r,I[r]]\nout Y\n";

static void
check(const struct program *program, void *const *inputs)
{
    const float *x = inputs[0];
    const int *index = inputs[1];

    for (int64_t i = 0; x != NULL && i < program->tensors[0]->count; i++)
        assert(x[i] >= -2 && x[i] <= 2);
    for (int64_t i = 0; index != NULL && i < program->tensors[1]->count; i++)
        assert(index[i] >= 0 && index[i] < 5);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena *arena = arena_create();
    struct lang_size sizes[3];
    void *inputs[2];
    size_t found;

    if (!arena)
        return 0;
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_parse(arena, "fuzz", text, sizeof text - 1, diags);
    const struct program *program = lang_program(lang, 0, NULL, 0, diags);
    const char *said = arena_strndup(arena, (const char *)bytes, count);
    if (task_pattern(arena, program, said, inputs, diags) == STATUS_OK)
        check(program, inputs);
    else
        assert(diags_errors(diags) > 0);
    if (task_sizes(arena, program, said, sizes, &found, diags) == STATUS_OK)
        for (size_t i = 0; i < found; i++)
            assert(sizes[i].size >= 1 && sizes[i].size <= 10);
    arena_destroy(arena);
    return 0;
}
