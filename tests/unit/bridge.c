/* PyTorch's process: found or missed in one line, builds, windows, its end. The tests that need
 * PyTorch are skipped where $TORCH_ENVIRONMENT, which run-tests gives, has none. */
#include "unit.h"

#include "base/file.h"
#include "bridge/bridge.h"
#include "task/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char module_text[] = "import torch\n"
                                  "rows = 8\n"
                                  "class Model(torch.nn.Module):\n"
                                  "    def __init__(self, n):\n"
                                  "        super().__init__()\n"
                                  "        self.layer = torch.nn.Linear(n, n)\n"
                                  "    def forward(self, x):\n"
                                  "        print('not an answer')\n"
                                  "        return torch.relu(self.layer(x))\n"
                                  "def get_inputs():\n"
                                  "    return [torch.randn(rows, 16)]\n"
                                  "def get_init_inputs():\n"
                                  "    return [16]\n";

static struct bridge *
open_bridge(struct arena *arena, struct diags *diags)
{
    struct bridge_options options = {.environment = getenv("TORCH_ENVIRONMENT"), .threads = 1};
    if (!bridge_is_there(arena, &options))
        skip();
    struct bridge *bridge = bridge_open(arena, &options, diags);
    if (bridge == NULL)
        diags_print(diags, stderr, false);
    assert_non_null(bridge);
    return bridge;
}

static char *
write_module(struct arena *arena, const char *text)
{
    const char *folder = getenv("TMPDIR");
    char *path = arena_printf(arena, "%s/module-%d.py", folder != NULL ? folder : "/tmp", getpid());
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
    return path;
}

static const char *
message(const struct diags *diags)
{
    return diags_count(diags) > 0 ? diags_get(diags, 0)->message : "";
}

static void
missing_environment_is_one_line(void **state)
{
    struct unit *unit = *state;
    struct arena *arena = unit->arena;
    struct diags *diags = diags_create(arena, 0);
    struct bridge_options options = {.environment = "/nowhere/torch"};
    assert_null(bridge_open(arena, &options, diags));
    assert_int_equal(diags_errors(diags), 1);
    assert_string_equal(message(diags),
                        "PyTorch is not installed in /nowhere/torch; type  ./run setup-torch");
    assert_false(bridge_is_there(arena, &options));
}

static void
builds_have_names(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BRIDGE_BUILDS; i++) {
        assert_true(strlen(bridge_build_name(i)) > 0);
        assert_true(strlen(bridge_build_about(i)) > 0);
    }
}

static void
module_is_loaded_and_timed(void **state)
{
    struct unit *unit = *state;
    struct arena *arena = unit->arena;
    struct diags *diags = diags_create(arena, 0);
    struct bridge *bridge = open_bridge(arena, diags);
    struct bridge_size size = {"rows", 4};
    double us[16];
    char *path = write_module(arena, module_text);
    struct bridge_terms terms = {.sizes = &size, .size_count = 1};
    struct bridge_module *module = bridge_load(bridge, path, &terms, diags);
    assert_non_null(module);
    assert_true(strncmp(bridge_version(bridge), "2.", 2) == 0);
    for (unsigned build = 0; build < BRIDGE_BUILDS; build++) {
        if (build != BRIDGE_EAGER && build != BRIDGE_SHIPPED)
            continue; /* they need a C++ compiler, and half a minute */
        assert_true(bridge_build(module, build, diags));
        size_t count = bridge_window(module, build, 0.01, us, 16, diags);
        assert_in_range(count, 1, 16);
        for (size_t i = 0; i < count; i++)
            assert_true(us[i] > 0);
    }
    bridge_unload(module);
    assert_false(bridge_build(module, BRIDGE_EAGER, diags));
    bridge_close(bridge);
    remove(path);
}

static void
module_of_another_size_is_refused(void **state)
{
    static const char text[] = "dim R=4\n"
                               "in X: f32[R,16]\n"
                               "in layer_weight: f32[16,16]\n"
                               "Y[r,j] = sum[k](X[r,k]*layer_weight[j,k])\n"
                               "out Y\n";
    struct unit *unit = *state;
    struct arena *arena = unit->arena;
    struct diags *diags = diags_create(arena, 0);
    struct bridge *bridge = open_bridge(arena, diags);
    struct lang *lang = lang_parse(arena, "t.op", text, strlen(text), diags);
    struct bridge_size size = {"rows", 4};
    struct bridge_terms terms = {.program = lang_program(lang, 0, NULL, 0, diags)};
    char *path = write_module(arena, module_text);
    assert_null(bridge_load(bridge, path, &terms, diags));
    assert_non_null(strstr(message(diags), "X is 8x16 in the module and 4x16 in the program"));
    terms.sizes = &size;
    terms.size_count = 1;
    assert_non_null(bridge_load(bridge, path, &terms, diags));
    bridge_close(bridge);
    remove(path);
}

static void
program_says_which_module_it_is_from(void **state)
{
    static const char text[] = "# relu.py, imported.\nop relu\n";
    struct unit *unit = *state;
    struct arena *arena = unit->arena;
    char *module = write_module(arena, module_text);
    const char *name = strrchr(module, '/') + 1;
    struct bridge_origin given = {module, true}, found;
    const char *folder = arena_printf(arena, "%s.d/deep", module);
    assert_int_equal(file_make_folder(folder, diags_create(arena, 0)), STATUS_OK);
    const char *made = bridge_signed(arena, text, folder, &given);
    assert_string_equal(made, arena_printf(arena,
                                           "# relu.py, imported.\n"
                                           "# module, training: ../../%s\nop relu\n",
                                           name));
    found = bridge_origin(arena, made, "tasks/deep");
    assert_true(found.train);
    assert_string_equal(found.module, arena_printf(arena, "tasks/deep/../../%s", name));
    given.train = false;
    made = bridge_signed(arena, text, file_folder_of(arena, module), &given);
    found = bridge_origin(arena, made, ".");
    assert_false(found.train);
    assert_string_equal(found.module, arena_printf(arena, "./%s", name));
    assert_null(bridge_origin(arena, text, ".").module);
    rmdir(folder);
    rmdir(file_folder_of(arena, folder));
    remove(module);
}

static void
task_of_a_suite_is_timed_on_its_inputs(void **state)
{
    static const char text[] = "dim M=4, K=6\n"
                               "in A, B: f32[M,K]\n"
                               "Y[i,j] = sum[k](A[i,k]*B[j,k])\n"
                               "out Y\n";
    struct unit *unit = *state;
    struct arena *arena = unit->arena;
    struct diags *diags = diags_create(arena, 0);
    struct bridge *bridge = open_bridge(arena, diags);
    struct lang *lang = lang_parse(arena, "t.op", text, strlen(text), diags);
    double us[4];
    struct program *program = lang_program(lang, 0, NULL, 0, diags);
    const void *const *inputs = (const void *const *)task_draw_all(arena, program, DRAW_NORMAL, 1);
    struct bridge_module *module = bridge_load_task(
        bridge, "kernelbench/1/017_matrix_multiplication_transposed_b", program, inputs, diags);
    assert_non_null(module);
    assert_true(bridge_build(module, BRIDGE_EAGER, diags));
    assert_true(bridge_window(module, BRIDGE_EAGER, 0.001, us, 4, diags) > 0);
    assert_null(bridge_load_task(bridge, "kernelbench/1/none", program, inputs, diags));
    assert_string_equal(message(diags),
                        "kernelbench/1/none: there is no PyTorch model of this task");
    bridge_close(bridge);
}

static void
bad_modules_are_told_with_their_line(void **state)
{
    static const struct {
        const char *text, *says;
        unsigned line;
    } rows[] = {
        {"x = (\n", "it is not Python: SyntaxError", 1},
        {"import torch\nx = torch.zeros(3).cuda()\n", "it asks for a GPU", 2},
        {"x = 1\n", "it has no Model; write class Model", 0},
        {"import torch\nclass Model(torch.nn.Module):\n    pass\n", "it has no get_inputs", 0},
        {"import nothing_like_it\n", "it imports nothing_like_it, which is not installed", 1},
        {"import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
         "        self.y = x\ndef get_inputs(): return [torch.ones(2)]\n",
         "forward() returns nothing", 0},
        {"import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
         "        return x @ torch.ones(3, 3)\ndef get_inputs(): return [torch.ones(2)]\n",
         "forward() fails: RuntimeError", 4},
        {"import sys\nsys.exit(3)\n", "it cannot be run: SystemExit", 2},
    };
    struct unit *unit = *state;
    struct arena *arena = unit->arena;
    struct diags *first = diags_create(arena, 0);
    struct bridge *bridge = open_bridge(arena, first);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diags *diags = diags_create(arena, 0);
        char *path = write_module(arena, rows[i].text);
        assert_null(bridge_load(bridge, path, NULL, diags));
        if (strstr(message(diags), rows[i].says) == NULL)
            print_error("%s\n", message(diags));
        assert_non_null(strstr(message(diags), rows[i].says));
        assert_int_equal(diags_get(diags, 0)->place.line, rows[i].line);
        remove(path);
    }
    bridge_close(bridge);
}

static void
process_that_dies_is_an_answer(void **state)
{
    struct unit *unit = *state;
    struct arena *arena = unit->arena;
    struct diags *diags = diags_create(arena, 0);
    struct bridge *bridge = open_bridge(arena, diags);
    char *path = write_module(arena, "import os\nos.abort()\n");
    assert_null(bridge_load(bridge, path, NULL, diags));
    assert_non_null(strstr(message(diags), "PyTorch's process ended"));
    assert_null(bridge_load(bridge, path, NULL, diags));
    bridge_close(bridge);
    remove(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(missing_environment_is_one_line),
        cmocka_unit_test(builds_have_names),
        UNIT_TEST(module_is_loaded_and_timed),
        UNIT_TEST(module_of_another_size_is_refused),
        UNIT_TEST(program_says_which_module_it_is_from),
        UNIT_TEST(task_of_a_suite_is_timed_on_its_inputs),
        UNIT_TEST(bad_modules_are_told_with_their_line),
        UNIT_TEST(process_that_dies_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
