/* hone contract: what a kernel for a target must look like. */
#include "app/cli.h"

#include <string.h>

#include "base/json.h"
#include "lang/lang.h"
#include "libhone/face.h"
#include "target/target.h"

/* ---- the task ---- */

struct task {
    const struct program **programs; /* one for each case */
    size_t count, shown;
};

static enum status
open_task(struct cli *cli, const struct target *target, struct task *task)
{
    struct lang *lang = lang_open(cli->arena, cli->operands[1], cli->diags);
    if (lang == NULL)
        return STATUS_INPUT;
    task->count = lang_case_count(lang);
    task->programs = arena_array(cli->arena, task->count, sizeof *task->programs);
    for (size_t i = 0; i < task->count; i++) {
        task->programs[i] = lang_program(lang, i, NULL, 0, cli->diags);
        if (task->programs[i] == NULL)
            return STATUS_INPUT;
    }
    const char *reason = target_supports(cli->arena, target, task->programs[0]);
    if (reason != NULL)
        return cli_wrong(cli, "%s: %s cannot run it: %s", cli->operands[1], target->name, reason);
    return cli_one_case(cli, lang, &task->shown);
}

/* ---- JSON ---- */

static void
put_field(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, ",\"%s\":", name);
    json_put_string(out, text);
}

static void
put_list(struct buf *out, const char *name, const char *const *texts)
{
    buf_printf(out, ",\"%s\":[", name);
    for (const char *const *text = texts; text && *text; text++) {
        buf_puts(out, text == texts ? "" : ",");
        json_put_string(out, *text);
    }
    buf_putc(out, ']');
}

static void
put_flags(struct buf *out, const struct target_flag *flags)
{
    buf_puts(out, ",\"allowed_flags\":[");
    for (const struct target_flag *flag = flags; flag && flag->text; flag++) {
        struct buf text = buf_in(out->arena);
        target_put_flag(&text, flag);
        buf_puts(out, flag == flags ? "" : ",");
        json_put_string(out, text.data);
    }
    buf_putc(out, ']');
}

static void
put_symbols(struct buf *out, const struct target_symbols *symbols)
{
    buf_puts(out, ",\"symbols\":[");
    for (const struct target_symbols *row = symbols; row && row->what; row++) {
        buf_printf(out, "%s{\"what\":", row == symbols ? "" : ",");
        json_put_string(out, row->what);
        put_field(out, "names", row->names);
        put_field(out, "suffixes", row->suffixes ? row->suffixes : "");
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void
put_limits(struct buf *out, const struct target_limits *limits)
{
    buf_printf(out,
               ",\"limits\":{\"text_bytes\":%zu,\"scratch_bytes\":%zu,\"stack_bytes\":%zu,"
               "\"alignment\":%zu}",
               limits->text_bytes, limits->scratch_bytes, limits->stack_bytes, limits->alignment);
}

static void
put_macros(struct buf *out, const struct program *program)
{
    buf_puts(out, ",\"macros\":{");
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(out, "%s\"%s\":%lld", i ? "," : "", program->dims[i].name,
                   (long long)program->dims[i].size);
    for (size_t i = 0; i < program->const_count; i++)
        buf_printf(out, "%s\"%s\":%lld", i + program->dim_count ? "," : "", program->const_names[i],
                   (long long)program->const_values[i]);
    buf_putc(out, '}');
}

static void
put_task(struct buf *out, const struct target *target, const struct task *task)
{
    const struct program *shown = task->programs[task->shown];
    struct buf signature = buf_in(out->arena), prelude = buf_in(out->arena);
    put_field(out, "op", shown->name);
    put_field(out, "case", shown->case_name);
    if (target->signature) {
        target->signature(&signature, shown);
        put_field(out, "signature", signature.data);
    }
    if (target->prelude) {
        target_put_prelude(&prelude, target, shown);
        put_field(out, "prelude", prelude.data);
    }
    buf_puts(out, ",\"cases\":[");
    for (size_t i = 0; i < task->count; i++) {
        buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
        json_put_string(out, task->programs[i]->case_name);
        put_macros(out, task->programs[i]);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void
put_json(struct buf *out, const struct target *target, const struct task *task)
{
    struct buf rules = buf_in(out->arena);
    target_contract(&rules, target, NULL, 0, 0);
    buf_puts(out, "{\"target\":");
    json_put_string(out, target->name);
    put_field(out, "summary", target->summary);
    put_field(out, "entry", target->entry);
    put_field(out, "suffix", target->suffix);
    put_field(out, "compiler", target->compiler ? target->compiler : "");
    put_list(out, "flags", target->defaults);
    put_list(out, "service_flags", target->service);
    put_flags(out, target->flags);
    put_symbols(out, target->symbols);
    put_limits(out, &target->limits);
    put_field(out, "contract", rules.data);
    if (task->count > 0)
        put_task(out, target, task);
    buf_puts(out, "}\n");
}

/* ---- the verb ---- */

static void
put_targets(struct buf *out, bool json)
{
    buf_puts(out, json ? "{\"targets\":[" : "");
    for (size_t i = 0; targets[i]; i++) {
        if (!json) {
            buf_printf(out, "  %-8s %s\n", targets[i]->name, targets[i]->summary);
            continue;
        }
        buf_puts(out, i ? ",{\"target\":" : "{\"target\":");
        json_put_string(out, targets[i]->name);
        put_field(out, "summary", targets[i]->summary);
        buf_putc(out, '}');
    }
    buf_puts(out, json ? "]}\n" : "hone contract TARGET prints what its kernels must look like.\n");
}

static enum status
no_target(struct cli *cli, const char *name)
{
    struct buf list = buf_in(cli->arena);
    const char *near = target_nearest(name);
    if (near != NULL)
        return cli_wrong(cli, "%s: no such target; did you mean %s?", name, near);
    for (size_t i = 0; targets[i]; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", targets[i]->name);
    return cli_wrong(cli, "%s: no such target; there is %s", name, list.data);
}

/* A header of some target, by its name; NULL if there is none. */
static const struct target_file *
find_header(const char *name)
{
    for (size_t i = 0; targets[i]; i++)
        for (const struct target_file *file = targets[i]->files; file && file->name; file++)
            if (!strcmp(file->name, name))
                return file;
    return NULL;
}

static enum status
show_header(struct cli *cli, const struct target_file *file)
{
    if (cli->operand_count > 1)
        return cli_wrong(cli, "%s: a header has no task; write hone contract %s", cli->operands[1],
                         file->name);
    if (!cli->json) {
        buf_puts(&cli->out, file->text);
        return STATUS_OK;
    }
    buf_puts(&cli->out, "{\"header\":");
    json_put_string(&cli->out, file->name);
    put_field(&cli->out, "text", file->text);
    buf_puts(&cli->out, "}\n");
    return STATUS_OK;
}

enum status
verb_contract(struct cli *cli)
{
    struct task task = {0};
    if (cli->operand_count < 2 && cli_given(cli, "case"))
        return cli_wrong(cli,
                         "--case belongs to a task; write hone contract TARGET FILE.op --case");
    if (cli->operand_count == 0) {
        put_targets(&cli->out, cli->json);
        return STATUS_OK;
    }
    const struct target *target = target_find(cli->operands[0]);
    if (target == NULL && find_header(cli->operands[0]) != NULL)
        return show_header(cli, find_header(cli->operands[0]));
    if (target == NULL)
        return no_target(cli, cli->operands[0]);
    enum status status = cli->operand_count > 1 ? open_task(cli, target, &task) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    if (cli->json) {
        put_json(&cli->out, target, &task);
        return STATUS_OK;
    }
    target_contract(&cli->out, target, task.programs, task.count, task.shown);
    if (cli->operand_count > 1)
        buf_puts(&cli->out, "\nThe right answers and their tolerance:  hone task FILE.op --eval\n");
    else
        buf_printf(&cli->out,
                   "\nThe macros and the prototype of a task:  hone contract %s FILE.op\n",
                   target->name);
    return STATUS_OK;
}
