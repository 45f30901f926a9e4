/* Time and memory of the compiled reference on one task file: reference FILE.op [runs] [form]
 *
 * Prints the best and the median time of its runs, the process's largest resident size beside that
 * of all inputs, outputs and intermediates held in double, and the time to build the object. */
#include "base/arena.h"
#include "base/clock.h"
#include "task/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static int
compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
bytes_in_double(const struct program *program)
{
    double bytes = 0;

    for (size_t t = 0; t < program->tensor_count; t++)
        bytes += 8.0 * (double)program->tensors[t]->count;
    return bytes;
}

static double
peak_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

/* One run, in an arena of its own so that results do not add up. */
static double
run_once(struct reference *reference, const struct program *program, enum emit form, void **inputs,
         struct diags *diags)
{
    struct arena *arena = arena_create();
    struct lang_result *results = arena_array(arena, program->output_count, sizeof *results);
    void **outputs = arena_array(arena, program->output_count, sizeof *outputs);
    double start;

    for (size_t o = 0; o < program->output_count && form != EMIT_REFERENCE; o++)
        outputs[o] = arena_array(arena, (size_t)program->outputs[o]->count, sizeof(double));
    start = clock_seconds();
    if (form != EMIT_REFERENCE)
        reference_run_kernel(reference, (const void *const *)inputs, outputs);
    else if (reference_run(arena, reference, (const void *const *)inputs, results, diags) != 0)
        start = clock_seconds() + 1e9;
    double seconds = clock_seconds() - start;
    arena_destroy(arena);
    return seconds;
}

static int
bench(struct arena *arena, const char *path, int runs, enum emit form, struct diags *diags)
{
    struct lang *lang = lang_open(arena, path, diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, diags) : NULL;
    struct emit_options options = {.form = form};
    struct reference *reference;
    struct lang_needs needs;
    double *times = arena_array(arena, (size_t)runs, sizeof *times);

    if (!program)
        return 2;
    void **inputs = task_draw_all(arena, program, DRAW_NORMAL, 1);
    double start = clock_seconds();
    if (reference_open(arena, program, &options, &reference, diags) != STATUS_OK)
        return 3;
    double built = clock_seconds() - start, before = peak_bytes();
    for (int i = 0; i < runs; i++)
        times[i] = run_once(reference, program, form, inputs, diags);
    qsort(times, (size_t)runs, sizeof *times, compare_times);
    lang_reference_needs(program, &needs);
    printf("%-20s best %7.3f s  median %7.3f s  built in %.1f s\n", lang_name(lang), times[0],
           times[runs / 2], built);
    printf(
        "%-20s peak %7.1f MB over %.1f MB before; estimated %.1f MB; tensors in double %.1f MB\n",
        "", peak_bytes() / 1e6, before / 1e6, needs.peak_bytes / 1e6,
        bytes_in_double(program) / 1e6);
    reference_close(reference);
    return 0;
}

int
main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    int runs = argc > 2 ? atoi(argv[2]) : 3, status = 2;

    if (argc > 1 && runs > 0)
        status = bench(arena, argv[1], runs, argc > 3 ? (enum emit)atoi(argv[3]) : 0, diags);
    else
        fprintf(stderr, "usage: %s FILE.op [runs] [form]\n", argv[0]);
    diags_print(diags, stderr, false);
    arena_destroy(arena);
    return status;
}
