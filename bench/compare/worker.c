/* One task, one number of threads: the kernel and its rivals in one process, on the same buffers.
 * First each rival's result is compared with the kernel's; who differs is not timed. */
#include "compare.h"

#include "base/text.h"
#include "task/task.h"

#include <assert.h>
#include <dlfcn.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ALLOWED 1e-3 /* of the size of an element plus that of the whole */

struct kernel {
    void (*call)(void *const *buffers);
    void *const *buffers;
};

void
contestants_add(struct contestants *all, struct library_call one)
{
    assert(all->count < COMPARE_MOST);
    all->list[all->count++] = one;
}

const int64_t *
compare_input(const struct compare_task *task, size_t input)
{
    return task->program->tensors[input]->size;
}

const int64_t *
compare_output(const struct compare_task *task)
{
    return task->program->outputs[0]->size;
}

float *
compare_result(const struct compare_task *task)
{
    return task->buffers[task->program->input_count];
}

char *
compare_name(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = arena_strdup(arena, slash ? slash + 1 : path);

    if (text_ends(name, ".op"))
        name[strlen(name) - 3] = '\0';
    return name;
}

const struct program *
compare_program(struct arena *arena, const char *path)
{
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_open(arena, path, diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, diags) : NULL;

    if (!program)
        diags_print(diags, stderr, false);
    return program;
}

static size_t
bytes_of(const struct tensor *tensor)
{
    return (size_t)tensor->count * dtype_info[tensor->dtype].size;
}

/* Outputs begin as NaN: what nobody wrote is seen. */
static void **
make_buffers(struct arena *arena, const struct program *program)
{
    void **inputs = task_draw_all(arena, program, DRAW_NORMAL, 1);
    void **buffers =
        arena_array(arena, program->input_count + program->output_count, sizeof *buffers);

    for (size_t i = 0; i < program->input_count; i++)
        buffers[i] = inputs[i];
    for (size_t o = 0; o < program->output_count; o++) {
        size_t bytes = (bytes_of(program->outputs[o]) + 63) / 64 * 64;
        buffers[program->input_count + o] = arena_array(arena, bytes + 64, 1);
        uintptr_t at = ((uintptr_t)buffers[program->input_count + o] + 63) / 64 * 64;
        buffers[program->input_count + o] = memset((void *)at, 0xff, bytes);
    }
    return buffers;
}

static void
run_kernel(void *state)
{
    const struct kernel *kernel = state;

    kernel->call(kernel->buffers);
}

/* The largest difference, in units of what is allowed; not a number counts as infinite. */
static double
difference(const float *got, const float *expected, size_t count)
{
    double largest = 0, scale = 0;

    for (size_t i = 0; i < count; i++)
        scale += fabs((double)expected[i]);
    scale /= (double)count;
    for (size_t i = 0; i < count; i++) {
        double allowed = ALLOWED * (fabs((double)expected[i]) + scale) + 1e-30;
        double error = fabs((double)got[i] - (double)expected[i]) / allowed;
        largest = error <= largest ? largest : isnan(error) ? INFINITY : error;
    }
    return largest;
}

static void
print_line(json_t *line)
{
    json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    fflush(stdout);
    json_decref(line);
}

/* Keeps those that agree with contestant 0, the kernel. */
static void
check_all(const struct compare_task *task, struct contestants *all)
{
    size_t count = (size_t)task->program->outputs[0]->count, kept = 1;
    float *result = compare_result(task), *expected = arena_array(task->arena, count, 4);

    all->list[0].run(all->list[0].state);
    memcpy(expected, result, 4 * count);
    for (size_t c = 1; c < all->count; c++) {
        const struct library_call *one = &all->list[c];
        memset(result, 0xff, 4 * count);
        one->run(one->state);
        if (one->fetch)
            one->fetch(one->state);
        double error = difference(result, expected, count);
        if (error <= 1)
            all->list[kept++] = *one;
        else
            print_line(json_pack(
                "{s:s,s:s}", "library", one->name, "failed",
                arena_printf(task->arena, "its result differs: %.3g times the allowed", error)));
    }
    all->count = kept;
}

static void
report(const struct contestants *all, const struct standing *standings)
{
    for (size_t c = all->count > 1 ? 1 : 0; c < all->count; c++) {
        const struct standing *s = &standings[c];
        print_line(json_pack(
            "{s:s,s:s,s:f,s:f,s:f,s:f,s:f,s:I}", "library", c ? all->list[c].name : "", "note",
            all->list[c].note ? all->list[c].note : "", "us", s->us, "hone_us", standings[0].us,
            "ratio", s->ratio, "low", s->low, "high", s->high, "rounds", (json_int_t)s->rounds));
    }
}

int
compare_worker(const struct worker_request *request)
{
    struct arena *arena = arena_create();
    struct compare_task task = {.arena = arena,
                                .name = compare_name(arena, request->op),
                                .threads = request->threads,
                                .program = compare_program(arena, request->op)};
    struct contestants all = {0};
    struct standing standings[COMPARE_MOST];
    void *object = dlopen(request->object, RTLD_NOW | RTLD_LOCAL);
    struct kernel kernel = {0};

    if (!task.program || !object) {
        fprintf(stderr, "%s: %s\n", request->op, object ? "cannot be read" : dlerror());
        arena_destroy(arena);
        return 3;
    }
    kernel.call = (void (*)(void *const *))dlsym(object, "hone_call");
    kernel.buffers = task.buffers = make_buffers(arena, task.program);
    contestants_add(&all,
                    (struct library_call){.name = "hone", .run = run_kernel, .state = &kernel});
    compare_blas(&task, &all);
    compare_dnnl(&task, &all);
    check_all(&task, &all);
    compare_rounds(arena, &all, request->rounds, request->seconds, standings);
    report(&all, standings);
    arena_destroy(arena);
    return 0;
}
