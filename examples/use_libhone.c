/* Asks libhone what a program means for some inputs.
 *
 *     gcc use_libhone.c -lhone -o use_libhone
 *     ./use_libhone softmax.op
 *
 * draws random inputs for the program's default case and prints, for each output, its shape, its
 * first element, and how far a right kernel may be from it. */
#include <libhone.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64 /* inputs or outputs */

static void *
room(int64_t count, size_t size)
{
    void *memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        exit(3);
    }
    return memory;
}

static int
draw_inputs(struct hone_task *task, void **inputs)
{
    for (size_t i = 0; i < hone_input_count(task); i++) {
        struct hone_tensor tensor;
        int code = hone_input(task, 0, i, &tensor);
        if (code != HONE_OK)
            return code;
        inputs[i] = room(tensor.count, tensor.element_size);
        code = hone_draw(task, 0, i, "normal", 1, inputs[i]);
        if (code != HONE_OK)
            return code;
    }
    return HONE_OK;
}

static void
print_output(const struct hone_tensor *tensor, double value, double allowed)
{
    printf("%s: %s[", tensor->name, tensor->dtype);
    for (unsigned d = 0; d < tensor->rank; d++)
        printf("%s%lld", d ? "," : "", (long long)tensor->shape[d]);
    printf("], first element %.6g, allowed error %.2g\n", value, allowed);
}

static int
evaluate(struct hone_task *task, void **inputs, double **values, double **allowed)
{
    struct hone_tensor tensor[MOST];
    int code = draw_inputs(task, inputs);
    for (size_t i = 0; i < hone_output_count(task) && code == HONE_OK; i++) {
        code = hone_output(task, 0, i, &tensor[i]);
        values[i] = room(tensor[i].count, sizeof(double));
        allowed[i] = room(tensor[i].count, sizeof(double));
    }
    if (code == HONE_OK)
        code = hone_evaluate(task, 0, (const void *const *)inputs, values, allowed);
    for (size_t i = 0; i < hone_output_count(task) && code == HONE_OK; i++)
        print_output(&tensor[i], values[i][0], allowed[i][0]);
    return code;
}

static int
use(struct hone_task *task)
{
    void *inputs[MOST] = {0};
    double *values[MOST] = {0}, *allowed[MOST] = {0};
    if (hone_input_count(task) > MOST || hone_output_count(task) > MOST)
        return HONE_INPUT;
    printf("%s %.8s\n", hone_name(task), hone_hash(task));
    int code = evaluate(task, inputs, values, allowed);
    for (size_t i = 0; i < MOST; i++) {
        free(inputs[i]);
        free(values[i]);
        free(allowed[i]);
    }
    return code;
}

int
main(int argc, char **argv)
{
    struct hone_task *task;
    if (argc != 2) {
        fputs("usage: use_libhone FILE.op\n", stderr);
        return 2;
    }
    int code = hone_open(argv[1], &task);
    if (code == HONE_OK)
        code = use(task);
    if (code != HONE_OK)
        fputs(hone_error(task), stderr);
    hone_close(task);
    return -code;
}
