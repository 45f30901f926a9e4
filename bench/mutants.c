/* How much escapes the judge: one fault in a correct kernel, many times over.
 *
 * Prints each mutant that was missed or is hidden, and a table: how many of each class of faults
 * were caught, of those that are faults at all (tests/judge/mutants.h says how that is told).
 *
 * usage: mutants [COUNT] [SEED] [-v] [WORD]
 *   COUNT mutants (600) drawn by SEED (1), of kernels whose path has the WORD; -v shows those that
 *   are within tolerance too, and -vv all. HONE_BOX names the program hone-box. */
#include "../tests/judge/mutants.h"

#include "base/clock.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The programs lie in BUILD/bench/, hone-box in BUILD/. */
static void
find_box(void)
{
    char path[4000], program[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    if (length <= 0)
        return;
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    snprintf(program, sizeof program, "%s/../hone-box", path);
    setenv("HONE_BOX", program, 0);
}

static void
run(struct mutants *m, unsigned verbose)
{
    double start = clock_seconds();

    for (size_t i = 0; i < m->count; i++) {
        struct mutants_fault *mutant = &m->list[i];
        double begin = clock_seconds();

        if (mutants_judge(m, mutant) != STATUS_OK) {
            diags_print(m->diags, stderr, false);
            exit(3);
        }
        mutant->seconds = clock_seconds() - begin;
        if (mutant->fate == MUTANTS_MISSED || mutant->fate == MUTANTS_HIDDEN || verbose > 1 ||
            (verbose && mutant->fate == MUTANTS_IN_TOLERANCE))
            mutants_print(m, mutant, stdout);
        if (i % 50 == 49)
            fprintf(stderr, "%zu of %zu, %.0f s\n", i + 1, m->count, clock_seconds() - start);
        fflush(stdout);
    }
    mutants_print_table(m, stdout);
    printf("%zu mutants of %zu kernels, seed %llu, %.0f s; %zu originals not correct\n", m->count,
           m->kernel_count, (unsigned long long)m->options.seed, clock_seconds() - start,
           m->wrong_originals);
}

int
main(int argc, char **argv)
{
    struct mutants_options options = {.seed = 1, .count = 600, .rounds = 30, .measure = true};
    struct mutants m;
    unsigned verbose = 0, numbers = 0;
    int64_t number;

    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-v") || !strcmp(argv[i], "-vv"))
            verbose = (unsigned)strlen(argv[i]) - 1;
        else if (!text_integer(argv[i], &number) || number < 0)
            options.only = argv[i];
        else if (numbers++ == 0)
            options.count = (size_t)number;
        else
            options.seed = (uint64_t)number;
    find_box();
    if (!mutants_open(&m, &options, getenv("ROOT") ? getenv("ROOT") : ".")) {
        diags_print(m.diags, stderr, false);
        fprintf(stderr, "mutants: no kernels; start it in the project's folder, or set ROOT\n");
        return 3;
    }
    run(&m, verbose);
    mutants_close(&m);
    return 0;
}
