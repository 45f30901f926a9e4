/* hone export: what was found, in the form that others use. */
#include "app/optimize.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"

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

enum status
verb_export(struct cli *cli)
{
    if (strcmp(cli->operands[0], "lib") != 0)
        return cli_wrong(cli, "%s: nothing is exported so; write hone export lib DIR FILE.op",
                         cli->operands[0]);
    return export_library(cli);
}
