/* From the text of a schedule back to its genome: most that sketches make are found, and what is
 * said to be found is. */
#include "unit.h"

#include "base/rng.h"
#include "coder/coder.h"
#include "lang/lang.h"

#include <stdlib.h>

enum { RANDOM = 8, SKETCHES = 400 };

static const struct coder_machine machine = {
    .vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288};

static struct coder_space *
space_of(struct unit *unit, const char *name)
{
    const char *path = arena_printf(unit->arena, "%s/examples/%s.op", getenv("ROOT"), name);
    struct lang *lang = lang_open(unit->arena, path, unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;

    assert_non_null(program);
    return coder_space_open(unit->arena, program, &machine);
}

/* Two or three answers other than the usual ones. */
static struct coder_genome
random_genome(struct coder_space *space, struct rng *rng)
{
    struct coder_genome genome = {{0}};

    for (int i = 0; i < 3; i++) {
        struct coder_sketch sketch = coder_sketch(space, &genome);
        const struct coder_hole *hole = &sketch.holes[rng_below(rng, sketch.hole_count)];
        genome.gene[hole->gene] = (uint8_t)rng_below(rng, hole->answers);
    }
    return genome;
}

static void
most_are_found(void **state)
{
    static const char *const names[] = {"sgemm", "softmax", "conv2d", "layer_norm", "max_pool"};
    struct unit *unit = *state;
    unsigned found = 0, looked = 0;

    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct coder_space *space = space_of(unit, names[n]);
        struct rng rng = rng_stream(1, names[n]);
        for (int i = 0; i < RANDOM; i++) {
            struct coder_genome genome = random_genome(space, &rng), back;
            const char *text = coder_filled(space, &genome);
            if (!text)
                continue;
            looked++;
            if (!coder_find(space, text, SKETCHES, &back))
                continue;
            found++;
            assert_string_equal(coder_filled(space, &back), text);
        }
    }
    print_message("%u of %u found\n", found, looked);
    assert_true(looked > 30);
    assert_true(found * 10 >= looked * 8);
}

static void
the_usual_one_is_found_at_once(void **state)
{
    struct unit *unit = *state;
    struct coder_space *space = space_of(unit, "sgemm");
    const struct coder_genome usual = {{0}};
    struct coder_genome back;

    memset(back.gene, 1, sizeof back.gene);
    assert_true(coder_find(space, coder_filled(space, &usual), 0, &back));
    assert_memory_equal(&back, &usual, sizeof usual);
}

static void
what_no_sketch_makes_is_not_found(void **state)
{
    struct unit *unit = *state;
    struct coder_space *space = space_of(unit, "sgemm");
    struct coder_genome back;

    assert_false(coder_find(space, "C: i j k\n", 50, &back));
    assert_non_null(coder_filled(space, &back));
    assert_false(coder_find(space, "", 5, &back));
    assert_false(coder_find(space, "\n \n!! ::", 5, &back));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(most_are_found),
        UNIT_TEST(the_usual_one_is_found_at_once),
        UNIT_TEST(what_no_sketch_makes_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
