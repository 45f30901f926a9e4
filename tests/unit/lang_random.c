/* Random programs: they are accepted, keep their hash when renamed and reordered, lose it when a
 * constant changes, survive printing, parsing and formatting, and mean the same to the interpreter
 * and to the compiled reference. HONE_RANDOM sets their number, HONE_SEED the first seed. */
#include "unit.h"

#include "base/file.h"
#include "base/proc.h"
#include "lang/lang.h"
#include "random_program.h"
#include "task/task.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define BATCH 25

static uint64_t
setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t
program_count(void)
{
    return setting("HONE_RANDOM", 500);
}

static struct program *
load(struct arena *arena, const char *text, const struct lang_size *sizes, size_t count)
{
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_parse(arena, "random.op", text, strlen(text), diags);
    struct program *program = lang ? lang_program(lang, 0, sizes, count, diags) : NULL;
    if (program == NULL) {
        diags_print(diags, stderr, false);
        fail_msg("refused:\n%s", text);
    }
    return program;
}

static const char *
make(struct arena *arena, uint64_t seed)
{
    return random_program(arena, (struct random_request){.seed = seed}, NULL);
}

/* ---- texts ---- */

static void
names_and_order_do_not_matter(void **state)
{
    (void)state;
    uint64_t first = setting("HONE_SEED", 1), changes = 0;
    for (uint64_t seed = first; seed < first + program_count(); seed++) {
        struct arena *arena = arena_create();
        struct random_request request = {.seed = seed};
        bool changed = false;
        const char *text = random_program(arena, request, NULL);
        const char *hash = lang_hash(arena, load(arena, text, NULL, 0));
        request.rename = request.reorder = true;
        const char *copy = random_program(arena, request, NULL);
        if (strcmp(hash, lang_hash(arena, load(arena, copy, NULL, 0))) != 0)
            fail_msg("seed %llu: another hash for\n%s\nand\n%s", (unsigned long long)seed, text,
                     copy);
        request = (struct random_request){.seed = seed, .change = true};
        const char *other = random_program(arena, request, &changed);
        changes += changed;
        if (changed && strcmp(hash, lang_hash(arena, load(arena, other, NULL, 0))) == 0)
            fail_msg("seed %llu: the same hash for\n%s\nand\n%s", (unsigned long long)seed, text,
                     other);
        arena_destroy(arena);
    }
    print_message("# %llu changed programs\n", (unsigned long long)changes);
    assert_true(changes > program_count() / 2);
}

static void
canonical_text_is_its_own(void **state)
{
    (void)state;
    uint64_t first = setting("HONE_SEED", 1);
    for (uint64_t seed = first; seed < first + program_count(); seed++) {
        struct arena *arena = arena_create();
        struct program *program = load(arena, make(arena, seed), NULL, 0);
        struct buf once = buf_in(arena), twice = buf_in(arena);
        struct lang_size *sizes = arena_array(arena, program->dim_count, sizeof *sizes);
        lang_canonical(&once, program);
        size_t named = 0; /* dims are numbered by the inputs' shapes first: find each by its size */
        bool *taken = arena_array(arena, program->dim_count, sizeof *taken);
        for (size_t i = 0; i < program->input_count; i++)
            for (unsigned d = 0; d < program->tensors[i]->rank; d++) {
                const struct dim *dim = program->tensors[i]->extent[d]->dim;
                size_t number = (size_t)(dim - program->dims);
                if (taken[number])
                    continue;
                taken[number] = true;
                sizes[named].size = dim->size;
                named++;
            }
        for (size_t i = 0; i < program->dim_count; i++)
            if (!taken[i])
                sizes[named++].size = program->dims[i].size;
        for (size_t i = 0; i < named; i++)
            sizes[i].dim = arena_printf(arena, "D%zu", i + 1);
        lang_canonical(&twice, load(arena, once.data, sizes, named));
        if (strcmp(once.data, twice.data) != 0)
            fail_msg("seed %llu:\n%s\nbecomes\n%s", (unsigned long long)seed, once.data,
                     twice.data);
        arena_destroy(arena);
    }
}

static void
formatting_changes_nothing(void **state)
{
    (void)state;
    uint64_t first = setting("HONE_SEED", 1);
    for (uint64_t seed = first; seed < first + program_count(); seed++) {
        struct arena *arena = arena_create();
        struct diags *diags = diags_create(arena, 0);
        const char *text = make(arena, seed);
        struct buf once = buf_in(arena), twice = buf_in(arena);
        assert_int_equal(lang_format(&once, "a.op", text, strlen(text), diags), STATUS_OK);
        assert_int_equal(lang_format(&twice, "a.op", once.data, once.length, diags), STATUS_OK);
        assert_string_equal(once.data, twice.data);
        assert_string_equal(lang_hash(arena, load(arena, text, NULL, 0)),
                            lang_hash(arena, load(arena, once.data, NULL, 0)));
        arena_destroy(arena);
    }
}

/* ---- meaning ---- */

typedef int
reference_function(const void *const *, double *const *, double *const *, double *const *,
                   double *const *, double *const *, double *const *);

struct subject {
    uint64_t seed;
    const char *text;
    struct program *program;
    enum distribution distribution;
    void **inputs;
    const char *object;
};

/* Compiles the references of a batch, two at a time. */
static void
build_batch(struct arena *arena, struct subject *subjects, size_t count, const char *folder)
{
    struct buf script = buf_in(arena);
    for (size_t i = 0; i < count; i++) {
        struct emit_options options = {.form = EMIT_REFERENCE};
        options.denormals =
            task_has_denormals(subjects[i].program, (const void *const *)subjects[i].inputs);
        struct buf text = buf_in(arena);
        struct diags *diags = diags_create(arena, 0);
        const char *source = arena_printf(arena, "%s/%zu.c", folder, i);
        subjects[i].object = arena_printf(arena, "%s/%zu.so", folder, i);
        lang_emit(&text, subjects[i].program, &options);
        assert_int_equal(file_write(source, text.data, text.length, diags), STATUS_OK);
        buf_printf(&script, "%s\n%s\n", source, subjects[i].object);
    }
    const char *argv[] = {"xargs",
                          "-n2",
                          "-P2",
                          "sh",
                          "-c",
                          "exec gcc -std=gnu17 -O1 "
                          "-march=native -fopenmp -ffp-contract=off -fno-math-errno -Wall -Werror "
                          "-shared -fPIC \"$0\" -o \"$1\" -lm",
                          NULL};
    struct proc_request request = {
        .argv = argv, .input = script.data, .input_length = script.length};
    struct proc_result result;
    assert_int_equal(proc_run(arena, &request, &result), STATUS_OK);
    if (result.exit_code != 0)
        fail_msg("gcc: %s", result.err);
}

static void
run_object(struct arena *arena, const struct subject *subject, struct lang_result *results)
{
    const struct program *program = subject->program;
    void *handle = dlopen(subject->object, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        fail_msg("%s", dlerror());
    reference_function *function = (reference_function *)dlsym(handle, "hone_reference");
    assert_non_null(function);
    double **arrays[6];
    for (int a = 0; a < 6; a++)
        arrays[a] = arena_array(arena, program->output_count, sizeof *arrays[a]);
    for (size_t i = 0; i < program->output_count; i++) {
        size_t count = (size_t)program->outputs[i]->count;
        size_t terms = (size_t)results[i].terms * count;
        for (int a = 0; a < 6; a++)
            arrays[a][i] = arena_array(arena, (a < 3 ? count : terms) + 1, sizeof(double));
    }
    assert_int_equal(function((const void *const *)subject->inputs, arrays[0], arrays[1], arrays[2],
                              arrays[3], arrays[4], arrays[5]),
                     0);
    for (size_t i = 0; i < program->output_count; i++) {
        results[i].v = arrays[0][i];
        results[i].g = arrays[1][i];
        results[i].c = arrays[2][i];
    }
    dlclose(handle);
}

static double
at(const double *values, int64_t i)
{
    return values ? values[i] : 0;
}

/* Whether two sizes of an error agree: to a factor, and below what matters they need not. */
static bool
sizes_agree(double a, double b, double v)
{
    double tiny = 1e-30 * (1 + fabs(v));
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (a == b)
        return true;
    return a <= 1.01 * b + tiny && b <= 1.01 * a + tiny;
}

static const char *
disagreement(struct arena *arena, const struct lang_result *a, const struct lang_result *b)
{
    for (int64_t i = 0; i < a->tensor->count; i++) {
        double va = a->v[i], vb = b->v[i], ga = at(a->g, i), gb = at(b->g, i);
        double ca = at(a->c, i), cb = at(b->c, i);
        if (isnan(ga) && isnan(gb))
            continue;
        /* c is the worst case with u = 2^-24: with 2^-53 it is 2^-29 of that. A jump that either
         * side could take is within 6g. */
        double allowed = 8 * 0x1p-29 * fmin(ca, cb) + 6 * ga + 1e-15 * fabs(va) + 1e-300;
        bool same = va == vb || (isnan(va) && isnan(vb)) || fabs(va - vb) <= allowed;
        if (!same || !sizes_agree(ga, gb, va) ||
            !(sizes_agree(ca, cb, va) || (ca > 1e100 && cb > 1e100)))
            return arena_printf(arena, "%s[%lld]: v %.17g %.17g  g %g %g  c %g %g", a->tensor->name,
                                (long long)i, va, vb, ga, gb, ca, cb);
    }
    return NULL;
}

static void
compare(struct arena *arena, const struct subject *subject)
{
    const struct program *program = subject->program;
    struct lang_result *defined = arena_array(arena, program->output_count, sizeof *defined);
    struct lang_result *compiled = arena_array(arena, program->output_count, sizeof *compiled);
    assert_int_equal(lang_interpret(arena, program, (const void *const *)subject->inputs, defined),
                     STATUS_OK);
    memcpy(compiled, defined, program->output_count * sizeof *compiled);
    run_object(arena, subject, compiled);
    for (size_t i = 0; i < program->output_count; i++) {
        const char *where = disagreement(arena, &defined[i], &compiled[i]);
        if (where != NULL) {
            struct buf text = buf_in(arena);
            lang_expand(&text, program);
            fail_msg("seed %llu, %s inputs: %s\n%s\n%s", (unsigned long long)subject->seed,
                     distribution_name[subject->distribution], where, subject->text, text.data);
        }
    }
}

static void
both_references_agree(void **state)
{
    (void)state;
    uint64_t first = setting("HONE_SEED", 1), count = program_count();
    /* OpenMP's threads outlive the objects that started them, so its library must stay. */
    dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    char folder[] = "/tmp/hone-random-XXXXXX";
    assert_non_null(mkdtemp(folder));
    print_message("# %llu programs from seed %llu\n", (unsigned long long)count,
                  (unsigned long long)first);
    for (uint64_t base = first; base < first + count; base += BATCH) {
        struct arena *arena = arena_create();
        struct subject subjects[BATCH];
        for (size_t i = 0; i < BATCH; i++) {
            struct subject *s = &subjects[i];
            s->seed = base + i;
            s->text = make(arena, s->seed);
            s->program = load(arena, s->text, NULL, 0);
            s->distribution = (enum distribution)(s->seed % DRAW_INFINITE);
            s->inputs = task_draw_all(arena, s->program, s->distribution, s->seed);
        }
        build_batch(arena, subjects, BATCH, folder);
        for (size_t i = 0; i < BATCH; i++)
            compare(arena, &subjects[i]);
        for (size_t i = 0; i < BATCH; i++) {
            unlink(subjects[i].object);
            unlink(arena_printf(arena, "%s/%zu.c", folder, i));
        }
        arena_destroy(arena);
    }
    rmdir(folder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_order_do_not_matter),
        cmocka_unit_test(canonical_text_is_its_own),
        cmocka_unit_test(formatting_changes_nothing),
        cmocka_unit_test(both_references_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
