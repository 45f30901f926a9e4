/* What the judge costs and how well it tells: printed, never asserted.
 *
 *   latency    verdicts on softmax 64x1024: compiled, with <immintrin.h>, from the cache
 *   runs       jailed runs of a tiny kernel in a second, on one core
 *   overhead   a call of nothing, and a spin of 100 us, on one core and on all
 *   told       identical kernels called different; planted differences of 2 % found
 *
 * usage: judge [latency|runs|overhead|told]... [ROUNDS] */
#include "base/clock.h"
#include "base/text.h"
#include "judge/judge_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char softmax_op[] = "op softmax\n"
                                 "dim R=64, N=1024\n"
                                 "in X: f32[R,N]\n"
                                 "M[r] = max[j](X[r,j])\n"
                                 "E[r,j] = exp(X[r,j] - M[r])\n"
                                 "Y[r,j] = E[r,j] / sum[k](E[r,k])\n"
                                 "out Y\n";

static const char softmax_c[] = "void kernel(const float *restrict X, float *restrict Y)\n"
                                "{\n"
                                "#pragma omp parallel for\n"
                                "    for (int r = 0; r < R; r++) {\n"
                                "        float most = X[r * N], sum = 0;\n"
                                "        for (int j = 1; j < N; j++)\n"
                                "            most = fmaxf(most, X[r * N + j]);\n"
                                "        for (int j = 0; j < N; j++)\n"
                                "            sum += Y[r * N + j] = expf(X[r * N + j] - most);\n"
                                "        for (int j = 0; j < N; j++)\n"
                                "            Y[r * N + j] /= sum;\n"
                                "    }\n"
                                "}\n";

/* Work that takes as long as it is told, and is right: W steps of a recurrence for each element. */
static const char spin_op[] = "op twice\n"
                              "dim N=2048\n"
                              "in X: f32[N]\n"
                              "Y[i] = X[i] + X[i]\n"
                              "out Y\n";

static const char spin_c[] = "void kernel(const float *restrict X, float *restrict Y)\n"
                             "{\n"
                             "#pragma omp parallel for schedule(static)\n"
                             "    for (int t = 0; t < T; t++) {\n"
                             "        double x = 1;\n"
                             "        for (long i = 0; i < W; i++)\n"
                             "            __asm__ volatile(\"addsd %0, %0\" : \"+x\"(x));\n"
                             "        for (int i = t * (N / T); i < (t + 1) * (N / T); i++)\n"
                             "            Y[i] = X[i] + X[i];\n"
                             "    }\n"
                             "}\n";

static const char stream_op[] = "op add\n"
                                "dim N=4194304\n"
                                "in A, B: f32[N]\n"
                                "Y[i] = A[i] + B[i]\n"
                                "out Y\n";

/* P of a hundred blocks are written twice. */
static const char stream_c[] =
    "void kernel(const float *restrict A, const float *restrict B, float *restrict Y)\n"
    "{\n"
    "#pragma omp parallel for schedule(static)\n"
    "    for (int b = 0; b < 128; b++)\n"
    "        for (int again = 0; again <= (b % 50 < P); again++)\n"
    "            for (int i = b * (N / 128); i < (b + 1) * (N / 128); i++)\n"
    "                Y[i] = A[i] + B[i];\n"
    "}\n";

struct bench {
    struct arena *arena;
    struct diags *diags;
    struct judge *judge;
};

static int
by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
quantile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof *values, by_size);
    return values[(size_t)(part * (double)(count - 1))];
}

static void
must(struct bench *bench, enum status status)
{
    if (status == STATUS_OK)
        return;
    diags_print(bench->diags, stderr, false);
    exit(3);
}

static struct judge_task *
open_task(struct bench *bench, const char *text, unsigned threads)
{
    struct judge_setup setup = {
        .target = target_find("cpu"), .threads = threads, .effort = JUDGE_QUICK};
    struct judge_task *task;

    setup.lang = lang_parse(bench->arena, "bench.op", text, strlen(text), bench->diags);
    must(bench, setup.lang ? STATUS_OK : STATUS_INPUT);
    must(bench, judge_task_open(bench->judge, &setup, &task, bench->diags));
    return task;
}

static struct judge_kernel *
build(struct bench *bench, struct judge_task *task, const char *text)
{
    struct judge_report report;
    struct judge_kernel *kernel;

    must(bench, judge_build(task, bench->arena, "bench.c", text, strlen(text), &kernel, &report,
                            bench->diags));
    if (!kernel) {
        fprintf(stderr, "%s: %s\n%s\n", judge_status_name[report.status], report.reason,
                report.details);
        exit(1);
    }
    return kernel;
}

/* ---- latency ---- */

enum verdict_form { PLAIN, INTRINSICS, CACHED };

static double
one_verdict(struct bench *bench, struct judge_task *task, enum verdict_form form, size_t number)
{
    struct arena *arena = arena_create();
    struct judge_report report;
    struct buf text = buf_in(arena);
    double start;

    buf_puts(&text, form == INTRINSICS ? "#include <immintrin.h>\n" : "");
    buf_printf(&text, "/* %zu %ld */\n%s", form == CACHED ? 0 : number,
               form == CACHED ? 0 : time(NULL), softmax_c);
    start = clock_seconds();
    must(bench, judge_verdict(task, arena, "bench.c", text.data, text.length, NULL, 0, NULL,
                              &report, bench->diags));
    double seconds = clock_seconds() - start;
    if (report.status != JUDGE_CORRECT)
        printf("  %s: %s\n", judge_status_name[report.status], report.reason);
    arena_destroy(arena);
    return seconds;
}

static void
latency(struct bench *bench, size_t rounds)
{
    static const char *const names[] = {"compiled", "with <immintrin.h>", "from the cache"};
    struct judge_task *task = open_task(bench, softmax_op, 0);
    double *seconds = arena_array(bench->arena, rounds, sizeof *seconds);

    for (unsigned form = PLAIN; form <= CACHED; form++) {
        one_verdict(bench, task, form, rounds);
        for (size_t i = 0; i < rounds; i++)
            seconds[i] = one_verdict(bench, task, form, i);
        double middle = quantile(seconds, rounds, 0.5);
        printf("verdict, %-18s  median %.3f s, p90 %.3f s  (%zu verdicts)\n", names[form], middle,
               quantile(seconds, rounds, 0.9), rounds);
    }
    judge_task_close(task);
}

/* ---- runs a second ---- */

static void
runs(struct bench *bench, size_t rounds)
{
    struct judge_task *task =
        open_task(bench, "op tiny\ndim N=256\nin X: f32[N]\nY[i] = X[i] + X[i]\nout Y\n", 1);
    struct judge__case *c = &task->cases[0];
    struct judge_kernel *kernel = build(bench, task,
                                        "void kernel(const float *X, float *Y)\n{\nfor (int i = 0; "
                                        "i < N; i++)\nY[i] = X[i] + X[i];\n}\n");
    struct judge__pool pool;
    struct judge__sample sample;
    size_t count = 40 * rounds;

    must(bench, judge__pool_open(bench->arena, c, 1, 8, 8, &pool, bench->diags));
    double start = clock_seconds();
    for (size_t i = 0; i < count; i++)
        must(bench, judge__sample(&pool, bench->arena, kernel->objects, 1, 1, true, &sample,
                                  bench->diags));
    printf("jailed runs, each checked      %.0f a second  (%zu runs)\n",
           (double)count / (clock_seconds() - start), count);
    judge__pool_close(&pool);
    judge_kernel_close(kernel);
    judge_task_close(task);
}

/* ---- overhead ---- */

static struct judge_kernel *
build_spin(struct bench *bench, struct judge_task *task, unsigned threads, double steps)
{
    return build(
        bench, task,
        arena_printf(bench->arena, "#define T %u\n#define W %.0fL\n%s", threads, steps, spin_c));
}

static struct judge_kernel *
build_stream(struct bench *bench, struct judge_task *task, int twice)
{
    return build(bench, task, arena_printf(bench->arena, "#define P %d\n%s", twice, stream_c));
}

/* Sorted times of a kernel, nanoseconds. */
static double *
sample_times(struct bench *bench, struct judge__pool *pool, struct judge_kernel *kernel,
             size_t count)
{
    double *ns = arena_array(bench->arena, count, sizeof *ns);
    for (size_t i = 0; i < count; i++) {
        struct judge__sample sample;
        must(bench,
             judge__sample(pool, bench->arena, kernel->objects, 1, 1, true, &sample, bench->diags));
        ns[i] = sample.ns;
    }
    return ns;
}

/* What the judge's clock makes of a spin. The kernel around it doubles its input in a parallel
 * region; what that takes is measured without the spin. */
static void
overhead(struct bench *bench, size_t rounds)
{
    for (unsigned all = 0; all < 2; all++) {
        unsigned threads = all ? (unsigned)bench->judge->cpu_count : 1;
        struct judge_task *task = open_task(bench, spin_op, threads);
        struct judge__case *c = &task->cases[0];
        struct judge__pool pool;
        double null;

        must(bench, judge__null(c, &null, bench->diags));
        must(bench, judge__pool_open(bench->arena, c, 1, 1, 1, &pool, bench->diags));
        printf("a call of nothing, %u thread%s   %.2f us\n", threads, threads > 1 ? "s" : " ",
               null / 1e3);
        /* the machine's own speed at this recurrence, from a long spin */
        struct judge_kernel *longer = build_spin(bench, task, threads, 4e6);
        struct judge_kernel *rest = build_spin(bench, task, threads, 0);
        double best = quantile(sample_times(bench, &pool, longer, rounds), rounds, 0);
        struct judge_kernel *spin = build_spin(bench, task, threads, 4e6 * 1e5 / best);
        double *ns = sample_times(bench, &pool, spin, 8 * rounds);
        double around = quantile(sample_times(bench, &pool, rest, 8 * rounds), 8 * rounds, 0.5);
        double middle = quantile(ns, 8 * rounds, 0.5);
        printf("a spin of 100 us, %u thread%s    reads %.2f us, %.2f without the kernel around it; "
               "p90 %.2f us\n",
               threads, threads > 1 ? "s" : " ", middle / 1e3, (middle - around) / 1e3,
               quantile(ns, 8 * rounds, 0.9) / 1e3);
        judge_kernel_close(longer);
        judge_kernel_close(rest);
        judge_kernel_close(spin);
        judge__pool_close(&pool);
        judge_task_close(task);
    }
}

/* ---- telling ---- */

struct tally {
    size_t verdicts[MEASURE_VERDICT_COUNT];
    double seconds, longest, width;
    size_t count;
};

static void
tell(struct bench *bench, struct judge_task *task, struct judge_kernel *incumbent,
     struct judge_kernel *candidate, struct tally *tally)
{
    struct measure_outcome outcome;
    struct judge_kernel *failed;
    double start = clock_seconds();

    must(bench,
         judge_compare(task, incumbent, candidate, 0, NULL, &outcome, &failed, bench->diags));
    double seconds = clock_seconds() - start;
    tally->verdicts[outcome.verdict]++;
    tally->seconds += seconds;
    tally->longest = fmax(tally->longest, seconds);
    tally->width += outcome.high - outcome.low;
    tally->count++;
}

static void
print_tally(const char *what, unsigned threads, const struct tally *tally)
{
    printf("%-34s %u thread%s ", what, threads, threads > 1 ? "s:" : ": ");
    for (unsigned v = 0; v < MEASURE_VERDICT_COUNT; v++)
        if (tally->verdicts[v])
            printf(" %s %zu", measure_verdict_name[v], tally->verdicts[v]);
    printf("; mean %.2f s, longest %.2f s, interval %.2f %%\n",
           tally->seconds / (double)tally->count, tally->longest,
           100 * tally->width / (double)tally->count);
}

static void
told(struct bench *bench, size_t rounds)
{
    for (unsigned all = 0; all < 2; all++) {
        unsigned threads = all ? (unsigned)bench->judge->cpu_count : 1;
        struct judge_task *task = open_task(bench, spin_op, threads);
        struct judge_kernel *one = build_spin(bench, task, threads, 100000);
        struct judge_kernel *same = build_spin(bench, task, threads, 100000);
        struct judge_kernel *more = build_spin(bench, task, threads, 102000);
        struct tally identical = {{0}, 0, 0, 0, 0}, planted = {{0}, 0, 0, 0, 0};

        for (size_t i = 0; i < rounds; i++) {
            tell(bench, task, one, same, &identical);
            tell(bench, task, one, more, &planted);
        }
        print_tally("compute, identical", threads, &identical);
        print_tally("compute, 2 % more work", threads, &planted);
        judge_kernel_close(one);
        judge_kernel_close(same);
        judge_kernel_close(more);
        judge_task_close(task);
    }
    for (unsigned all = 0; all < 2; all++) {
        unsigned threads = all ? (unsigned)bench->judge->cpu_count : 1;
        struct judge_task *task = open_task(bench, stream_op, threads);
        struct judge_kernel *one = build_stream(bench, task, 0);
        struct judge_kernel *same = build_stream(bench, task, 0);
        struct judge_kernel *more = build_stream(bench, task, 1);
        struct tally identical = {{0}, 0, 0, 0, 0}, planted = {{0}, 0, 0, 0, 0};

        for (size_t i = 0; i < (rounds + 3) / 4; i++) {
            tell(bench, task, one, same, &identical);
            tell(bench, task, one, more, &planted);
        }
        print_tally("memory, identical", threads, &identical);
        print_tally("memory, one block in 50 twice", threads, &planted);
        judge_kernel_close(one);
        judge_kernel_close(same);
        judge_kernel_close(more);
        judge_task_close(task);
    }
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(struct bench *bench, size_t rounds);
    } parts[] = {{"latency", latency}, {"runs", runs}, {"overhead", overhead}, {"told", told}};
    struct bench bench = {.arena = arena_create()};
    int64_t rounds = 20, number;
    size_t chosen = 0;

    bench.diags = diags_create(bench.arena, 0);
    must(&bench, judge_open(NULL, &bench.judge, bench.diags));
    for (int i = 1; i < argc; i++)
        if (text_integer(argv[i], &number) && number > 0)
            rounds = number;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (int i = 1; i < argc; i++)
            if (!strcmp(argv[i], parts[p].name)) {
                parts[p].run(&bench, (size_t)rounds);
                chosen++;
            }
    for (size_t p = 0; p < sizeof parts / sizeof *parts && chosen == 0; p++)
        parts[p].run(&bench, (size_t)rounds);
    judge_close(bench.judge);
    arena_destroy(bench.arena);
    return 0;
}
