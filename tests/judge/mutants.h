/* Mutants of the kernels in tests/honest and of examples/softmax.c, and what the judge says of
 * them.
 *
 * A mutant is judged as any kernel: built, checked, timed. One that comes out correct is looked at
 * more closely, and by machine: is its code the original's; are its outputs, bit for bit, on many
 * more sets of inputs of every kind; are they right there, and at other sizes where the task allows
 * any. What is wrong only then was missed. What is wrong on none of these, but on inputs made for
 * the purpose that the kinds hardly ever draw, is hidden: a fault that the judge cannot be blamed
 * for not seeing, and a hint what it should draw. What never is wrong is equivalent. */
#ifndef HONE_TESTS_MUTANTS_H
#define HONE_TESTS_MUTANTS_H

#include "mutate.h"

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "judge/judge_int.h"

#include <dirent.h>
#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>

enum { MUTANTS_KERNELS_MAX = 1024, MUTANTS_OTHER_SIZES = 4 };

/*    id          name */
#define MUTANTS_FATES(X)                                                                      \
    X(CAUGHT, "caught")                                                                       \
    X(SAME_CODE, "same code")           /* equivalent: nothing that is compiled changed */    \
    X(SAME_BITS, "same bits")           /* equivalent: never another bit */                   \
    X(IN_TOLERANCE, "within tolerance") /* equivalent: other bits, never wrong */             \
    X(HIDDEN, "hidden")                 /* wrong only on sharp inputs, which no kind draws */ \
    X(MISSED, "missed")

enum mutants_fate {
#define X(id, name) MUTANTS_##id,
    MUTANTS_FATES(X)
#undef X
        MUTANTS_FATE_COUNT
};

static const char *const mutants_fate_name[MUTANTS_FATE_COUNT] = {
#define X(id, name) name,
    MUTANTS_FATES(X)
#undef X
};

struct mutants_kernel {
    const char *path, *op;
    struct source source;
    size_t chosen; /* mutants of it */
};

struct mutants_fault {
    struct mutants_kernel *kernel;
    struct mutate_fault fault;
    char *text; /* the whole mutant */
    enum mutants_fate fate;
    enum judge_status status;  /* of the judge's verdict */
    const char *reason;        /* of it, or of the closer look if that found it wrong */
    const char *kinds, *where; /* of the closer look */
    double worst;              /* errors in units of what is allowed: when judged */
    double worst_later;        /* and when looked at closely */
    double seconds;
};

struct mutants_options {
    uint64_t seed;
    size_t count;             /* of mutants, over all classes */
    const char *const *names; /* of the kernels' files, up to a NULL; NULL: all */
    const char *only;         /* kernels whose path contains it; NULL: all */
    unsigned rounds;          /* sets of each kind for the closer look */
    bool measure;             /* also time those that are right */
};

/* A task, and the original built for it. */
struct mutants_bench {
    struct judge_task *task;
    struct judge_kernel *original;
};

struct mutants {
    struct arena *arena;
    struct diags *diags;
    struct mutants_options options;
    struct mutants_kernel *kernels;
    size_t kernel_count;
    struct mutants_fault *list;
    size_t count;
    struct judge *judge;
    const struct mutants_kernel *kernel;                 /* now open */
    struct arena *scratch;                               /* of its task's language */
    struct mutants_bench bench[1 + MUTANTS_OTHER_SIZES]; /* the first one judges */
    const char *op;                                      /* of the tasks now open */
    size_t wrong_originals;
};

/* ---- kernels ---- */

static inline const char *
mutants_short_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static inline bool
mutants_wants(const struct mutants *m, const char *path)
{
    const char *const *name = m->options.names;

    while (name && *name && strcmp(*name, mutants_short_name(path)) != 0)
        name++;
    return (!name || *name) && (!m->options.only || strstr(path, m->options.only));
}

static inline bool
mutants_add_kernel(struct mutants *m, const char *path, const char *op)
{
    struct mutants_kernel *kernel = &m->kernels[m->kernel_count];

    if (!mutants_wants(m, path))
        return true;
    kernel->path = path;
    if (m->kernel_count == MUTANTS_KERNELS_MAX ||
        file_read(m->arena, path, 1 << 20, &kernel->source, m->diags) != STATUS_OK)
        return false;
    if (!op) {
        const char *line = strstr(kernel->source.text, "// task ");
        if (!line)
            return true;
        line += strlen("// task ");
        op = arena_strndup(m->arena, line, strcspn(line, ":;\r\n "));
        op = file_join(m->arena, file_folder_of(m->arena, path), op);
    }
    kernel->op = op;
    m->kernel_count++;
    return true;
}

/* Numbers that depend on nothing but the seed and the name: a kernel that is added to the folder
 * changes little of what is drawn from the others. */
static inline uint64_t
mutants_rank(const struct mutants *m, const char *what, const char *path)
{
    struct rng rng = rng_stream(m->options.seed,
                                arena_printf(m->arena, "%s %s", what, mutants_short_name(path)));

    return rng_next(&rng);
}

struct mutants_ranked {
    uint64_t rank;
    size_t number;
};

static inline int
mutants_by_rank(const void *a, const void *b)
{
    const struct mutants_ranked *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The numbers of the kernels, shuffled. */
static inline struct mutants_ranked *
mutants_shuffle(struct mutants *m, const char *what)
{
    struct mutants_ranked *order = arena_array(m->arena, m->kernel_count + 1, sizeof *order);

    for (size_t i = 0; i < m->kernel_count; i++)
        order[i] = (struct mutants_ranked){mutants_rank(m, what, m->kernels[i].path), i};
    qsort(order, m->kernel_count, sizeof *order, mutants_by_rank);
    return order;
}

static inline bool
mutants_load(struct mutants *m, const char *root)
{
    const char *folder = file_join(m->arena, root, "tests/honest");
    DIR *dir = opendir(folder);
    struct dirent *item;
    bool loaded = dir != NULL;

    m->kernels = arena_array(m->arena, MUTANTS_KERNELS_MAX + 1, sizeof *m->kernels);
    while (loaded && (item = readdir(dir)))
        if (text_ends(item->d_name, ".c"))
            loaded = mutants_add_kernel(m, file_join(m->arena, folder, item->d_name), NULL);
    if (dir)
        closedir(dir);
    /* its own task is forty times as large and says no more */
    loaded = loaded && mutants_add_kernel(m, file_join(m->arena, root, "examples/softmax.c"),
                                          file_join(m->arena, folder, "softmax.op"));
    struct mutants_ranked *order = mutants_shuffle(m, "kernels");
    struct mutants_kernel *all = m->kernels;
    m->kernels = arena_array(m->arena, m->kernel_count + 1, sizeof *all);
    for (size_t i = 0; i < m->kernel_count; i++)
        m->kernels[i] = all[order[i].number];
    return loaded && m->kernel_count > 0;
}

/* ---- choosing ---- */

static inline void
mutants_choose(struct mutants *m, struct mutants_kernel *kernel, const struct mutate_fault *fault)
{
    m->list[m->count++] = (struct mutants_fault){
        .kernel = kernel,
        .fault = *fault,
        .text = mutate_apply(m->arena, kernel->source.text, kernel->source.length, fault),
        .reason = "",
        .kinds = "",
        .where = ""};
    kernel->chosen++;
}

/* Round by round one fault of each kernel, until there are enough. */
static inline void
mutants_choose_class(struct mutants *m, enum mutate_class class, size_t wanted)
{
    const char *name = mutate_class_name[class];
    struct mutants_ranked *order = mutants_shuffle(m, name);
    struct mutate_fault **faults = arena_array(m->arena, m->kernel_count, sizeof *faults);
    size_t *counts = arena_array(m->arena, m->kernel_count, sizeof *counts), left = 0;

    for (size_t i = 0; i < m->kernel_count; i++) {
        const struct mutants_kernel *kernel = &m->kernels[i];
        counts[i] =
            mutate_faults(m->arena, kernel->source.text, kernel->source.length, class, &faults[i]);
        left += counts[i];
    }
    for (size_t round = 0; wanted > 0 && left > 0; round++)
        for (size_t k = 0; k < m->kernel_count && wanted > 0; k++) {
            size_t i = order[k].number;
            if (counts[i] == 0)
                continue;
            struct rng rng =
                rng_stream(m->options.seed, arena_printf(m->arena, "%s %zu %s", name, round,
                                                         mutants_short_name(m->kernels[i].path)));
            size_t at = rng_below(&rng, counts[i]);
            mutants_choose(m, &m->kernels[i], &faults[i][at]);
            faults[i][at] = faults[i][--counts[i]];
            wanted--;
            left--;
        }
}

static inline int
mutants_by_task(const void *a, const void *b)
{
    const struct mutants_fault *x = a, *y = b;
    int order = strcmp(x->kernel->op, y->kernel->op);

    if (order == 0)
        order = strcmp(x->kernel->path, y->kernel->path);
    if (order == 0)
        order = (x->fault.at > y->fault.at) - (x->fault.at < y->fault.at);
    return order ? order : strcmp(x->fault.text, y->fault.text);
}

/* Reads the kernels under `root` and chooses the mutants. */
static inline bool
mutants_open(struct mutants *m, const struct mutants_options *options, const char *root)
{
    *m = (struct mutants){.arena = arena_create(), .options = *options};
    m->diags = diags_create(m->arena, 0);
    if (!mutants_load(m, root))
        return false;
    m->list = arena_array(m->arena, options->count + 1, sizeof *m->list);
    for (unsigned class = 0; class < MUTATE_CLASS_COUNT; class ++)
        mutants_choose_class(m, (enum mutate_class) class,
                             options->count / MUTATE_CLASS_COUNT +
                                 (class < options->count % MUTATE_CLASS_COUNT));
    qsort(m->list, m->count, sizeof *m->list, mutants_by_task);
    return true;
}

/* ---- tasks ---- */

static inline void
mutants_close_kernel(struct mutants *m)
{
    for (size_t i = 0; i < 1 + MUTANTS_OTHER_SIZES; i++) {
        judge_kernel_close(m->bench[i].original);
        m->bench[i].original = NULL;
    }
    m->kernel = NULL;
}

static inline void
mutants_close_tasks(struct mutants *m)
{
    mutants_close_kernel(m);
    for (size_t i = 0; i < 1 + MUTANTS_OTHER_SIZES; i++) {
        judge_task_close(m->bench[i].task);
        m->bench[i].task = NULL;
    }
    arena_destroy(m->scratch);
    m->scratch = NULL;
    m->op = NULL;
}

/* Task number `number` of this kernel with the original built for it: 0 is the one that judges,
 * the others have other sizes. */
static inline enum status
mutants_bench(struct mutants *m, const struct mutants_kernel *kernel, size_t number)
{
    struct mutants_bench *bench = &m->bench[number];
    struct judge_setup setup = {.target = target_find("cpu"),
                                .seeded = true,
                                .seed = m->options.seed * 16 + number,
                                .no_baseline = true,
                                .effort = JUDGE_QUICK};
    struct judge_report report;
    enum status status = STATUS_OK;

    if (!bench->task) {
        setup.lang = lang_open(m->scratch, kernel->op, m->diags);
        status =
            setup.lang ? judge_task_open(m->judge, &setup, &bench->task, m->diags) : STATUS_INPUT;
    }
    if (status == STATUS_OK && !bench->original) {
        status = judge_build(bench->task, m->scratch, kernel->path, kernel->source.text,
                             kernel->source.length, &bench->original, &report, m->diags);
        if (status == STATUS_OK && bench->original)
            status = judge_check(bench->task, m->scratch, bench->original, 0, &report, m->diags);
        if (status == STATUS_OK && report.status != JUDGE_BUILT) {
            fprintf(stderr, "# %s, not mutated: %s: %s\n", kernel->path,
                    judge_status_name[report.status], report.reason);
            m->wrong_originals++;
        }
    }
    return status;
}

static inline enum status
mutants_open_kernel(struct mutants *m, const struct mutants_kernel *kernel)
{
    if (m->kernel == kernel)
        return STATUS_OK;
    mutants_close_kernel(m);
    if (!m->op || strcmp(m->op, kernel->op) != 0) {
        mutants_close_tasks(m);
        m->scratch = arena_create();
    }
    m->op = kernel->op;
    m->kernel = kernel;
    return mutants_bench(m, kernel, 0);
}

static inline bool
mutants_has_any(const struct judge_task *task)
{
    for (size_t d = 0; d < task->cases[0].program->dim_count; d++)
        if (task->cases[0].program->dims[d].any)
            return true;
    return false;
}

/* ---- the same code ---- */

/* Section number `n` of a mapped object if it is loaded; its bytes if the file has them. */
static inline const Elf64_Shdr *
mutants_section(const unsigned char *object, size_t bytes, size_t n)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)object;
    const Elf64_Shdr *section;

    if (n >= head->e_shnum || head->e_shoff + (n + 1) * sizeof *section > bytes)
        return NULL;
    section = (const Elf64_Shdr *)(object + head->e_shoff) + n;
    if (section->sh_type != SHT_NOBITS && section->sh_offset + section->sh_size > bytes)
        return NULL;
    return section;
}

/* Whether all that is loaded is equal: debug information, which knows columns, may differ. */
static inline bool
mutants_same_sections(const unsigned char *a, size_t a_bytes, const unsigned char *b,
                      size_t b_bytes)
{
    if (((const Elf64_Ehdr *)a)->e_shnum != ((const Elf64_Ehdr *)b)->e_shnum)
        return false;
    for (size_t n = 0; n < ((const Elf64_Ehdr *)a)->e_shnum; n++) {
        const Elf64_Shdr *x = mutants_section(a, a_bytes, n);
        const Elf64_Shdr *y = mutants_section(b, b_bytes, n);

        if (!x || !y || x->sh_type != y->sh_type || x->sh_flags != y->sh_flags)
            return false;
        if (!(x->sh_flags & SHF_ALLOC) || x->sh_type == SHT_NOTE)
            continue;
        if (x->sh_size != y->sh_size || x->sh_addr != y->sh_addr)
            return false;
        if (x->sh_type != SHT_NOBITS && memcmp(a + x->sh_offset, b + y->sh_offset, x->sh_size))
            return false;
    }
    return true;
}

static inline bool
mutants_same_object(const struct judge__object *a, const struct judge__object *b)
{
    unsigned char *x = mmap(NULL, a->bytes, PROT_READ, MAP_SHARED, a->fd, 0);
    unsigned char *y = mmap(NULL, b->bytes, PROT_READ, MAP_SHARED, b->fd, 0);
    bool same = x != MAP_FAILED && y != MAP_FAILED && a->bytes > sizeof(Elf64_Ehdr) &&
                b->bytes > sizeof(Elf64_Ehdr) && mutants_same_sections(x, a->bytes, y, b->bytes);

    if (x != MAP_FAILED)
        munmap(x, a->bytes);
    if (y != MAP_FAILED)
        munmap(y, b->bytes);
    return same;
}

static inline bool
mutants_same_code(const struct judge_kernel *a, const struct judge_kernel *b)
{
    for (size_t i = 0; i < a->object_count; i++)
        if (!mutants_same_object(&a->objects[i], &b->objects[i]))
            return false;
    return true;
}

/* ---- the same bits ---- */

static inline enum status
mutants_run(struct judge__case *c, const struct judge__object *object, const size_t *slots,
            size_t count, bool *done, struct diags *diags)
{
    struct judge__calls calls = {.c = c,
                                 .object = object,
                                 .slots = slots,
                                 .count = count,
                                 .threads = c->task->threads,
                                 .seconds = judge__limit(c, object, count),
                                 .random = 1};
    struct judge__ran ran;
    enum status status = judge__run(&calls, &ran, diags);

    *done = status == STATUS_OK && ran.end.ending == BOX_DONE;
    return status;
}

/* Runs both on the sets of some kinds, which are in slots 0 .. count-1. */
static inline enum status
mutants_compare_slots(struct judge__case *c, const struct judge__object *a,
                      const struct judge__object *b, size_t count, bool *same, struct diags *diags)
{
    struct arena *arena = arena_create();
    size_t outputs = c->program->output_count, *slots = arena_array(arena, count, sizeof *slots);
    char **before = arena_array(arena, count * outputs, sizeof *before);
    enum status status;

    for (size_t i = 0; i < count; i++)
        slots[i] = i;
    status = mutants_run(c, a, slots, count, same, diags);
    for (size_t i = 0; i < count * outputs; i++) {
        const struct judge__slot *slot = &c->slots[i / outputs];
        size_t t = c->program->input_count + i % outputs;
        before[i] = arena_alloc(arena, slot->regions[t].bytes);
        memcpy(before[i], judge__data(c, slot, t), slot->regions[t].bytes);
    }
    if (status == STATUS_OK && *same)
        status = mutants_run(c, b, slots, count, same, diags);
    for (size_t i = 0; i < count * outputs && *same; i++) {
        const struct judge__slot *slot = &c->slots[i / outputs];
        size_t t = c->program->input_count + i % outputs;
        *same = !memcmp(before[i], judge__data(c, slot, t), slot->regions[t].bytes);
    }
    arena_destroy(arena);
    return status;
}

/* The same inputs as judge_check() takes in its round of this number. */
static inline enum status
mutants_compare_round(struct judge__case *c, const struct judge__object *a,
                      const struct judge__object *b, unsigned round, bool *same,
                      struct diags *diags)
{
    enum status status = STATUS_OK;

    judge__place(c, AT_LEFT);
    for (size_t k = 0; k < c->kind_count && *same && status == STATUS_OK;) {
        size_t count = 0;

        for (; count < c->slot_count && k < c->kind_count; count++, k++) {
            struct judge__set set = {.kind = c->kinds[k]};
            set.seed = judge__set_seed(c->task->seed, set.kind, round);
            judge__fill(c, &c->slots[count], &set);
        }
        status = mutants_compare_slots(c, a, b, count, same, diags);
    }
    return status;
}

static inline enum status
mutants_compare_bits(struct judge_task *task, const struct judge_kernel *a,
                     const struct judge_kernel *b, unsigned rounds, bool *same, struct diags *diags)
{
    enum status status = STATUS_OK;

    *same = true;
    for (size_t i = 0; i < task->case_count; i++)
        for (unsigned round = 0; round < rounds && *same && status == STATUS_OK; round++)
            status = mutants_compare_round(&task->cases[i], &a->objects[i], &b->objects[i], round,
                                           same, diags);
    return status;
}

/* ---- sharp inputs ---- */

/*    id         what stands in each row */
#define MUTANTS_SHARPS(X)                                           \
    X(FIRST, "300 in the first column")                             \
    X(SECOND, "300 in the second column")                           \
    X(LAST, "300 in the last column")                               \
    X(LAST_BUT_ONE, "300 in the last column but one")               \
    X(DIAGONAL, "300 in column r of row r")                         \
    X(STAIRS, "row r raised by 20 r")                               \
    X(TIES, "numbers that differ by a few units in the last place") \
    X(ONE_INFINITE, "one element is infinite")                      \
    X(ONE_MINUS_INFINITE, "one element is -infinite")

enum mutants_sharp {
#define X(id, what) MUTANTS_SHARP_##id,
    MUTANTS_SHARPS(X)
#undef X
        MUTANTS_SHARP_COUNT
};

static const char *const mutants_sharp_name[MUTANTS_SHARP_COUNT] = {
#define X(id, what) what,
    MUTANTS_SHARPS(X)
#undef X
};

static inline double
mutants_sharp_value(enum mutants_sharp sharp, struct rng *rng, int64_t row, int64_t column,
                    int64_t columns, double normal)
{
    int64_t at = -1;

    switch (sharp) {
    case MUTANTS_SHARP_FIRST:
        at = 0;
        break;
    case MUTANTS_SHARP_SECOND:
        at = 1;
        break;
    case MUTANTS_SHARP_LAST:
        at = columns - 1;
        break;
    case MUTANTS_SHARP_LAST_BUT_ONE:
        at = columns - 2;
        break;
    case MUTANTS_SHARP_DIAGONAL:
        at = row % columns;
        break;
    case MUTANTS_SHARP_STAIRS:
        return normal + 20.0 * (double)(row % 64);
    case MUTANTS_SHARP_TIES:
        return 0.7 * (1 + 0x1p-22 * (double)rng_below(rng, 8));
    default:
        break;
    }
    return column == at ? 300 : normal;
}

/* The inputs in a slot made sharp: those of f32 and f64 that may have any value. */
static inline void
mutants_sharpen(const struct judge__case *c, struct judge__slot *slot, enum mutants_sharp sharp)
{
    struct rng rng = rng_stream(sharp, "sharp");
    bool infinite =
        sharp == MUTANTS_SHARP_ONE_INFINITE || sharp == MUTANTS_SHARP_ONE_MINUS_INFINITE;

    for (size_t t = 0; t < c->program->input_count; t++) {
        const struct tensor *tensor = judge__tensor(c, t);
        int64_t columns = tensor->rank ? tensor->size[tensor->rank - 1] : 1;
        void *data = judge__data(c, slot, t);

        if ((tensor->dtype != DTYPE_F32 && tensor->dtype != DTYPE_F64) ||
            tensor->domain.form != DOMAIN_NONE)
            continue;
        if (infinite) {
            dtype_set_element(tensor->dtype, data,
                              (int64_t)rng_below(&rng, (uint64_t)tensor->count),
                              sharp == MUTANTS_SHARP_ONE_INFINITE ? INFINITY : -INFINITY);
            return;
        }
        for (int64_t i = 0; i < tensor->count; i++)
            dtype_set_element(tensor->dtype, data, i,
                              mutants_sharp_value(sharp, &rng, i / columns, i % columns, columns,
                                                  dtype_element(tensor->dtype, data, i)));
    }
}

/* Whether the mutant is wrong where the original is right. */
static inline enum status
mutants_try_sharp(struct judge__case *c, struct arena *arena, const struct judge__object *original,
                  const struct judge__object *mutant, enum mutants_sharp sharp,
                  struct judge_wrong *wrong, bool *hidden, struct diags *diags)
{
    struct judge__set set = {.kind = DRAW_NORMAL,
                             .seed = judge__set_seed(c->task->seed, DRAW_NORMAL, 200 + sharp)};
    struct judge__slot *slot = &c->slots[0];
    const size_t first = 0;
    bool done = false;
    enum status status;

    judge__place(c, AT_LEFT);
    judge__fill(c, slot, &set);
    mutants_sharpen(c, slot, sharp);
    slot->filled = false;
    status = judge__expect(c, slot, &set, diags);
    for (size_t o = 0; status == STATUS_OK && o < c->program->output_count; o++)
        for (int64_t i = 0; i < set.results[o].tensor->count; i++)
            if (isnan(set.results[o].v[i]))
                goto out;
    if (status == STATUS_OK)
        status = mutants_run(c, original, &first, 1, &done, diags);
    if (status != STATUS_OK || !done || !judge__right(arena, c, slot, &set, NULL, NULL))
        goto out;
    status = mutants_run(c, mutant, &first, 1, &done, diags);
    *hidden = status == STATUS_OK && (!done || !judge__right(arena, c, slot, &set, NULL, wrong));
out:
    judge__set_drop(&set);
    return status;
}

/* ---- judging ---- */

static inline double
mutants_worst(const struct judge_report *report)
{
    double worst = 0;

    for (size_t i = 0; i < report->case_count; i++)
        worst = fmax(worst, report->cases[i].worst);
    return worst;
}

static inline void
mutants_note(struct mutants *m, struct mutants_fault *mutant, const struct judge_report *report)
{
    mutant->reason =
        arena_printf(m->arena, "%s: %s", judge_status_name[report->status], report->reason);
    if (!report->wrong.tensor)
        return;
    mutant->kinds = arena_strdup(m->arena, report->wrong.kinds ? report->wrong.kinds : "");
    mutant->where = arena_printf(m->arena, "%s is %.9g and not %.9g +- %.2g", report->wrong.element,
                                 report->wrong.got, report->wrong.expected, report->wrong.allowed);
}

/* As many as were asked for, fewer where the reference is slow. */
static inline unsigned
mutants_rounds(const struct mutants *m, const struct judge_task *task)
{
    double seconds = 0;
    unsigned rounds = m->options.rounds;

    for (size_t i = 0; i < task->case_count; i++)
        seconds += (double)task->cases[i].kind_count * task->cases[i].reference_seconds;
    while (rounds > 3 && rounds * seconds > 5)
        rounds--;
    return rounds;
}

/* A mutant that was found correct, on many more inputs. */
static inline enum status
mutants_look_closer(struct mutants *m, struct arena *arena, size_t number,
                    struct judge_kernel *kernel, struct mutants_fault *mutant)
{
    const struct mutants_bench *bench = &m->bench[number];
    struct judge_report report;
    struct judge_kernel *again = NULL;
    unsigned rounds = mutants_rounds(m, bench->task);
    bool same = false;
    enum status status =
        mutants_compare_bits(bench->task, bench->original, kernel, rounds, &same, m->diags);

    if (status != STATUS_OK || same)
        return status;
    mutant->fate = MUTANTS_IN_TOLERANCE;
    status = judge_build(bench->task, arena, mutant->kernel->path, mutant->text,
                         strlen(mutant->text), &again, &report, m->diags);
    if (status == STATUS_OK && again)
        status = judge_check(bench->task, arena, again, rounds, &report, m->diags);
    if (status == STATUS_OK)
        mutant->worst_later = fmax(mutant->worst_later, mutants_worst(&report));
    if (status == STATUS_OK && report.status != JUDGE_BUILT) {
        mutant->fate = MUTANTS_MISSED;
        mutants_note(m, mutant, &report);
    }
    judge_kernel_close(again);
    return status;
}

/* At sizes that the judge did not draw. */
static inline enum status
mutants_try_other_sizes(struct mutants *m, struct arena *arena, struct mutants_fault *mutant)
{
    enum status status = STATUS_OK;

    for (size_t i = 1; i <= MUTANTS_OTHER_SIZES && status == STATUS_OK; i++) {
        struct judge_kernel *kernel = NULL;
        struct judge_report report;

        if (mutant->fate == MUTANTS_MISSED)
            break;
        status = mutants_bench(m, mutant->kernel, i);
        if (status == STATUS_OK)
            status = judge_build(m->bench[i].task, arena, mutant->kernel->path, mutant->text,
                                 strlen(mutant->text), &kernel, &report, m->diags);
        if (status == STATUS_OK && !kernel) {
            mutant->fate = MUTANTS_MISSED;
            mutants_note(m, mutant, &report);
        }
        if (status == STATUS_OK && kernel && !mutants_same_code(m->bench[i].original, kernel))
            status = mutants_look_closer(m, arena, i, kernel, mutant);
        judge_kernel_close(kernel);
    }
    return status;
}

static inline enum status
mutants_look_sharply(struct mutants *m, struct arena *arena, struct judge_kernel *kernel,
                     struct mutants_fault *mutant)
{
    struct judge_task *task = m->bench[0].task;
    enum status status = STATUS_OK;
    bool hidden = false;

    for (size_t i = 0; i < task->case_count; i++)
        for (unsigned sharp = 0; sharp < MUTANTS_SHARP_COUNT && status == STATUS_OK; sharp++) {
            struct judge_wrong wrong = {.element = "", .expected = 0};

            status = mutants_try_sharp(&task->cases[i], arena, &m->bench[0].original->objects[i],
                                       &kernel->objects[i], (enum mutants_sharp)sharp, &wrong,
                                       &hidden, m->diags);
            if (status != STATUS_OK || !hidden)
                continue;
            mutant->fate = MUTANTS_HIDDEN;
            mutant->kinds = mutants_sharp_name[sharp];
            mutant->where = arena_printf(m->arena, "case %s, %s is %.9g and not %.9g +- %.2g",
                                         task->cases[i].program->case_name, wrong.element,
                                         wrong.got, wrong.expected, wrong.allowed);
            return status;
        }
    return status;
}

static inline enum status
mutants_explain(struct mutants *m, struct arena *arena, struct judge_kernel *kernel,
                struct mutants_fault *mutant)
{
    bool any = mutants_has_any(m->bench[0].task);
    enum status status = STATUS_OK;

    mutant->fate = MUTANTS_SAME_BITS;
    if (mutants_same_code(m->bench[0].original, kernel))
        mutant->fate = MUTANTS_SAME_CODE;
    else
        status = mutants_look_closer(m, arena, 0, kernel, mutant);
    if (status == STATUS_OK && any && mutant->fate != MUTANTS_SAME_CODE)
        status = mutants_try_other_sizes(m, arena, mutant);
    if (status == STATUS_OK && mutant->fate != MUTANTS_MISSED && mutant->fate != MUTANTS_SAME_CODE)
        status = mutants_look_sharply(m, arena, kernel, mutant);
    return status;
}

/* The verdict, and what it is worth. */
static inline enum status
mutants_judge(struct mutants *m, struct mutants_fault *mutant)
{
    struct arena *arena = arena_create();
    struct judge_kernel *kernel = NULL;
    struct judge_report report = {0};
    enum status status = STATUS_OK;

    if (!m->judge)
        status = judge_open(NULL, &m->judge, m->diags);
    if (status == STATUS_OK)
        status = mutants_open_kernel(m, mutant->kernel);
    if (status == STATUS_OK)
        status = judge_build(m->bench[0].task, arena, mutant->kernel->path, mutant->text,
                             strlen(mutant->text), &kernel, &report, m->diags);
    if (status == STATUS_OK && kernel)
        status = judge_check(m->bench[0].task, arena, kernel, 0, &report, m->diags);
    if (status == STATUS_OK && report.status == JUDGE_BUILT && m->options.measure)
        status = judge_measure(m->bench[0].task, arena, kernel, NULL, 0, &report, m->diags);
    mutant->status = report.status;
    mutant->worst = mutant->worst_later = status == STATUS_OK ? mutants_worst(&report) : 0;
    if (status == STATUS_OK && (report.status == JUDGE_BUILT || report.status == JUDGE_CORRECT))
        status = mutants_explain(m, arena, kernel, mutant);
    else
        mutants_note(m, mutant, &report);
    judge_kernel_close(kernel);
    arena_destroy(arena);
    return status;
}

static inline void
mutants_close(struct mutants *m)
{
    mutants_close_tasks(m);
    judge_close(m->judge);
    arena_destroy(m->arena);
}

/* ---- the table ---- */

struct mutants_tally {
    size_t all, fates[MUTANTS_FATE_COUNT], unbuilt;
};

static inline void
mutants_count(const struct mutants *m, struct mutants_tally *tallies)
{
    memset(tallies, 0, (MUTATE_CLASS_COUNT + 1) * sizeof *tallies);
    for (size_t i = 0; i < m->count; i++)
        for (unsigned row = 0; row <= MUTATE_CLASS_COUNT; row++) {
            const struct mutants_fault *mutant = &m->list[i];

            if (row < MUTATE_CLASS_COUNT && row != mutant->fault.class)
                continue;
            tallies[row].all++;
            tallies[row].fates[mutant->fate]++;
            tallies[row].unbuilt +=
                mutant->fate == MUTANTS_CAUGHT &&
                (mutant->status == JUDGE_BUILD_FAILED || mutant->status == JUDGE_REJECTED);
        }
}

/* Caught, of those that are not equivalent. */
static inline double
mutants_share(const struct mutants_tally *tally)
{
    size_t faulty = tally->fates[MUTANTS_CAUGHT] + tally->fates[MUTANTS_MISSED];

    return faulty ? (double)tally->fates[MUTANTS_CAUGHT] / (double)faulty : 1;
}

static inline const char *
mutants_line(struct arena *arena, const char *text, uint32_t line)
{
    while (line > 1 && *text)
        line -= *text++ == '\n';
    return text_trim(arena_strndup(arena, text, strcspn(text, "\n")));
}

static inline void
mutants_print(const struct mutants *m, const struct mutants_fault *mutant, FILE *stream)
{
    const struct mutate_fault *fault = &mutant->fault;

    fprintf(stream, "%s: %s:%u, %s\n    was  %s\n    is   %s\n", mutants_fate_name[mutant->fate],
            mutants_short_name(mutant->kernel->path), (unsigned)fault->line,
            mutate_class_name[fault->class],
            mutants_line(m->arena, mutant->kernel->source.text, fault->line),
            mutants_line(m->arena, mutant->text, fault->line));
    fprintf(stream, "    %.1f s; worst %.3g when judged, %.3g in all; judged %s; %s  %s  %s\n",
            mutant->seconds, mutant->worst, mutant->worst_later, judge_status_name[mutant->status],
            mutant->reason, mutant->where, mutant->kinds);
}

static inline void
mutants_print_table(const struct mutants *m, FILE *stream)
{
    struct mutants_tally tallies[MUTATE_CLASS_COUNT + 1];

    mutants_count(m, tallies);
    fprintf(stream, "%-10s %8s %8s %9s %11s   %-31s %7s %7s %8s\n", "class", "mutants", "caught",
            "(unbuilt)", "equivalent", "(same code, same bits, within)", "hidden", "missed",
            "share");
    for (unsigned row = 0; row <= MUTATE_CLASS_COUNT; row++) {
        const struct mutants_tally *tally = &tallies[row];
        const size_t *fates = tally->fates;

        fprintf(stream, "%-10s %8zu %8zu %9zu %11zu   %9zu %9zu %11zu %7zu %7zu %6.2f %%\n",
                row < MUTATE_CLASS_COUNT ? mutate_class_name[row] : "all", tally->all,
                fates[MUTANTS_CAUGHT], tally->unbuilt,
                fates[MUTANTS_SAME_CODE] + fates[MUTANTS_SAME_BITS] + fates[MUTANTS_IN_TOLERANCE],
                fates[MUTANTS_SAME_CODE], fates[MUTANTS_SAME_BITS], fates[MUTANTS_IN_TOLERANCE],
                fates[MUTANTS_HIDDEN], fates[MUTANTS_MISSED], 100 * mutants_share(tally));
    }
}

#endif
