/* Sketches of every library operator: the usual one is legal and becomes a kernel, the same genome
 * gives the same text, and most random genomes are legal too. */
#include "expected.h"

#include "base/rng.h"
#include "coder/coder.h"
#include "lang/lang.h"

enum { RANDOM = 1 }; /* genomes of each task */

static const struct coder_machine machines[] = {
    {.vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288},
    {.vector_bytes = 64, .registers = 32, .threads = 8, .l1 = 49152, .l2 = 2097152},
};

struct counts {
    unsigned tasks, random, legal;
};

static struct program *
load(struct arena *arena, const char *path)
{
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_open(arena, path, diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, diags) : NULL;
    return program != NULL && program->foreign == NULL ? program : NULL;
}

static bool
becomes_kernel(struct arena *arena, const struct program *program, const char *text,
               unsigned vector_bytes, struct diags *diags)
{
    struct source source = {"schedule", text, strlen(text)};
    struct coder_options options = {vector_bytes};
    struct schedule *schedule = coder_read(arena, program, &source, &options, diags);
    struct buf kernel = buf_in(arena);
    return schedule != NULL && coder_emit(&kernel, arena, schedule, diags) && kernel.length > 0;
}

static void
try_task(const char *path, struct counts *counts)
{
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        struct arena *arena = arena_create();
        struct diags *diags = diags_create(arena, 0);
        struct program *program = load(arena, path);
        struct rng rng = rng_stream(m, path);
        if (program == NULL) {
            arena_destroy(arena);
            return;
        }
        struct coder_space *space = coder_space_open(arena, program, &machines[m]);
        struct coder_genome usual = {{0}};
        struct coder_sketch sketch = coder_sketch(space, &usual);
        assert_string_equal(sketch.text, coder_sketch(space, &usual).text);
        if (!becomes_kernel(arena, program, sketch.text, machines[m].vector_bytes, diags)) {
            diags_print(diags, stderr, false);
            fail_msg("%s: the usual sketch is illegal:\n%s", path, sketch.text);
        }
        for (int i = 0; i < RANDOM; i++) {
            struct coder_genome genome = {{0}};
            for (size_t h = 0; h < sketch.hole_count; h++) {
                assert_true(sketch.holes[h].answers >= 2);
                genome.gene[sketch.holes[h].gene] =
                    (uint8_t)rng_below(&rng, sketch.holes[h].answers);
            }
            const char *text = coder_sketch(space, &genome).text;
            counts->random++;
            counts->legal += becomes_kernel(arena, program, text, machines[m].vector_bytes, diags);
        }
        counts->tasks++;
        arena_destroy(arena);
    }
}

static void
every_operator_has_sketches(void **state)
{
    struct counts counts = {0};
    struct arena *arena = arena_create();
    size_t count;
    (void)state;
    const char *const *paths = expected_tasks(arena, &count);
    for (size_t i = 0; i < count; i++)
        try_task(paths[i], &counts);
    arena_destroy(arena);
    print_message("%u programs and machines, %u of %u random genomes legal\n", counts.tasks,
                  counts.legal, counts.random);
    assert_true(counts.tasks > 600);
    assert_true(counts.legal > counts.random * 9 / 10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_has_sketches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
