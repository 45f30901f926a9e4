/* The coder against the interpreter: random programs, shapes and schedules, many kernels to a file,
 * at every vector width; a part of them under the sanitizers. What becomes the same C twice is
 * tried and counted once, whatever the width. HONE_RANDOM sets the number of groups of programs,
 * HONE_SEED the first of them, HONE_GROUP how many programs a group has, HONE_PROGRAM the only one
 * of tests/coder/programs.h that is tried; with HONE_KEEP=folder the files of the last group are
 * copied there. */
#include "expected.h"
#include "scratch.h"

#include "../coder/programs.h"
#include "../coder/random_schedule.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/proc.h"
#include "lang/lang.h"
#include "random_program.h"
#include "target/target.h"
#include "task/task.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WIDTHS 3
#define FILES (WIDTHS + 1) /* the last one is built with sanitizers */
#define GROUPS 22          /* of programs, in a test run */
#define PROGRAMS 20        /* of a group */
#define SCHEDULES 7        /* of a program, the plain one among them */
#define MOST_TERMS 3e4     /* of a program: the interpreter's time */
#define MOST_TEXT 40000    /* bytes of a kernel: the compiler's time */

static const unsigned widths[WIDTHS] = {16, 32, 64};

static uint64_t
setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- what is tried ---- */

struct trial { /* a program with inputs and what they give */
    const char *name;
    const char *text;
    struct program *program;
    const void *const *inputs;
    struct lang_result *results;
    struct tolerance *tolerances; /* NULL: not calibrated yet */
};

struct kernel {
    const struct trial *trial;
    const char *schedule; /* as drawn */
    unsigned file, number;
    struct code_parts parts;
    size_t start; /* in its file */
};

struct group {
    struct arena *arena;
    uint64_t seed;
    struct kernel *kernels;
    size_t count;
    unsigned in_file[FILES]; /* kernels */
    unsigned file_width[FILES];
    pid_t child;
};

/* Ways of the emitter that must have been taken in the end, by what they look like. */
static const struct way {
    const char *name, *pattern;
} ways[] = {
    {"copies by squares", "vf32_transpose\\("},
    {"copies by vectors", "vf32_store\\([A-Za-z_]+_[0-9]+ \\+ [^,]*, vf32_load\\([^(),]*\\)\\);"},
    {"copies by runs", "memcpy\\(&[A-Za-z_]+_[0-9]+\\["},
    {"partial results fetched ahead", "__builtin_prefetch\\(Y"},
    {"every second element", "vf32_load_second\\("},
    {"every third element", "vf32_load_third\\("},
    {"both of a pair", "vf32_load_odd\\("},
    {"pairs, fewer than a vector", "vf32_load_even_tail\\("},
    {"from the last to the first", "vf32_load_back\\("},
    {"lanes from three places or more", "vf32_load_zip[345]\\("},
    {"scans in registers", "vf32_last\\("},
    {"scans in other loops", "\\(-1 >= 0 \\? [A-Za-z_0-9]+_[0-9]+\\[-1\\]"},
    {"norms by chunks", "_sq_[0-9]+\\["},
    {"rows past the caches", "vf32_stream_row\\("},
    {"choices by a comparison", "vf32_if_[a-z]+\\("},
};
enum { WAYS = sizeof ways / sizeof *ways };

struct tally {
    size_t drawn, legal, large, equal, kernels, programs, calibrated, failures;
    size_t agreed[FILES]; /* with the interpreter */
    size_t taken[WAYS];
    char (*seen[2])[HASH_TEXT]; /* hashes of kernels that were tried, and sanitized */
    size_t seen_count[2];
};

/* ---- programs ---- */

static struct program *
load(struct arena *arena, const char *path, const char *text, const struct lang_size *sizes,
     size_t count)
{
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang =
        text ? lang_parse(arena, path, text, strlen(text), diags) : lang_open(arena, path, diags);
    struct program *program = lang ? lang_program(lang, 0, sizes, count, diags) : NULL;
    if (program == NULL && count == 0) {
        diags_print(diags, stderr, false);
        fail_msg("%s is refused:\n%s", path, text ? text : "");
    }
    return program;
}

static bool
is_small(const struct program *program)
{
    struct lang_needs needs;
    lang_reference_needs(program, &needs);
    return needs.terms <= MOST_TERMS;
}

/* The same program with other sizes, if it can be. */
static struct program *
resized(struct arena *arena, struct rng *rng, const char *path, const char *text,
        struct program *program)
{
    static const int64_t from[] = {1,  1,  2,  3,  4,  5,  7,  8,  9, 11,
                                   13, 16, 17, 19, 23, 31, 32, 33, 37};
    struct lang_size *sizes = arena_array(arena, program->dim_count + 1, sizeof *sizes);
    for (int tries = 0; tries < 3; tries++) {
        for (size_t i = 0; i < program->dim_count; i++) {
            bool keep = rng_below(rng, 100) < 30;
            int64_t size = from[rng_below(rng, sizeof from / sizeof *from)];
            sizes[i] =
                (struct lang_size){program->dims[i].name, keep ? program->dims[i].size : size};
        }
        struct program *other = load(arena, path, text, sizes, program->dim_count);
        if (other != NULL && is_small(other))
            return other;
    }
    return program;
}

static bool
choose_program(struct arena *arena, struct rng *rng, uint64_t seed, const char *const *paths,
               size_t path_count, struct trial *trial)
{
    unsigned way = (unsigned)rng_below(rng, 100);
    uint64_t only = setting("HONE_PROGRAM", CODER_PROGRAMS);
    if (only < CODER_PROGRAMS)
        way = 50;
    struct program *program;
    if (way < 15) {
        trial->name = paths[rng_below(rng, path_count)];
        trial->text = "";
        program = load(arena, trial->name, NULL, NULL, 0);
    } else {
        size_t fixed = (size_t)rng_below(rng, CODER_PROGRAMS);
        fixed = only < CODER_PROGRAMS ? (size_t)only : fixed;
        trial->name = way < 55 ? arena_printf(arena, "program_%zu.op", fixed)
                               : arena_printf(arena, "random_%llu.op", (unsigned long long)seed);
        trial->text = way < 55 ? coder_programs[fixed]
                               : random_program(arena, (struct random_request){.seed = seed}, NULL);
        program = load(arena, trial->name, trial->text, NULL, 0);
        if (rng_below(rng, 100) < 70)
            program = resized(arena, rng, trial->name, trial->text, program);
    }
    trial->program = program;
    return program->foreign == NULL && is_small(program) &&
           program->input_count + program->output_count < 60;
}

static void
evaluate(struct arena *arena, uint64_t seed, struct trial *trial)
{
    static const enum distribution from[] = {DRAW_NORMAL, DRAW_INTEGERS, DRAW_UNIFORM, DRAW_MIXED};
    trial->inputs = (const void *const *)task_draw_all(
        arena, trial->program, from[seed % (sizeof from / sizeof *from)], seed);
    trial->results = arena_array(arena, trial->program->output_count, sizeof *trial->results);
    assert_int_equal(lang_interpret(arena, trial->program, trial->inputs, trial->results),
                     STATUS_OK);
}

/* ---- kernels ---- */

static const char *
messages(struct arena *arena, const struct diags *diags)
{
    struct buf buf = buf_in(arena);
    for (size_t i = 0; i < diags_count(diags); i++) {
        const struct diag *diag = diags_get(diags, i);
        buf_printf(&buf, "%u:%u: %s\n", diag->place.line, diag->place.column, diag->message);
    }
    return buf.data ? buf.data : "";
}

/* A refusal says something about a place in the text. */
static void
check_refusal(struct arena *arena, const struct diags *diags, const char *schedule)
{
    if (diags_errors(diags) == 0)
        fail_msg("refused without a message:\n%s", schedule);
    for (size_t i = 0; i < diags_count(diags); i++) {
        const struct diag *diag = diags_get(diags, i);
        if (diag->place.source == NULL || diag->place.line == 0 || diag->message[0] == '\0')
            fail_msg("a refusal without a place: %s\n%s", messages(arena, diags), schedule);
    }
}

/* False: refused. `filled` is the schedule as it is written, or NULL. */
static bool
code(struct arena *arena, const struct trial *trial, const char *text, unsigned width,
     struct code_parts *parts, struct buf *filled)
{
    struct diags *diags = diags_create(arena, 0);
    struct source *source = arena_alloc(arena, sizeof *source);
    struct coder_options options = {.vector_bytes = width};
    *source = (struct source){"schedule", text, strlen(text)};
    if (getenv("HONE_TRACE")) /* where it crashed */
        fprintf(stderr, "%s\n%s\n%s\n", trial->name, trial->text, text);
    struct schedule *schedule = coder_read(arena, trial->program, source, &options, diags);
    bool good = schedule != NULL && code_parts(parts, arena, schedule, diags);
    if (good && filled != NULL)
        coder_write(filled, schedule);
    if (!good) {
        check_refusal(arena, diags, text);
        if (getenv("HONE_REFUSALS"))
            fprintf(stderr, "%s\n%s\n", text, messages(arena, diags));
        if (text[0] == '\0')
            fail_msg("the plain schedule is refused for %s: %s\n%s", trial->name,
                     messages(arena, diags), trial->text);
    }
    return good;
}

static bool
same_text(const struct buf *a, const struct buf *b)
{
    return a->length == b->length && (a->length == 0 || memcmp(a->data, b->data, a->length) == 0);
}

/* What is written reads as itself and gives the same kernel. */
static void
check_filled(struct arena *arena, const struct trial *trial, unsigned width, const char *text,
             const struct buf *filled, const struct code_parts *parts)
{
    struct code_parts again;
    struct buf twice = buf_in(arena);
    const char *written = filled->data ? filled->data : "";
    if (!code(arena, trial, written, width, &again, &twice) || !same_text(filled, &twice) ||
        !same_text(&parts->globals, &again.globals) || !same_text(&parts->body, &again.body))
        fail_msg("%s:\n%s\n%s\nis written\n%s\nwhich is not itself but\n%s", trial->name,
                 trial->text, text, written, twice.data ? twice.data : "refused");
}

static void
add_kernel(struct group *group, const struct trial *trial, const char *schedule, unsigned file,
           const struct code_parts *parts)
{
    struct kernel *kernel = &group->kernels[group->count++];
    *kernel = (struct kernel){trial, schedule, file, group->in_file[file]++, *parts, 0};
}

/* The form of search, the usual sketch or another: they copy in vectors and squares, take windows
 * and rows, which lines drawn token by token hardly ever do. */
static const char *
random_sketch(struct arena *arena, struct rng *rng, const struct trial *trial, unsigned width,
              bool other)
{
    /* caches that even these small rows do not fit: what is done then is tried too */
    bool tiny = other && rng_below(rng, 2) == 0;
    const struct coder_machine machine = {.vector_bytes = width,
                                          .registers = 16,
                                          .threads = 2,
                                          .l1 = tiny ? 64 : 32768,
                                          .l2 = tiny ? 128 : 524288,
                                          .l3 = tiny ? 256 : 0};
    struct coder_space *space = coder_space_open(arena, trial->program, &machine);
    struct coder_genome genome = {0};
    struct coder_sketch usual = coder_sketch(space, &genome);
    for (size_t i = 0; i < usual.hole_count && other; i++)
        if (rng_below(rng, 100) < 30)
            genome.gene[usual.holes[i].gene] = (uint8_t)rng_below(rng, usual.holes[i].answers);
    return coder_sketch(space, &genome).text;
}

static bool
matches(const struct buf *text, const char *pattern)
{
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    bool found = text->length > 0 && regexec(&regex, text->data, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

static void
count_ways(const struct code_parts *parts, size_t *taken)
{
    for (size_t i = 0; i < WAYS; i++)
        taken[i] += matches(&parts->body, ways[i].pattern);
}

/* Each kernel counts once: those that are sanitized among themselves. */
static bool
is_new(const struct group *group, struct tally *tally, bool sanitized,
       const struct code_parts *parts)
{
    struct buf text = buf_in(group->arena);
    char(*seen)[HASH_TEXT] = tally->seen[sanitized], hash[HASH_TEXT];
    buf_add(&text, parts->globals.data, parts->globals.length);
    buf_add(&text, parts->signature.data, parts->signature.length);
    buf_add(&text, parts->body.data, parts->body.length);
    hash_sha256(text.data, text.length, hash);
    for (size_t i = 0; i < tally->seen_count[sanitized]; i++)
        if (memcmp(seen[i], hash, sizeof hash) == 0)
            return false;
    memcpy(seen[tally->seen_count[sanitized]++], hash, sizeof hash);
    return true;
}

/* Every seventh kernel, at the width of the sanitized file. */
static void
add_sanitized(struct group *group, const struct trial *trial, const char *text, struct tally *tally)
{
    struct code_parts parts;
    if (tally->kernels % 7 == 0 &&
        code(group->arena, trial, text, group->file_width[WIDTHS], &parts, NULL) &&
        parts.body.length < MOST_TEXT / 4 && is_new(group, tally, true, &parts))
        add_kernel(group, trial, text, WIDTHS, &parts);
}

static void
add_trial(struct group *group, struct rng *rng, const struct trial *trial, struct tally *tally)
{
    for (unsigned i = 0; i < SCHEDULES; i++) {
        unsigned file = (unsigned)(tally->drawn++ % WIDTHS);
        const char *text = i == 0   ? ""
                           : i <= 3 ? random_sketch(group->arena, rng, trial, widths[file], i > 1)
                                    : random_schedule(group->arena, rng, trial->program);
        struct code_parts parts;
        struct buf filled = buf_in(group->arena);
        if (!code(group->arena, trial, text, widths[file], &parts, &filled))
            continue;
        if (tally->legal++ % 4 == 0)
            check_filled(group->arena, trial, widths[file], text, &filled, &parts);
        if (parts.body.length + parts.globals.length > MOST_TEXT) {
            tally->large++;
            continue;
        }
        if (!is_new(group, tally, false, &parts)) {
            tally->equal++;
            continue;
        }
        add_kernel(group, trial, text, file, &parts);
        count_ways(&parts, tally->taken);
        tally->kernels++;
        add_sanitized(group, trial, text, tally);
    }
}

/* ---- files ---- */

/* Calls `each` with the names of static variables and functions: what stands before the first
 * bracket or equals sign in or behind a line that begins with `static`. */
static void
each_global(const char *text, struct buf *out, unsigned number,
            void (*each)(struct buf *out, const char *name, int length, unsigned number))
{
    for (const char *at = text; at != NULL && (at = strstr(at, "static ")) != NULL; at++) {
        if (at != text && at[-1] != '\n')
            continue;
        const char *end = at + strcspn(at, "[(=");
        while (end[-1] == ' ') /* static float *const NAME = ... */
            end--;
        const char *name = end;
        while (name > at && (name[-1] == '_' || isalnum((unsigned char)name[-1])))
            name--;
        each(out, name, (int)(end - name), number);
    }
}

static void
define_name(struct buf *out, const char *name, int length, unsigned number)
{
    buf_printf(out, "#define %.*s %.*s__%u\n", length, name, length, name, number);
}

static void
undefine_name(struct buf *out, const char *name, int length, unsigned number)
{
    (void)number;
    buf_printf(out, "#undef %.*s\n", length, name);
}

static void
put_kernel(struct buf *buf, struct kernel *kernel)
{
    const struct program *program = kernel->trial->program;
    const char *globals = kernel->parts.globals.data;
    kernel->start = buf->length;
    buf_printf(buf, "#define kernel kernel_%u\n", kernel->number);
    each_global(globals, buf, kernel->number, define_name);
    buf_add(buf, globals, kernel->parts.globals.length);
    buf_add(buf, kernel->parts.signature.data, kernel->parts.signature.length);
    buf_puts(buf, "{\n");
    buf_add(buf, kernel->parts.body.data, kernel->parts.body.length);
    buf_printf(buf, "}\nstatic void\ncall_%u(void **a)\n{\n    kernel(", kernel->number);
    for (size_t i = 0; i < program->input_count + program->output_count; i++)
        buf_printf(buf, "%sa[%zu]", i ? ", " : "", i);
    buf_puts(buf, ");\n}\n#undef kernel\n");
    each_global(globals, buf, kernel->number, undefine_name);
}

static void
put_argument(struct buf *buf, const struct tensor *tensor, const void *data)
{
    int64_t head[2] = {tensor->count * (int64_t)dtype_info[tensor->dtype].size, data == NULL};
    buf_add(buf, head, sizeof head);
    if (data != NULL)
        buf_add(buf, data, (size_t)head[0]);
}

static void
put_inputs(struct buf *buf, const struct trial *trial)
{
    const struct program *program = trial->program;
    int64_t count = (int64_t)(program->input_count + program->output_count);
    buf_add(buf, &count, sizeof count);
    for (size_t i = 0; i < program->input_count; i++)
        put_argument(buf, program->tensors[i], trial->inputs[i]);
    for (size_t i = 0; i < program->output_count; i++)
        put_argument(buf, program->outputs[i], NULL);
}

static void
write_file(struct group *group, unsigned file)
{
    struct arena *arena = group->arena;
    struct diags *diags = diags_create(arena, 0);
    struct buf text = buf_in(arena), inputs = buf_in(arena);
    const char *root = getenv("ROOT");
    buf_printf(&text,
               "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
               "#define HONE_VECTOR_BYTES %u\n#include \"hone.h\"\n",
               group->file_width[file]);
    code_scalars(&text);
    for (size_t i = 0; i < group->count; i++)
        if (group->kernels[i].file == file) {
            put_kernel(&text, &group->kernels[i]);
            put_inputs(&inputs, group->kernels[i].trial);
        }
    buf_puts(&text, "static void (*const calls[])(void **) = {");
    for (unsigned i = 0; i < group->in_file[file]; i++)
        buf_printf(&text, "call_%u, ", i);
    buf_printf(
        &text,
        "};\nstatic const size_t call_count = %u;\n#include \"%s/tests/coder/run_kernels.h\"\n",
        group->in_file[file], root ? root : ".");
    const char *source = arena_printf(arena, "f%u.c", file);
    assert_int_equal(file_write(source, text.data, text.length, diags), STATUS_OK);
    source = arena_printf(arena, "f%u.in", file);
    assert_int_equal(file_write(source, inputs.data, inputs.length, diags), STATUS_OK);
}

/* Builds and runs the files, two at a time; what goes wrong is in fN.log. */
static void
start_group(struct group *group)
{
    static const char script[] =
        "ulimit -c 0; for f in 3 2 1 0; do echo $f; done | xargs -P2 -I@ sh -c '"
        "[ -s f@.in ] || exit 0; s=-O1; "
        "[ @ = 3 ] && s=\"-Og -g -fno-var-tracking -fsanitize=address,undefined "
        "-fno-sanitize-recover=all\"; "
        "gcc -std=gnu17 -march=native -fopenmp -fno-math-errno -Wall -Wextra -Werror "
        "-Wno-psabi -Wno-maybe-uninitialized -Wno-type-limits -Wno-bool-compare -I. $s f@.c -o f@ "
        "-lm >f@.log 2>&1 "
        "&& "
        "timeout 60 ./f@ f@.in f@.out >>f@.log 2>&1; echo exit $? >>f@.log'";
    for (unsigned file = 0; file < FILES; file++)
        write_file(group, file);
    group->child = fork();
    assert_true(group->child >= 0);
    if (group->child == 0) {
        setenv("OMP_WAIT_POLICY", "passive", 1);
        setenv("LC_ALL", "C", 1);
        setenv("OMP_DYNAMIC", "false", 1);
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
        execlp("sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
}

/* ---- comparing ---- */

/* Says what went wrong; the test goes on, since one fault often shows in several ways. */
static void
show_failure(const struct group *group, const struct kernel *kernel, const char *what,
             struct tally *tally)
{
    struct buf text = buf_in(group->arena);
    lang_expand(&text, kernel->trial->program);
    fprintf(stderr, "group %llu, %s, file %u (%u bytes), kernel %u: %s\n%s\n%s\nschedule:\n%s\n",
            (unsigned long long)group->seed, kernel->trial->name, kernel->file,
            group->file_width[kernel->file], kernel->number, what, kernel->trial->text,
            text.data ? text.data : "", kernel->schedule);
    if (++tally->failures >= setting("HONE_FAILURES", 5))
        fail_msg("%zu failures", tally->failures);
}

/* The judge's own gate; k is measured only where it is needed, since that takes a compiler. */
static bool
is_right(struct group *group, struct trial *trial, size_t output, const void *got,
         struct comparison *comparison, struct tally *tally)
{
    struct tolerance easy = {.k = 1, .scale = 1};
    const struct lang_result *result = &trial->results[output];
    task_compare(result, trial->tolerances ? &trial->tolerances[output] : &easy, got, comparison);
    if (comparison->wrong > 0 && trial->tolerances == NULL) {
        struct diags *diags = diags_create(group->arena, 0);
        trial->tolerances =
            arena_array(group->arena, trial->program->output_count, sizeof *trial->tolerances);
        assert_int_equal(task_calibrate(group->arena, trial->program, trial->inputs, trial->results,
                                        1, trial->tolerances, diags),
                         STATUS_OK);
        for (size_t i = 0; i < trial->program->output_count; i++)
            trial->tolerances[i].scale = 1;
        tally->calibrated++;
        task_compare(result, &trial->tolerances[output], got, comparison);
    }
    return comparison->wrong == 0;
}

/* Where two runs differ, or -1. */
static int64_t
first_difference(const char *a, const char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i])
            return (int64_t)i;
    return -1;
}

static const char *
check_outputs(struct group *group, const struct kernel *kernel, const char *got, size_t all,
              struct tally *tally)
{
    struct trial *trial = (struct trial *)kernel->trial;
    size_t at = 0;
    for (size_t i = 0; i < trial->program->output_count; i++) {
        const struct tensor *tensor = trial->program->outputs[i];
        size_t size = dtype_info[tensor->dtype].size, bytes = (size_t)tensor->count * size;
        struct comparison comparison;
        void *copy = arena_alloc(group->arena, bytes);
        memcpy(copy, got + at, bytes);
        if (!is_right(group, trial, i, copy, &comparison, tally)) {
            int64_t e = comparison.first_wrong;
            const struct lang_result *r = &trial->results[i];
            return arena_printf(group->arena,
                                "%s[%lld] is %.9g instead of %.9g, g %g, c %g (%lld wrong of %lld)",
                                tensor->name, (long long)e, dtype_element(tensor->dtype, copy, e),
                                r->v[e], r->g ? r->g[e] : 0, r->c ? r->c[e] : 0,
                                (long long)comparison.wrong, (long long)tensor->count);
        }
        int64_t differs = first_difference(got + at, got + all + at, bytes);
        if (differs >= 0)
            return arena_printf(group->arena,
                                "%s[%lld] differs between one thread and three, or is not written",
                                tensor->name, (long long)differs / (long long)size);
        at += bytes;
    }
    return NULL;
}

static size_t
output_bytes(const struct program *program)
{
    size_t bytes = 0;
    for (size_t i = 0; i < program->output_count; i++)
        bytes += (size_t)program->outputs[i]->count * dtype_info[program->outputs[i]->dtype].size;
    return bytes;
}

/* The kernel that this line of a file belongs to. */
static const struct kernel *
kernel_at(const struct group *group, unsigned file, const char *text, long line)
{
    const struct kernel *found = NULL;
    const char *at = text;
    while (--line > 0 && (at = strchr(at, '\n')) != NULL)
        at++;
    for (size_t i = 0; i < group->count && at != NULL; i++)
        if (group->kernels[i].file == file && group->kernels[i].start <= (size_t)(at - text))
            found = &group->kernels[i];
    return found;
}

/* What the compiler says, the first message of each kernel. */
static void
show_messages(const struct group *group, unsigned file, const char *log, struct tally *tally)
{
    struct diags *diags = diags_create(group->arena, 0);
    const char *name = arena_printf(group->arena, "f%u.c", file);
    const struct kernel *last = NULL;
    struct source text;
    assert_int_equal(file_read(group->arena, name, 1 << 28, &text, diags), STATUS_OK);
    name = arena_printf(group->arena, "f%u.c:", file);
    for (const char *at = log; (at = strstr(at, name)) != NULL; at++) {
        const struct kernel *kernel = kernel_at(group, file, text.text, atol(at + strlen(name)));
        if (kernel == last || kernel == NULL || !isdigit((unsigned char)at[strlen(name)]))
            continue;
        show_failure(group, kernel, arena_printf(group->arena, "not built: %.1500s", at), tally);
        last = kernel;
    }
    if (last == NULL)
        fail_msg("f%u: %.3000s", file, log);
}

static void
check_file(struct group *group, unsigned file, struct tally *tally)
{
    struct arena *arena = group->arena;
    struct diags *diags = diags_create(arena, 0);
    struct source log = {0}, out = {0};
    if (group->in_file[file] == 0)
        return;
    assert_int_equal(file_read(arena, arena_printf(arena, "f%u.log", file), 1 << 24, &log, diags),
                     STATUS_OK);
    bool fine = strcmp(log.text, "exit 0\n") == 0;
    const char *path = arena_printf(arena, "f%u.out", file);
    if (access(path, R_OK) == 0)
        assert_int_equal(file_read(arena, path, 1 << 28, &out, diags), STATUS_OK);
    if (!fine && out.text == NULL) {
        show_messages(group, file, log.text, tally);
        return;
    }
    size_t at = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct kernel *kernel = &group->kernels[i];
        if (kernel->file != file)
            continue;
        size_t all = output_bytes(kernel->trial->program);
        if (at + 2 * all > out.length) {
            show_failure(group, kernel, arena_printf(arena, "crashed:\n%.6000s", log.text), tally);
            return;
        }
        const char *wrong = check_outputs(group, kernel, out.text + at, all, tally);
        if (wrong != NULL)
            show_failure(group, kernel, wrong, tally);
        else
            tally->agreed[file]++;
        at += 2 * all;
    }
    if (!fine)
        fail_msg("f%u: %s", file, log.text);
}

static void
finish_group(struct group *group, struct tally *tally)
{
    int status;
    assert_int_equal(waitpid(group->child, &status, 0), group->child);
    if (getenv("HONE_KEEP"))
        assert_int_equal(system("cp hone.h f* \"$HONE_KEEP\""), 0);
    for (unsigned file = 0; file < FILES; file++)
        check_file(group, file, tally);
    for (unsigned file = 0; file < FILES; file++) {
        remove(arena_printf(group->arena, "f%u.out", file));
        remove(arena_printf(group->arena, "f%u", file));
    }
}

static void
draw_group(struct group *group, uint64_t seed, const char *const *paths, size_t path_count,
           struct tally *tally)
{
    uint64_t programs = setting("HONE_GROUP", PROGRAMS), made = 0;
    struct rng rng = rng_stream(seed, "coder");
    *group = (struct group){.arena = arena_create(), .seed = seed};
    group->kernels = arena_array(group->arena, 2 * SCHEDULES * programs, sizeof *group->kernels);
    for (unsigned i = 0; i < WIDTHS; i++)
        group->file_width[i] = widths[i];
    group->file_width[WIDTHS] = widths[seed % WIDTHS];
    for (uint64_t i = 0; made < programs; i++) {
        struct trial *trial = arena_alloc(group->arena, sizeof *trial);
        if (!choose_program(group->arena, &rng, seed * 1000 + i, paths, path_count, trial))
            continue;
        evaluate(group->arena, seed + i, trial);
        add_trial(group, &rng, trial, tally);
        made++;
    }
    tally->programs += made;
}

/* What is promised: so many that agree, of each width not too few, a part of them sanitized. */
static void
assert_enough(const struct tally *tally)
{
    enum { ALL = 2000, EACH = 400, SANITIZED = 200 };
    size_t all = 0;
    for (unsigned i = 0; i < WIDTHS; i++) {
        assert_true(tally->agreed[i] >= EACH);
        all += tally->agreed[i];
    }
    assert_true(all >= ALL);
    assert_true(tally->agreed[WIDTHS] >= SANITIZED);
}

static void
kernels_compute_what_programs_mean(void **state)
{
    struct unit *unit = *state;
    uint64_t first = setting("HONE_SEED", 1), count = setting("HONE_RANDOM", GROUPS);
    size_t path_count;
    const char *const *paths = expected_tasks(unit->arena, &path_count);
    struct tally tally = {0};
    struct diags *diags = diags_create(unit->arena, 0);
    const char *header = target_find("cpu")->files[0].text;
    assert_int_equal(file_write("hone.h", header, strlen(header), diags), STATUS_OK);
    for (unsigned i = 0; i < 2; i++)
        tally.seen[i] =
            arena_array(unit->arena, count * setting("HONE_GROUP", PROGRAMS) * SCHEDULES,
                        sizeof *tally.seen[i]);
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct group group;
        draw_group(&group, seed, paths, path_count, &tally);
        start_group(&group);
        finish_group(&group, &tally);
        arena_destroy(group.arena);
    }
    print_message("# %zu schedules of %zu programs: %zu legal, %zu of them too long to try, %zu "
                  "kernels that were there before, %zu others, %zu calibrated\n",
                  tally.drawn, tally.programs, tally.legal, tally.large, tally.equal, tally.kernels,
                  tally.calibrated);
    print_message("# agree: %zu at 16 bytes, %zu at 32, %zu at 64, %zu sanitized\n",
                  tally.agreed[0], tally.agreed[1], tally.agreed[2], tally.agreed[WIDTHS]);
    for (size_t i = 0; i < WAYS; i++)
        print_message("# %s in %zu kernels\n", ways[i].name, tally.taken[i]);
    assert_int_equal(tally.failures, 0);
    for (size_t i = 0; i < WAYS && count >= 60; i++) /* some are rare */
        assert_true(tally.taken[i] > 0);
    assert_true(2 * tally.legal >= tally.drawn);
    if (count >= GROUPS && getenv("HONE_PROGRAM") == NULL && getenv("HONE_GROUP") == NULL)
        assert_enough(&tally);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(kernels_compute_what_programs_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
