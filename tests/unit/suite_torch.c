/* Every task of suites/ against PyTorch: of each its small case is interpreted on inputs drawn
 * here, and bridge/check_suites.py compares what comes out with a model written in PyTorch. The
 * interpreter defines what a task means, and nothing is compiled, so that all of them take a
 * minute; the compiled references are for tests/soak/suites.sh. Skipped where $TORCH_ENVIRONMENT,
 * which run-tests gives, has no PyTorch. */
#include "scratch.h"

#include "base/file.h"
#include "base/npy.h"
#include "lang/lang.h"
#include "task/task.h"

#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define WORKERS 2
#define FEWEST 380 /* tasks */

static const char *
root_folder(void)
{
    const char *root = getenv("ROOT");

    return root ? root : ".";
}

/* ---- what is handed over: KEY/in/NAME.npy and, numbered in order, KEY/out/00_NAME.npy ---- */

static const char *
folder_of(struct unit *unit, const char *key, const char *part)
{
    const char *folder = arena_printf(unit->arena, "values/%s/%s", key, part);

    assert_int_equal(system(arena_printf(unit->arena, "mkdir -p '%s'", folder)), 0);
    return folder;
}

static void
write_array(struct unit *unit, const char *path, const struct tensor *tensor, const char *type,
            size_t size, const void *data)
{
    struct npy array = {.rank = tensor->rank, .count = tensor->count, .size = size};

    array.data = (void *)(uintptr_t)data;
    snprintf(array.type, sizeof array.type, "%s", type);
    for (unsigned d = 0; d < tensor->rank; d++)
        array.shape[d] = tensor->size[d];
    if (npy_write(path, &array, unit->diags) != STATUS_OK)
        fail_msg("%s", unit_printed(unit, false));
}

/* As it is stored; bf16, which NumPy does not know, as f32. */
static void
write_input(struct unit *unit, const char *folder, const struct tensor *tensor, const void *data)
{
    static const char *const types[DTYPE_COUNT] = {
        [DTYPE_F64] = "f8", [DTYPE_F32] = "f4", [DTYPE_F16] = "f2", [DTYPE_BF16] = "f4",
        [DTYPE_I32] = "i4", [DTYPE_I8] = "i1",  [DTYPE_U8] = "u1",  [DTYPE_BOOL] = "b1",
    };
    const char *path = arena_printf(unit->arena, "%s/%s.npy", folder, tensor->name);
    size_t size = dtype_info[tensor->dtype].size;

    if (tensor->dtype == DTYPE_BF16) {
        float *wide = arena_array(unit->arena, (size_t)tensor->count + 1, sizeof *wide);

        for (int64_t i = 0; i < tensor->count; i++)
            wide[i] = (float)dtype_element(tensor->dtype, data, i);
        data = wide;
        size = sizeof *wide;
    }
    write_array(unit, path, tensor, types[tensor->dtype], size, data);
}

/* ---- a task ---- */

static struct program *
small_program(struct unit *unit, const char *path)
{
    struct lang *lang = lang_open(unit->arena, path, unit->diags);

    for (size_t i = 1; lang && i < lang_case_count(lang); i++)
        if (strcmp(lang_case_name(lang, i), "small") == 0)
            return lang_program(lang, i, NULL, 0, unit->diags);
    return NULL;
}

/* "kernelbench/1/023_softmax" */
static const char *
key_of(struct unit *unit, const char *path)
{
    const char *key = strstr(path, "/suites/") + strlen("/suites/");

    return arena_strndup(unit->arena, key, strlen(key) - strlen(".op"));
}

static void
hand_over(const char *path)
{
    void *state;
    unit_setup(&state);
    struct unit *unit = state;
    struct program *program = small_program(unit, path);

    if (program == NULL)
        fail_msg("%s has no case small\n%s", path, unit_printed(unit, false));
    void **inputs = task_draw_all(unit->arena, program, DRAW_NORMAL, 1);
    struct lang_result *results = arena_array(unit->arena, program->output_count, sizeof *results);
    assert_int_equal(lang_interpret(unit->arena, program, (const void *const *)inputs, results),
                     STATUS_OK);
    const char *key = key_of(unit, path), *folder = folder_of(unit, key, "in");
    for (size_t i = 0; i < program->input_count; i++)
        write_input(unit, folder, program->tensors[i], inputs[i]);
    folder = folder_of(unit, key, "out");
    for (size_t i = 0; i < program->output_count; i++) {
        const struct tensor *tensor = results[i].tensor;
        const char *file = arena_printf(unit->arena, "%s/%02zu_%s.npy", folder, i, tensor->name);
        write_array(unit, file, tensor, "f8", sizeof(double), results[i].v);
    }
    unit_teardown(&state);
}

/* ---- all of them ---- */

static bool
torch_is_there(struct unit *unit, const char *python)
{
    return system(arena_printf(unit->arena, "'%s' -c 'import torch, numpy' 2>torch.log", python)) ==
           0;
}

static void
tasks_agree_with_pytorch(void **state)
{
    struct unit *unit = *state;
    const char *environment = getenv("TORCH_ENVIRONMENT");
    const char *suites = arena_printf(unit->arena, "%s/suites", root_folder());
    const char *python =
        arena_printf(unit->arena, "%s/bin/python3", environment ? environment : "");
    glob_t found = {0};
    int status, failed = 0;

    if (environment == NULL || !torch_is_there(unit, python))
        skip();
    assert_int_equal(glob(arena_printf(unit->arena, "%s/*/*.op", suites), 0, NULL, &found), 0);
    assert_int_equal(
        glob(arena_printf(unit->arena, "%s/*/*/*.op", suites), GLOB_APPEND, NULL, &found), 0);
    assert_true(found.gl_pathc >= FEWEST);
    for (size_t worker = 0; worker < WORKERS; worker++)
        if (fork() == 0) {
            for (size_t i = worker; i < found.gl_pathc; i += WORKERS)
                hand_over(found.gl_pathv[i]);
            _exit(0);
        }
    while (wait(&status) > 0)
        failed += status != 0;
    globfree(&found);
    assert_int_equal(failed, 0);
    const char *command =
        arena_printf(unit->arena, "'%s' '%s/bridge/check_suites.py' --values values >told 2>&1",
                     python, root_folder());
    if (system(command) != 0) {
        struct source told;
        assert_int_equal(file_read(unit->arena, "told", 1 << 20, &told, unit->diags), STATUS_OK);
        fail_msg("%s", told.text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {SCRATCH_TEST(tasks_agree_with_pytorch)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
