/* Runs the kernels of a file that a test generated: `calls` and `call_count` stand before this
 * text.
 *
 * Arguments: a file of inputs, a file for outputs. The first holds for each kernel the number of
 * its arguments and for each of them its bytes, whether it is an output, and an input's elements.
 * Each kernel runs with one thread and with three, its outputs filled with two different patterns:
 * what it does not write, or writes in an order that depends on threads, differs between the two.
 * Inputs may be read up to a multiple of 64 bytes, outputs not at all beyond their end. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define RUN_MOST 64 /* arguments */

struct argument {
    int64_t bytes, output;
    void *data;
};

static void
give_up(const char *what, size_t kernel)
{
    fprintf(stderr, "%s at kernel %zu\n", what, kernel);
    exit(3);
}

static void *
room(size_t bytes, int64_t output)
{
    void *data = NULL;
    size_t rounded = (bytes + 63) / 64 * 64;
    if (posix_memalign(&data, 64, output ? bytes : rounded) != 0)
        exit(4);
    return data;
}

static int64_t
take_number(FILE *in, size_t kernel)
{
    int64_t number = 0;
    if (fread(&number, sizeof number, 1, in) != 1)
        give_up("the inputs end", kernel);
    return number;
}

/* One run with fresh outputs, which are written to `out`. */
static void
run_once(size_t kernel, struct argument *arguments, int64_t count, int pattern, FILE *out)
{
    void *pointers[RUN_MOST];
    for (int64_t i = 0; i < count; i++) {
        if (arguments[i].output) {
            arguments[i].data = room((size_t)arguments[i].bytes, 1);
            memset(arguments[i].data, pattern, (size_t)arguments[i].bytes);
        }
        pointers[i] = arguments[i].data;
    }
    calls[kernel](pointers);
    for (int64_t i = 0; i < count; i++)
        if (arguments[i].output) {
            fwrite(arguments[i].data, 1, (size_t)arguments[i].bytes, out);
            free(arguments[i].data);
        }
}

int
main(int argc, char **argv)
{
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL,
         *out = argc == 3 ? fopen(argv[2], "wb") : NULL;
    if (in == NULL || out == NULL)
        give_up("no files", 0);
    for (size_t kernel = 0; kernel < call_count; kernel++) {
        struct argument arguments[RUN_MOST];
        int64_t count = take_number(in, kernel);
        if (count > RUN_MOST)
            give_up("too many arguments", kernel);
        for (int64_t i = 0; i < count; i++) {
            arguments[i].bytes = take_number(in, kernel);
            arguments[i].output = take_number(in, kernel);
            if (arguments[i].output)
                continue;
            size_t bytes = (size_t)arguments[i].bytes;
            arguments[i].data = room(bytes, 0);
            memset(arguments[i].data, 0xff, (bytes + 63) / 64 * 64);
            if (bytes > 0 && fread(arguments[i].data, bytes, 1, in) != 1)
                give_up("the inputs end", kernel);
        }
        omp_set_num_threads(1);
        run_once(kernel, arguments, count, 0xff, out);
        omp_set_num_threads(3);
        run_once(kernel, arguments, count, 0x5b, out);
        for (int64_t i = 0; i < count; i++)
            if (!arguments[i].output)
                free(arguments[i].data);
        fflush(out); /* the place of a crash can be told from how much there is */
    }
    fclose(in);
    return fclose(out) != 0;
}
