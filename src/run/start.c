/* A file to begin with: the schedules in the titles of its kernels, if it is one of ours. */
#include "run/run.h"

void
run_start_read(struct arena *arena, const struct source *source, struct run_start *start)
{
    struct coder_title *titles;
    size_t count = coder_titles(arena, source->text, source->length, &titles);
    *start = (struct run_start){source->path, source->text, titles, count};
}
