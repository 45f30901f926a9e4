/* hone schedule: how stages become loops. */
#include "app/schedule.h"

#include <string.h>

#include "app/judge.h"
#include "base/file.h"
#include "base/json.h"

/* ---- this machine ---- */

static void
add_figures(struct coder_machine *machine, const struct measure_figures *figures)
{
    machine->gflops = figures->gflops_f32[MEASURE_ONE];
    for (unsigned i = 0; i < figures->level_count; i++) {
        const char *name = figures->level[i].name;
        double one = figures->level[i].gbs[MEASURE_ONE];
        if (!strcmp(name, "L2"))
            machine->l2_gbs = one;
        else if (!strcmp(name, "L3"))
            machine->l3_gbs = one;
        else if (!strcmp(name, "memory")) {
            machine->memory_gbs = one;
            machine->memory_gbs_all = figures->level[i].gbs[MEASURE_ALL];
        }
    }
    for (unsigned op = 0; op < OP_COUNT; op++)
        machine->function_ns[op] = figures->function_ns[op] * machine->threads;
}

void
schedule_machine(struct arena *arena, struct coder_machine *machine, struct measure_facts *facts)
{
    struct measure_kept kept;
    measure_facts_read(arena, facts);
    *machine = (struct coder_machine){
        .vector_bytes = facts->vector_bits >= 128 ? facts->vector_bits / 8 : 16,
        .registers = facts->vector_registers ? facts->vector_registers : 16,
        .threads = facts->threads,
        .l1 = 32768,
        .l2 = 524288};
    for (unsigned i = 0; i < facts->cache_count; i++) {
        if (facts->cache[i].level == 1)
            machine->l1 = (int64_t)facts->cache[i].bytes;
        if (facts->cache[i].level == 2)
            machine->l2 = (int64_t)facts->cache[i].bytes;
        if (facts->cache[i].level == 3)
            machine->l3 = (int64_t)facts->cache[i].all_bytes;
    }
    measure_kept_read(arena, &kept);
    if (kept.whole)
        add_figures(machine, &kept.figures);
}

void
schedule_set_width(struct coder_machine *machine, unsigned bytes)
{
    machine->gflops = machine->gflops * bytes / machine->vector_bytes;
    machine->vector_bytes = bytes;
    machine->registers = bytes == 64 ? 32 : 16;
}

static enum status
read_width(struct cli *cli, struct coder_machine *machine)
{
    static const char *const widths[] = {"128", "256", "512"};
    const char *text = cli_given(cli, "width");
    if (text == NULL)
        return STATUS_OK;
    for (unsigned i = 0; i < sizeof widths / sizeof *widths; i++)
        if (!strcmp(text, widths[i])) {
            schedule_set_width(machine, 16u << i);
            return STATUS_OK;
        }
    return cli_wrong(cli, "--width %s: write 128, 256 or 512", text);
}

/* ---- its text ---- */

static enum status
read_lines(struct cli *cli, struct source *source)
{
    const char *file = cli_given(cli, "file");
    const char *lines = cli->operand_count > 1 ? cli->operands[1] : NULL;
    *source = (struct source){0};
    if (file != NULL && lines != NULL)
        return cli_wrong(cli, "--file %s and lines: write one of them", file);
    if (file != NULL)
        return file_read(cli->arena, file, LANG_MAX_FILE, source, cli->diags);
    if (lines != NULL && !strcmp(lines, "-"))
        return cli_stdin(cli, source);
    if (lines != NULL)
        *source = (struct source){"schedule", lines, strlen(lines)};
    return STATUS_OK;
}

static const char *const *
case_names(struct arena *arena, const struct lang *lang)
{
    size_t count = lang_case_count(lang);
    const char **names = arena_array(arena, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = lang_case_name(lang, i);
    return names;
}

static enum status
read_schedule(struct cli *cli, const struct lang *lang, struct source *source,
              struct schedule_view *view)
{
    struct coder_options options = {.vector_bytes = view->machine.vector_bytes,
                                    .cases = case_names(cli->arena, lang)};
    if (view->program->foreign != NULL)
        return cli_wrong(cli, "%s: it has a reference in C and no stages to schedule",
                         cli->operands[0]);
    view->usual = source->path == NULL;
    if (view->usual) {
        struct coder_genome genome = {{0}};
        struct coder_space *space = coder_space_open(cli->arena, view->program, &view->machine);
        const char *text = coder_sketch(space, &genome).text;
        *source = (struct source){"schedule", text, strlen(text)};
    }
    if (source->text == NULL)
        source->text = "";
    view->schedule = coder_read(cli->arena, view->program, source, &options, cli->diags);
    view->kernel = buf_in(cli->arena);
    /* some of what is illegal shows only when it is carried out */
    return view->schedule != NULL &&
                   coder_emit(&view->kernel, cli->arena, view->schedule, cli->diags)
               ? STATUS_OK
               : STATUS_INPUT;
}

/* ---- the verb ---- */

static enum status
emit(struct cli *cli, struct lang *lang, size_t number, const struct schedule_view *view)
{
    const struct buf *text = &view->kernel;
    if (cli_given(cli, "judge"))
        return judge_text(cli, lang, number, arena_printf(cli->arena, "%s.c", view->program->name),
                          text->data, text->length);
    if (cli->json) {
        buf_puts(&cli->out, "{\"kernel\":");
        json_put_string(&cli->out, text->data);
        buf_puts(&cli->out, "}\n");
    } else
        buf_add(&cli->out, text->data, text->length);
    return STATUS_OK;
}

enum status
verb_schedule(struct cli *cli)
{
    struct schedule_view view = {0};
    struct measure_facts facts;
    struct source *source = arena_alloc(cli->arena, sizeof *source);
    size_t number;
    if (cli_given(cli, "emit") && cli_given(cli, "judge"))
        return cli_wrong(cli, "--emit and --judge: write one of them");
    schedule_machine(cli->arena, &view.machine, &facts);
    enum status status = read_width(cli, &view.machine);
    if (status == STATUS_OK)
        status = read_lines(cli, source);
    if (status != STATUS_OK)
        return status;
    struct lang *lang = lang_open(cli->arena, cli->operands[0], cli->diags);
    if (lang == NULL)
        return STATUS_INPUT;
    status = cli_one_case(cli, lang, &number);
    if (status != STATUS_OK)
        return status;
    view.program = lang_program(lang, number, NULL, 0, cli->diags);
    status = view.program != NULL ? read_schedule(cli, lang, source, &view) : STATUS_INPUT;
    if (status != STATUS_OK)
        return status;
    if (cli_given(cli, "emit") || cli_given(cli, "judge"))
        return emit(cli, lang, number, &view);
    if (cli->json)
        schedule_json(&cli->out, &view);
    else
        schedule_screen(&cli->out, &view, cli->verbosity);
    return STATUS_OK;
}
