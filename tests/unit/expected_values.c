/* Every folder of tests/expected: a task, its inputs, and outputs that were computed without this
 * project (bridge/expected.py). The interpreter and the compiled reference must both give them. */
#include "unit.h"

#include "base/npy.h"
#include "lang/lang.h"
#include "task/task.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 2

struct trial {
    struct unit *unit;
    const char *folder;
    struct program *program;
    void **inputs;
};

static void
give_up(struct trial *trial, const char *what)
{
    print_error("%s: %s\n%s", trial->folder, what, unit_printed(trial->unit, false));
    exit(1);
}

static const char *
folder_of_tests(void)
{
    const char *root = getenv("ROOT");
    return root ? root : ".";
}

/* ---- reading ---- */

static double
npy_value(const struct npy *array, int64_t i)
{
    const char *type = array->type;
    if (strcmp(type, "f8") == 0)
        return ((const double *)array->data)[i];
    if (strcmp(type, "f4") == 0)
        return ((const float *)array->data)[i];
    if (strcmp(type, "i8") == 0)
        return (double)((const int64_t *)array->data)[i];
    if (strcmp(type, "i4") == 0)
        return ((const int32_t *)array->data)[i];
    if (strcmp(type, "i1") == 0)
        return ((const int8_t *)array->data)[i];
    if (strcmp(type, "u1") == 0 || strcmp(type, "b1") == 0)
        return ((const uint8_t *)array->data)[i];
    if (strcmp(type, "f2") == 0)
        return dtype_element(DTYPE_F16, array->data, i);
    print_error("type %s\n", type);
    exit(1);
}

static struct npy
read_array(struct trial *trial, const char *prefix, const struct tensor *tensor)
{
    struct npy array;
    const char *path =
        arena_printf(trial->unit->arena, "%s/%s%s.npy", trial->folder, prefix, tensor->name);
    if (npy_read(trial->unit->arena, path, &array, trial->unit->diags) != STATUS_OK)
        give_up(trial, "an array cannot be read");
    bool same = array.rank == tensor->rank;
    for (unsigned d = 0; d < tensor->rank && same; d++)
        same = array.shape[d] == tensor->size[d];
    if (!same)
        give_up(trial, arena_printf(trial->unit->arena, "%s has another shape", path));
    return array;
}

static void
read_inputs(struct trial *trial)
{
    struct program *program = trial->program;
    trial->inputs = arena_array(trial->unit->arena, program->input_count + 1, sizeof(void *));
    for (size_t i = 0; i < program->input_count; i++) {
        const struct tensor *tensor = program->tensors[i];
        struct npy array = read_array(trial, "", tensor);
        trial->inputs[i] = arena_array(trial->unit->arena, (size_t)tensor->count + 16,
                                       dtype_info[tensor->dtype].size);
        for (int64_t e = 0; e < tensor->count; e++)
            dtype_set_element(tensor->dtype, trial->inputs[i], e, npy_value(&array, e));
    }
}

/* ---- comparing ---- */

static void
compare(struct trial *trial, const char *who, const struct lang_result *result)
{
    struct npy expected = read_array(trial, "out_", result->tensor);
    double scale = 0;
    for (int64_t i = 0; i < result->tensor->count; i++)
        if (isfinite(npy_value(&expected, i)))
            scale = fmax(scale, fabs(npy_value(&expected, i)));
    for (int64_t i = 0; i < result->tensor->count; i++) {
        double want = npy_value(&expected, i), got = result->v[i];
        bool same = got == want || (isnan(got) && isnan(want)) ||
                    fabs(got - want) <= 1e-11 * (fabs(want) + 0.01 * scale);
        if (!same)
            give_up(trial, arena_printf(trial->unit->arena, "%s: %s[%lld] is %.17g, expected %.17g",
                                        who, result->tensor->name, (long long)i, got, want));
    }
}

static void
try_folder(const char *folder)
{
    void *state;
    unit_setup(&state);
    struct trial trial = {state, folder, NULL, NULL};
    struct unit *unit = trial.unit;
    struct lang *lang =
        lang_open(unit->arena, arena_printf(unit->arena, "%s/task.op", folder), unit->diags);
    trial.program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;
    if (trial.program == NULL)
        give_up(&trial, "the task is refused");
    read_inputs(&trial);
    size_t outputs = trial.program->output_count;
    const void *const *inputs = (const void *const *)trial.inputs;
    struct lang_result *results = arena_array(unit->arena, outputs, sizeof *results);
    if (lang_interpret(unit->arena, trial.program, inputs, results) != STATUS_OK)
        give_up(&trial, "the interpreter fails");
    for (size_t i = 0; i < outputs; i++)
        compare(&trial, "interpreter", &results[i]);
    memset(results, 0, outputs * sizeof *results);
    if (task_evaluate(unit->arena, trial.program, inputs, results, unit->diags) != STATUS_OK)
        give_up(&trial, "the compiled reference fails");
    for (size_t i = 0; i < outputs; i++)
        compare(&trial, "compiled reference", &results[i]);
    unit_teardown(&state);
}

/* ---- folders ---- */

static int
by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char **
list_folders(struct arena *arena, size_t *count)
{
    const char *root = arena_printf(arena, "%s/tests/expected", folder_of_tests());
    DIR *dir = opendir(root);
    assert_non_null(dir);
    char **list = arena_array(arena, 4096, sizeof *list);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL && *count < 4096;)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            list[(*count)++] = arena_printf(arena, "%s/%s", root, entry->d_name);
    closedir(dir);
    qsort(list, *count, sizeof *list, by_name);
    return list;
}

static void
both_references_give_the_expected_values(void **state)
{
    struct unit *unit = *state;
    size_t count = 0;
    char **folders = list_folders(unit->arena, &count);
    int status, failed = 0;
    assert_true(count >= 300);
    for (size_t worker = 0; worker < WORKERS; worker++)
        if (fork() == 0) {
            for (size_t i = worker; i < count; i += WORKERS)
                try_folder(folders[i]);
            _exit(0);
        }
    while (wait(&status) > 0)
        failed += status != 0;
    print_message("# %zu folders\n", count);
    assert_int_equal(failed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {UNIT_TEST(both_references_give_the_expected_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
