/* hone export: what was found, in the form that others use. */
#include "app/optimize.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "bridge/bridge.h"

enum { LARGEST_TEXT = 4 << 20 };

/* The kernel file: named, or where `hone optimize` writes it. */
static const char *
kernel_file(struct cli *cli, const struct lang *lang)
{
    return cli->operand_count > 3 ? cli->operands[3]
                                  : arena_printf(cli->arena, "%s.c", lang_name(lang));
}

static void
show(struct cli *cli, const char *source, const char *header, const struct run_library *library)
{
    struct buf *out = &cli->out;
    if (cli->json) {
        buf_puts(out, "{\"source\":");
        json_put_string(out, source);
        json_field_string(out, "header", header);
        json_field_number(out, "kernels", (double)library->kernels);
        buf_puts(out, "}\n");
        return;
    }
    buf_printf(out, "%s and %s written: %zu kernels, and plain C for every other size.\n", source,
               header, library->kernels);
    buf_printf(out, "gcc -O2 -ftree-vectorize -fno-math-errno -fopenmp -c %s\n", source);
}

/* A folder that holds the kernel file under the library's name would lose it. */
static enum status
check_place(struct cli *cli, const char *source, const char *kernel)
{
    struct stat a, b;
    if (stat(source, &a) != 0 || stat(kernel, &b) != 0 || a.st_dev != b.st_dev ||
        a.st_ino != b.st_ino)
        return STATUS_OK;
    return cli_wrong(cli, "%s is the kernel that the library is made from; name another folder",
                     source);
}

static enum status
export_library(struct cli *cli)
{
    const char *folder = cli->operands[1];
    const struct target *target = target_find("cpu");
    const struct run_start *start;
    struct run_library library;
    struct lang *lang = lang_open(cli->arena, cli->operands[2], cli->diags);
    if (lang == NULL)
        return STATUS_INPUT;
    const char *kernel = kernel_file(cli, lang);
    const char *source =
        file_join(cli->arena, folder, arena_printf(cli->arena, "%s.c", lang_name(lang)));
    const char *header =
        file_join(cli->arena, folder, arena_printf(cli->arena, "%s.h", lang_name(lang)));
    enum status status = optimize_start(cli, kernel, target, &start);
    if (status == STATUS_OK)
        status = run_put_library(cli->arena, lang, target, start, &library, cli->diags);
    if (status == STATUS_OK)
        status = check_place(cli, source, kernel);
    if (status == STATUS_OK)
        status = file_make_folder(folder, cli->diags);
    if (status == STATUS_OK)
        status = file_write(source, library.source.data, library.source.length, cli->diags);
    if (status == STATUS_OK)
        status = file_write(header, library.header.data, library.header.length, cli->diags);
    if (status == STATUS_OK)
        show(cli, source, header, &library);
    return status;
}

/* ---- PyTorch ---- */

/* The task of a kernel: named, or the file of the same name beside it. */
static const char *
task_file(struct cli *cli, const char *kernel)
{
    size_t length = strlen(kernel);
    if (cli->operand_count > 2)
        return cli->operands[2];
    if (text_ends(kernel, ".c"))
        length -= 2;
    return arena_printf(cli->arena, "%.*s.op", (int)length, kernel);
}

static enum status
read_text(struct cli *cli, const char *path, struct source **source)
{
    *source = arena_alloc(cli->arena, sizeof **source);
    return file_read(cli->arena, path, LARGEST_TEXT, *source, cli->diags);
}

/* The program, the kernel and, with --module, the text it came from. */
static enum status
read_export(struct cli *cli, struct program **program, struct bridge_export *wish)
{
    const char *module = cli_given(cli, "module");
    struct source *kernel, *text = NULL;
    size_t number;
    enum status status = read_text(cli, cli->operands[1], &kernel);
    if (status == STATUS_OK && module != NULL)
        status = read_text(cli, module, &text);
    if (status != STATUS_OK)
        return status;
    struct lang *lang = lang_open(cli->arena, task_file(cli, cli->operands[1]), cli->diags);
    if (lang == NULL)
        return STATUS_INPUT;
    status = cli_one_case(cli, lang, &number);
    if (status != STATUS_OK)
        return status;
    *program = lang_program(lang, number, NULL, 0, cli->diags);
    wish->kernel = kernel;
    wish->module = text != NULL ? text->text : NULL;
    return *program != NULL ? STATUS_OK : STATUS_INPUT;
}

static void
show_files(struct cli *cli, const char *folder, const struct bridge_output *outputs, size_t count,
           enum bridge_form form)
{
    struct buf *out = &cli->out;
    if (cli->json) {
        buf_puts(out, "{\"folder\":");
        json_put_string(out, folder);
        buf_puts(out, ",\"files\":[");
        for (size_t i = 0; i < count; i++) {
            buf_puts(out, i ? "," : "");
            json_put_string(out, outputs[i].name);
        }
        buf_puts(out, "]}\n");
        return;
    }
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", file_join(cli->arena, folder, outputs[i].name));
    buf_puts(out, " written.\n");
    if (form == BRIDGE_PYTORCH)
        buf_printf(out, "python3 %s tests it; doc/pytorch.md says how to use it.\n",
                   file_join(cli->arena, folder, "test.py"));
}

static enum status
export_python(struct cli *cli, enum bridge_form form)
{
    struct bridge_export wish = {.form = form};
    struct bridge_output *outputs;
    struct program *program;
    size_t count;
    const char *folder = cli_given(cli, "o");
    enum status status = read_export(cli, &program, &wish);
    if (status == STATUS_OK)
        status = bridge_export(cli->arena, program, &wish, &outputs, &count, cli->diags);
    if (status != STATUS_OK)
        return status;
    if (folder == NULL)
        folder = form == BRIDGE_PYTORCH ? arena_printf(cli->arena, "%s_torch", program->name) : ".";
    status = file_make_folder(folder, cli->diags);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = file_write(file_join(cli->arena, folder, outputs[i].name), outputs[i].text,
                            strlen(outputs[i].text), cli->diags);
    if (status == STATUS_OK)
        show_files(cli, folder, outputs, count, form);
    return status;
}

enum status
verb_export(struct cli *cli)
{
    const char *form = cli->operands[0];
    if (!strcmp(form, "pytorch"))
        return export_python(cli, BRIDGE_PYTORCH);
    if (!strcmp(form, "kernelbench"))
        return export_python(cli, BRIDGE_KERNELBENCH);
    if (strcmp(form, "lib") != 0)
        return cli_wrong(cli,
                         "%s: nothing is exported so; write hone export lib DIR FILE.op, or "
                         "pytorch or kernelbench and KERNEL.c",
                         form);
    if (cli->operand_count < 3)
        return cli_wrong(cli, "what is to be in the library? write hone export lib DIR FILE.op");
    return export_library(cli);
}
