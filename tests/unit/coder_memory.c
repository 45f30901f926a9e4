/* Tensors that share an array, read off the kernel's text: when a function is called, each of them
 * that it reads is what was last written to its array. */
#include "unit.h"

#include "coder/coder.h"
#include "lang/lang.h"

#include <stdlib.h>

enum { MOST_NAMES = 1024, MOST_ARRAYS = 64, MOST_ARGUMENTS = 64 };

struct kernel {
    struct arena *arena;
    const char *text;
    const char *name[MOST_NAMES]; /* of tensors in shared arrays */
    size_t array[MOST_NAMES];
    size_t count;
    const char *holds[MOST_ARRAYS]; /* what was last written there */
    unsigned reads, writes;
};

/* The kernel of a task's usual schedule. */
static void
emit(struct kernel *kernel, const char *path)
{
    static const struct coder_machine machine = {
        .vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288};
    struct arena *arena = kernel->arena;
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_open(arena, arena_printf(arena, "%s/%s", getenv("ROOT"), path), diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, diags) : NULL;
    assert_non_null(program);
    struct coder_space *space = coder_space_open(arena, program, &machine);
    const char *lines = coder_sketch(space, &(struct coder_genome){{0}}).text;
    struct source source = {"schedule", lines, strlen(lines)};
    struct coder_options options = {.vector_bytes = machine.vector_bytes};
    struct schedule *schedule = coder_read(arena, program, &source, &options, diags);
    struct buf text = buf_in(arena);
    assert_non_null(schedule);
    assert_true(coder_emit(&text, arena, schedule, diags));
    kernel->text = text.data;
}

/* static float *const NAME = memoryN; */
static void
find_shared(struct kernel *kernel)
{
    static const char equals[] = " = memory";
    for (const char *at = kernel->text; (at = strstr(at, equals)) != NULL; at++) {
        const char *start = at;
        while (start[-1] != ' ')
            start--;
        assert_true(kernel->count < MOST_NAMES);
        kernel->name[kernel->count] = arena_strndup(kernel->arena, start, (size_t)(at - start));
        kernel->array[kernel->count] = strtoul(at + strlen(equals), NULL, 10);
        assert_true(kernel->array[kernel->count++] < MOST_ARRAYS);
    }
}

/* What stands between brackets, apart. */
static size_t
split(struct arena *arena, const char *open, const char **parts)
{
    size_t count = 0;
    const char *close = strchr(open, ')');
    for (const char *at = open + 1; at < close;) {
        size_t length = strcspn(at, ",)");
        assert_true(count < MOST_ARGUMENTS);
        parts[count++] = arena_strndup(arena, at, length);
        at += length + strlen(", ");
    }
    return count;
}

static size_t
shared(const struct kernel *kernel, const char *name)
{
    size_t i = 0;
    while (i < kernel->count && strcmp(kernel->name[i], name) != 0)
        i++;
    return i;
}

/* One call; `open` is the bracket of its arguments, behind the function's name. */
static void
call(struct kernel *kernel, const char *start, const char *open)
{
    const char *arguments[MOST_ARGUMENTS], *parameters[MOST_ARGUMENTS];
    const char *head =
        arena_printf(kernel->arena, "\nstatic void\n%.*s(", (int)(open - start), start);
    const char *function = strstr(kernel->text, head);
    assert_non_null(function);
    size_t count = split(kernel->arena, open, arguments);
    assert_int_equal(split(kernel->arena, function + strlen(head) - 1, parameters), count);
    for (int writes = 0; writes < 2; writes++)
        for (size_t i = 0; i < count; i++) {
            size_t which = shared(kernel, arguments[i]);
            if (which == kernel->count || (strncmp(parameters[i], "const ", 6) != 0) != writes)
                continue;
            const char **holds = &kernel->holds[kernel->array[which]];
            if (writes) {
                for (size_t k = 0; k < count; k++) /* nothing that the same call touches */
                    if (k != i && shared(kernel, arguments[k]) < kernel->count)
                        assert_int_not_equal(kernel->array[shared(kernel, arguments[k])],
                                             kernel->array[which]);
                *holds = kernel->name[which];
                kernel->writes++;
            } else {
                assert_non_null(*holds);
                assert_string_equal(*holds, kernel->name[which]);
                kernel->reads++;
            }
        }
}

static void
shared_memory_holds_what_is_read(void **state)
{
    static const char *const tasks[] = {
        "examples/resnet_deep.op",
        "suites/kernelbench/3/009_resnet18.op",
        "suites/kernelbench/3/014_densenet_dense_block.op",
        "suites/kernelbench/3/022_efficientnet_b0.op",
        "suites/kernelbench/3/028_vision_transformer.op",
        "suites/kernelbench/3/045_unet_softmax.op",
    };
    (void)state;
    for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++) {
        struct kernel kernel = {.arena = arena_create()};
        emit(&kernel, tasks[t]);
        find_shared(&kernel);
        const char *body = strstr(kernel.text, "\nvoid\nkernel(");
        assert_non_null(body);
        for (const char *at = body; (at = strstr(at, "\n    stage")) != NULL; at++) {
            const char *start = at + strlen("\n    ");
            call(&kernel, start, strchr(start, '('));
        }
        assert_true(kernel.reads > 4 && kernel.writes >= kernel.count);
        arena_destroy(kernel.arena);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {UNIT_TEST(shared_memory_holds_what_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
