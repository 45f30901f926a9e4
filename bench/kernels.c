/* Kernels that `hone optimize` finds, beside libraries: kernels [option ...] [TASK ...]
 *
 * For each task of bench/kernels and each number of threads: optimise (kept in a folder, so a
 * second run only measures), build, measure in a process of its own, print a row for each rival.
 * The process is told the number of threads by its environment before any library is loaded, and a
 * crash in one of them ends one measurement. doc/benchmarks.md explains the columns. */
#include "compare/compare.h"

#include "base/file.h"
#include "base/proc.h"
#include "base/text.h"
#include "bridge/bridge.h"
#include "target/target.h"
#include "task/task.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TASKS "bench/kernels"
#define TORCH_SCRIPT "bridge/bench_torch.py"

static const char usage[] = "usage: kernels [option ...] [TASK ...]\n"
                            "  TASK             names of bench/kernels/*.op; none: a short list\n"
                            "  --all            every task\n"
                            "  --list           names them\n"
                            "  --evals N        evaluations of the search (40)\n"
                            "  --threads A[,B]  (1 and all processors)\n"
                            "  --folder DIR     where kernels are kept (build/kernels)\n"
                            "  --fresh          search again where a kernel is kept\n"
                            "  --search-only    do not measure\n"
                            "  --no-torch       without PyTorch\n"
                            "  --rounds N       at least so many rounds (15)\n"
                            "  --seconds S      at least so much measured time each (0.5)\n";

/* What `make bench` takes: one of each kind, small enough for a few minutes each. */
static const char *const short_list[] = {
    "sgemm_512", "conv_3x3_56", "pool_max", "softmax_1024x4096",      "norm_layer",
    "bias_gelu", "sum_dim1",    "cumsum",   "causal_attention_8x512", "linear_bias_gelu",
    NULL,
};

struct family {
    char name[32]; /* what stands before the first _ of a task's name */
    int threads;
    size_t count;
    double log_sum, lowest;
};

struct bench {
    struct arena *arena;
    const char *self, *hone, *folder, *python, *evals, *rounds, *seconds;
    bool all, list, fresh, search_only, torch;
    int threads[8];
    size_t thread_count;
    const char **tasks;
    size_t task_count;
    FILE *rows;                 /* every row as a JSON line */
    struct family families[64]; /* how hone stands against the best rival of each task */
    size_t family_count, failures;
};

struct found { /* what the search says of a task */
    const char *kernel, *object;
    double light_us, naive;
};

/* ---- processes ---- */

/* Standard output, or NULL and what went wrong in *why. */
static char *
run(struct bench *b, const char *const *argv, const char **why)
{
    struct proc_request request = {.argv = argv};
    struct proc_result result;
    char *line;

    if (proc_run(b->arena, &request, &result) != STATUS_OK) {
        *why = result.err;
        return NULL;
    }
    if (result.exit_code == 0)
        return result.out;
    line = result.err_length ? result.err : result.out;
    line = text_trim(line);
    *why = arena_printf(b->arena, "%s %s: %s %d: %.600s", argv[0], argv[1],
                        result.signal ? "ended by signal" : "exit code",
                        result.signal ? result.signal : result.exit_code, line);
    return NULL;
}

/* ---- the kernel ---- */

static bool
is_newer(const char *path, const char *than)
{
    struct stat a, b;

    return stat(path, &a) == 0 && stat(than, &b) == 0 && a.st_mtime >= b.st_mtime;
}

/* The search has an archive of its own, empty: what other runs found must not help it. */
static bool
optimise(struct bench *b, const char *op, const char *base, int threads, const char **why)
{
    const char *kernel = arena_printf(b->arena, "%s.c", base);
    const char *result = arena_printf(b->arena, "%s.json", base);
    const char *const argv[] = {b->hone,
                                "optimize",
                                op,
                                "--evals",
                                b->evals,
                                "--threads",
                                arena_printf(b->arena, "%d", threads),
                                "-q",
                                "-o",
                                kernel,
                                "--json",
                                NULL};
    struct diags *diags = diags_create(b->arena, 0);
    const char *archive = arena_printf(b->arena, "%s.archive", base);
    const char *const clear[] = {"rm", "-rf", archive, NULL};
    char *out;

    if (!b->fresh && is_newer(kernel, op) && is_newer(result, kernel))
        return true;
    run(b, clear, why);
    setenv("XDG_DATA_HOME", archive, 1);
    unsetenv("OMP_NUM_THREADS");
    out = run(b, argv, why);
    return out && file_write(result, out, strlen(out), diags) == STATUS_OK;
}

/* The kernel behind one entry that takes an array, whatever the number of its arguments. */
static bool
build(struct bench *b, const struct program *program, const char *base, const char **why)
{
    const struct target *cpu = target_find("cpu");
    struct target_kernel plain = {0};
    const char *const *arguments = target_arguments(b->arena, cpu, &plain, NULL);
    const char *source = arena_printf(b->arena, "%s.call.c", base), *argv[64];
    struct diags *diags = diags_create(b->arena, 0);
    struct buf text = buf_in(b->arena);
    size_t count = 0;

    buf_printf(&text, "#include \"%s.c\"\nvoid hone_call(void *const *p);\n", base);
    buf_puts(&text, "void\nhone_call(void *const *p)\n{\n    kernel(");
    for (size_t i = 0; i < program->input_count + program->output_count; i++)
        buf_printf(&text, "%sp[%zu]", i ? ", " : "", i);
    buf_puts(&text, ");\n}\n");
    if (file_write(source, text.data, text.length, diags) != STATUS_OK)
        return false;
    argv[count++] = cpu->compiler;
    for (size_t i = 0; arguments[i]; i++)
        argv[count++] = arguments[i];
    argv[count++] = source;
    argv[count++] = "-o";
    argv[count++] = arena_printf(b->arena, "%s.so", base);
    for (size_t i = 0; cpu->linking[i]; i++)
        argv[count++] = cpu->linking[i];
    argv[count] = NULL;
    return run(b, argv, why) != NULL;
}

static bool
read_found(struct bench *b, const char *base, struct found *found, const char **why)
{
    json_error_t error;
    json_t *root = json_load_file(arena_printf(b->arena, "%s.json", base), 0, &error), *best;

    best = json_object_get(root, "best");
    *found = (struct found){
        .kernel = arena_printf(b->arena, "%s.c", base),
        .object = arena_printf(b->arena, "%s.so", base),
        .light_us = json_number_value(json_object_get(best, "light")) *
                    json_number_value(json_object_get(best, "time_us")),
        .naive = json_number_value(json_object_get(json_object_get(best, "speedups"), "naive"))};
    *why = "the search gave no result that can be read";
    json_decref(root);
    return found->light_us > 0;
}

/* ---- rows ---- */

struct row {
    const char *library, *note, *failed;
    double us, hone_us, ratio, low, high;
};

static int
by_ratio(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

/* JSON lines to rows; other lines are dropped. */
static size_t
read_rows(struct bench *b, char *text, struct row *rows, size_t most)
{
    size_t count = 0;
    char *line;

    while (text && count < most && (line = strsep(&text, "\n"))) {
        json_t *object = *line == '{' ? json_loads(line, 0, NULL) : NULL;
        const char *failed = json_string_value(json_object_get(object, "failed"));
        const char *note = json_string_value(json_object_get(object, "note"));
        const char *library = json_string_value(json_object_get(object, "library"));
        if (library)
            rows[count++] = (struct row){
                .library = arena_strdup(b->arena, library),
                .note = note ? arena_strdup(b->arena, note) : "",
                .failed = failed ? arena_strdup(b->arena, failed) : NULL,
                .us = json_number_value(json_object_get(object, "us")),
                .hone_us = json_number_value(json_object_get(object, "hone_us")),
                .ratio = failed ? INFINITY : json_number_value(json_object_get(object, "ratio")),
                .low = json_number_value(json_object_get(object, "low")),
                .high = json_number_value(json_object_get(object, "high"))};
        json_decref(object);
    }
    return count;
}

static void
print_header(void)
{
    printf("%-24s %2s %11s %6s %7s  %-22s %11s %6s  %s\n", "task", "t", "hone us", "light", "naive",
           "library", "us", "ratio", "95 %");
    fflush(stdout);
}

static void
keep_row(struct bench *b, const char *task, int threads, const struct found *found,
         const struct row *row)
{
    if (!b->rows)
        return;
    json_t *line =
        json_pack("{s:s,s:i,s:s,s:s,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "task", task, "threads", threads,
                  "library", row->library, "note", row->note, "hone_us", row->hone_us, "us",
                  row->us, "ratio", row->failed ? 0 : row->ratio, "low", row->low, "high",
                  row->high, "light", found->light_us / row->hone_us, "naive", found->naive);
    if (line && !row->failed) {
        json_dumpf(line, b->rows, JSON_COMPACT);
        fputc('\n', b->rows);
        fflush(b->rows);
    }
    json_decref(line);
}

static void
count_best(struct bench *b, const char *task, int threads, double ratio)
{
    struct family *f = b->families, *end = b->families + b->family_count;
    int length = (int)strcspn(task, "_");

    while (f < end && (f->threads != threads || strncmp(f->name, task, (size_t)length) != 0 ||
                       f->name[length]))
        f++;
    if (f == end) {
        if (b->family_count == sizeof b->families / sizeof *b->families)
            return;
        b->family_count++;
        *f = (struct family){.threads = threads, .lowest = INFINITY};
        snprintf(f->name, sizeof f->name, "%.*s", length, task);
    }
    f->count++;
    f->log_sum += log(ratio);
    f->lowest = ratio < f->lowest ? ratio : f->lowest;
}

static void
print_families(const struct bench *b)
{
    if (b->family_count)
        printf("\n%-24s %2s %6s %7s %7s   ratio to the best rival\n", "family", "t", "tasks",
               "mean", "lowest");
    for (size_t i = 0; i < b->family_count; i++) {
        const struct family *f = &b->families[i];
        printf("%-24s %2d %6zu %7.2f %7.2f\n", f->name, f->threads, f->count,
               exp(f->log_sum / (double)f->count), f->lowest);
    }
}

/* The rival to beat comes first. */
static void
print_rows(struct bench *b, const char *task, int threads, const struct found *found,
           struct row *rows, size_t count)
{
    qsort(rows, count, sizeof *rows, by_ratio);
    if (count && *rows[0].library && !rows[0].failed)
        count_best(b, task, threads, rows[0].ratio);
    for (size_t i = 0; i < count; i++) {
        const struct row *r = &rows[i];
        keep_row(b, task, threads, found, r);
        printf("%-24s %2d ", i ? "" : task, threads);
        if (r->failed) {
            printf("%11s %6s %7s  %-22s %s\n", "", "", "", r->library, r->failed);
            continue;
        }
        printf("%11.1f %6.2f ", r->hone_us, found->light_us / r->hone_us);
        printf("%7s", i ? "" : arena_printf(b->arena, "%.1f", found->naive));
        if (*r->library)
            printf("  %-22s %11.1f %6.2f  [%.2f, %.2f]%s%s", r->library, r->us, r->ratio, r->low,
                   r->high, *r->note ? "  " : "", r->note);
        putchar('\n');
    }
    fflush(stdout);
}

static void
print_failure(struct bench *b, const char *task, int threads, const char *what, const char *why)
{
    printf("%-24s %2d  %s: %s\n", task, threads, what, why);
    fflush(stdout);
    b->failures++;
}

/* ---- PyTorch ---- */

static const char *
find_python(struct bench *b)
{
    return bridge_is_there(b->arena, NULL)
               ? arena_printf(b->arena, "%s/bin/python3", bridge_environment(b->arena))
               : NULL;
}

static json_t *
describe_tensor(const struct tensor *tensor, const char *file)
{
    json_t *shape = json_array();

    for (unsigned i = 0; i < tensor->rank; i++)
        json_array_append_new(shape, json_integer(tensor->size[i]));
    return json_pack("{s:s,s:s,s:o,s:s}", "name", tensor->name, "dtype",
                     dtype_info[tensor->dtype].name, "shape", shape, "file", file);
}

/* What the script needs: the same inputs as files, the object, how long to measure. */
static bool
write_request(struct bench *b, const char *task, const struct program *program,
              const struct found *found, int threads, const char *path)
{
    void **inputs = task_draw_all(b->arena, program, DRAW_NORMAL, 1);
    struct diags *diags = diags_create(b->arena, 0);
    json_t *in = json_array(), *out = json_array(), *request;
    bool ok = true;

    for (size_t i = 0; i < program->input_count; i++) {
        const struct tensor *tensor = program->tensors[i];
        const char *file = arena_printf(b->arena, "%s.%zu", path, i);
        size_t bytes = (size_t)tensor->count * dtype_info[tensor->dtype].size;
        ok = ok && file_write(file, inputs[i], bytes, diags) == STATUS_OK;
        json_array_append_new(in, describe_tensor(tensor, file));
    }
    for (size_t o = 0; o < program->output_count; o++)
        json_array_append_new(out, describe_tensor(program->outputs[o], ""));
    request = json_pack("{s:s,s:s,s:i,s:i,s:f,s:o,s:o}", "task", task, "object", found->object,
                        "threads", threads, "rounds", atoi(b->rounds), "seconds", atof(b->seconds),
                        "inputs", in, "outputs", out);
    ok = ok && json_dump_file(request, path, 0) == 0;
    json_decref(request);
    return ok;
}

static void
remove_request(struct bench *b, const struct program *program, const char *path)
{
    for (size_t i = 0; i < program->input_count; i++)
        unlink(arena_printf(b->arena, "%s.%zu", path, i));
    unlink(path);
}

/* glibc is told to keep its memory: a fresh page for every result would be most of the time, and
 * not PyTorch's fault. */
static size_t
measure_torch(struct bench *b, const char *task, const struct program *program,
              const struct found *found, int threads, struct row *rows, size_t most)
{
    const char *path = arena_printf(b->arena, "%s/torch.request", b->folder), *why = "";
    const char *const argv[] = {b->python, TORCH_SCRIPT, path, NULL};
    size_t count = 0;
    char *out = NULL;

    setenv("MALLOC_MMAP_THRESHOLD_", "8589934592", 1);
    setenv("MALLOC_TRIM_THRESHOLD_", "17179869184", 1);
    setenv("MALLOC_TOP_PAD_", "1073741824", 1);
    setenv("TORCHINDUCTOR_COMPILE_THREADS", "1", 0);
    setenv("TORCHINDUCTOR_CACHE_DIR", arena_printf(b->arena, "%s/inductor", b->folder), 0);
    if (write_request(b, task, program, found, threads, path))
        out = run(b, argv, &why);
    remove_request(b, program, path);
    unsetenv("MALLOC_MMAP_THRESHOLD_");
    unsetenv("MALLOC_TRIM_THRESHOLD_");
    unsetenv("MALLOC_TOP_PAD_");
    if (out)
        count = read_rows(b, out, rows, most);
    else if (most)
        rows[count++] =
            (struct row){.library = "PyTorch", .note = "", .failed = why, .ratio = INFINITY};
    return count;
}

/* ---- the flow ---- */

static void
measure(struct bench *b, const char *task, const char *op, const struct program *program,
        const struct found *found, int threads)
{
    const char *const argv[] = {
        b->self,   "--worker", op,  found->object, arena_printf(b->arena, "%d", threads),
        b->rounds, b->seconds, NULL};
    struct row rows[16];
    size_t count;
    const char *why = "";

    library_environment(b->arena, (unsigned)threads);
    char *out = run(b, argv, &why);
    if (!out) {
        print_failure(b, task, threads, "measuring", why);
        return;
    }
    count = read_rows(b, out, rows, 8);
    if (b->python && b->torch) {
        if (count == 1 && !*rows[0].library)
            count = 0; /* nobody else was there */
        count += measure_torch(b, task, program, found, threads, rows + count, 8);
    }
    print_rows(b, task, threads, found, rows, count);
}

static void
bench_task(struct bench *b, const char *task, int threads)
{
    const char *op = arena_printf(b->arena, TASKS "/%s.op", task), *why = "?";
    const char *base = arena_printf(b->arena, "%s/%s.t%d.e%s", b->folder, task, threads, b->evals);
    const struct program *program = compare_program(b->arena, op);
    struct found found;

    if (!program)
        print_failure(b, task, threads, "task", "cannot be read");
    else if (!optimise(b, op, base, threads, &why) || !read_found(b, base, &found, &why))
        print_failure(b, task, threads, "search", why);
    else if (!build(b, program, base, &why))
        print_failure(b, task, threads, "build", why);
    else if (!b->search_only)
        measure(b, task, op, program, &found, threads);
    else
        printf("%-24s %2d  light %.1f us, naive %.1f\n", task, threads, found.light_us,
               found.naive);
    fflush(stdout);
}

/* In an arena of its own: inputs are large. */
static void
bench_alone(struct bench *b, const char *task, int threads)
{
    struct arena *outer = b->arena;

    b->arena = arena_create();
    bench_task(b, task, threads);
    arena_destroy(b->arena);
    b->arena = outer;
}

static int
is_task(const struct dirent *entry)
{
    return text_ends(entry->d_name, ".op");
}

static void
take_all(struct bench *b)
{
    struct dirent **entries;
    int count = scandir(TASKS, &entries, is_task, alphasort);

    b->tasks = arena_array(b->arena, count > 0 ? (size_t)count : 1, sizeof *b->tasks);
    for (int i = 0; i < count; i++) {
        b->tasks[b->task_count++] = compare_name(b->arena, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void
say_missing(const struct bench *b)
{
    for (const struct library_info *one = library_table; one->name; one++)
        if (!library_load(one->files))
            printf("%s is not there: apt-get install %s\n", one->title, one->package);
    if (b->torch && !b->python)
        puts("PyTorch is not there: ./run setup-torch");
}

/* ---- the command line ---- */

static void
read_threads(struct bench *b, const char *text)
{
    char *copy = arena_strdup(b->arena, text), *word;

    b->thread_count = 0;
    while ((word = strsep(&copy, ",")) && b->thread_count < 8)
        if (atoi(word) > 0)
            b->threads[b->thread_count++] = atoi(word);
}

static bool
read_options(struct bench *b, int argc, char **argv)
{
    const struct {
        const char *name;
        bool *flag;
        const char **value;
    } options[] = {
        {"--all", &b->all, NULL},       {"--list", &b->list, NULL},
        {"--fresh", &b->fresh, NULL},   {"--search-only", &b->search_only, NULL},
        {"--evals", NULL, &b->evals},   {"--folder", NULL, &b->folder},
        {"--rounds", NULL, &b->rounds}, {"--seconds", NULL, &b->seconds},
    };

    b->tasks = arena_array(b->arena, (size_t)argc + 16, sizeof *b->tasks);
    for (int i = 1; i < argc; i++) {
        size_t o = 0, count = sizeof options / sizeof *options;
        while (o < count && strcmp(argv[i], options[o].name) != 0)
            o++;
        if (o < count && options[o].flag)
            *options[o].flag = true;
        else if (o < count && i + 1 < argc)
            *options[o].value = argv[++i];
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            read_threads(b, argv[++i]);
        else if (strcmp(argv[i], "--no-torch") == 0)
            b->torch = false;
        else if (*argv[i] == '-')
            return false;
        else
            b->tasks[b->task_count++] = compare_name(b->arena, argv[i]);
    }
    return b->thread_count > 0;
}

static void
choose_tasks(struct bench *b)
{
    if (b->all || b->list)
        take_all(b);
    else if (b->task_count == 0)
        while (short_list[b->task_count]) {
            b->tasks[b->task_count] = short_list[b->task_count];
            b->task_count++;
        }
}

static int
worker(char **argv)
{
    struct worker_request request = {.op = argv[2],
                                     .object = argv[3],
                                     .threads = atoi(argv[4]),
                                     .rounds = (size_t)atoi(argv[5]),
                                     .seconds = atof(argv[6])};

    return compare_worker(&request);
}

static int
processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static void
run_all(struct bench *b)
{
    say_missing(b);
    if (!b->search_only)
        print_header();
    for (size_t t = 0; t < b->task_count; t++)
        for (size_t i = 0; i < b->thread_count; i++)
            bench_alone(b, b->tasks[t], b->threads[i]);
    print_families(b);
    if (b->failures)
        printf("%zu failed\n", b->failures);
}

int
main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    struct bench b = {.arena = arena,
                      .self = "/proc/self/exe",
                      .hone = getenv("HONE") ? getenv("HONE") : "build/release/hone",
                      .folder = "build/kernels",
                      .evals = "40",
                      .rounds = "15",
                      .seconds = "0.5",
                      .torch = true,
                      .threads = {1, processors()},
                      .thread_count = processors() > 1 ? 2 : 1};
    char path[4096];

    if (argc == 7 && strcmp(argv[1], "--worker") == 0)
        return worker(argv);
    if (!read_options(&b, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    /* all buffers on huge pages, as the judge's are, and those of the speed of light */
    setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1);
    choose_tasks(&b);
    for (size_t t = 0; b.list && t < b.task_count; t++)
        puts(b.tasks[t]);
    if (b.list)
        return 0;
    if (file_make_folder(b.folder, diags) != STATUS_OK || !realpath(b.folder, path)) {
        diags_print(diags, stderr, false);
        return 3;
    }
    b.folder = arena_strdup(arena, path);
    b.self = realpath("/proc/self/exe", path) ? arena_strdup(arena, path) : argv[0];
    b.python = find_python(&b);
    b.rows = fopen(arena_printf(arena, "%s/rows.jsonl", b.folder), "w");
    run_all(&b);
    if (b.rows)
        fclose(b.rows);
    arena_destroy(arena);
    return 0;
}
