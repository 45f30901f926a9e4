#include "task/task_int.h"

enum status
task_see(struct arena *arena, const struct program *program, uint64_t seed, struct sight *sights,
         bool *ill_posed, struct diags *diags)
{
    (void)arena, (void)program, (void)seed, (void)sights, (void)ill_posed;
    diags_add(diags, DIAG_ERROR, (struct place){0}, "not written yet");
    return STATUS_INPUT;
}
