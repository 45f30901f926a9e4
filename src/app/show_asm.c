/* `hone show RUN.N --asm`: the hot loop of a candidate. The archive keeps texts, no objects: it is
 * compiled again, in the box, for nobody knows who wrote it. */
#include "app/schedule.h"
#include "app/show.h"

#include "base/json.h"
#include "box/box.h"
#include "profile/profile.h"

#include <string.h>

enum { MOST_FIGURES = 8 };

/* The case that it was drafted for, else the first that it was timed in or checked with. */
static const char *
case_of(const struct show_candidate *shown)
{
    const struct store_candidate *candidate = shown->candidate;
    const struct store_verdict *verdict = archive_verdict(candidate);
    const struct store_case *timed = archive_timed(candidate);
    if (archive_is_draft(shown->run, candidate))
        return candidate->phase;
    if (timed != NULL)
        return timed->name;
    return verdict != NULL && verdict->case_count > 0 ? verdict->cases[0].name : "default";
}

static enum status
make_profile(struct cli *cli, const struct show_candidate *shown, struct profile_options *options,
             struct profile *profile)
{
    const struct store_candidate *candidate = shown->candidate;
    struct coder_machine machine;
    struct measure_facts facts;
    struct box *box = NULL;
    schedule_machine(cli->arena, &machine, &facts);
    options->registers = machine.registers;
    options->vector_bytes = machine.vector_bytes;
    enum status status = box_open(NULL, &box, cli->diags);
    options->box = box;
    if (status == STATUS_OK)
        status = profile_kernel(
            cli->arena, arena_strndup(cli->arena, candidate->kernel, candidate->kernel_length),
            options, profile, cli->diags);
    box_close(box);
    return status;
}

static void
put_lines(struct buf *out, const char *lines)
{
    for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        buf_printf(out, "  %.*s\n", (int)length, lines);
    }
}

static void
put_screen(struct buf *out, const char *name, const char *case_name, const struct profile *profile,
           const struct profile_options *options)
{
    buf_printf(out, "%s  case %s, ", name, case_name);
    if (*profile->hot_loop)
        buf_printf(out, "hot loop as %s makes it here (at most 40 lines)\n",
                   options->target->compiler);
    else
        buf_puts(out, "no loop was found\n");
    put_lines(out, profile->hot_loop);
    profile_put(out, profile, options, MOST_FIGURES);
}

static void
put_json(struct buf *out, const char *name, const char *case_name, const struct profile *profile)
{
    buf_puts(out, "{\"candidate\":");
    json_put_string(out, name);
    json_field_string(out, "case", case_name);
    json_field_string(out, "hot_loop", profile->hot_loop);
    buf_puts(out, ",\"figures\":{");
    for (size_t i = 0; i < profile->figure_count; i++)
        buf_printf(out, "%s\"%s\":%.9g", i ? "," : "", profile->figures[i].name,
                   profile->figures[i].value);
    buf_puts(out, "}");
    json_field_string(out, "missing", profile->missing);
    buf_puts(out, "}\n");
}

enum status
show_asm(struct cli *cli, const struct show_candidate *shown)
{
    const struct store_run *run = &shown->run->row;
    const char *name = archive_name(cli->arena, run->name, shown->candidate->number);
    const char *case_name = case_of(shown);
    struct diags *ours = diags_create(cli->arena, 1);
    struct profile_options options = {.target = target_find(run->target)};
    struct profile profile;
    options.program = archive_program(cli->arena, run, case_name, ours);
    if (options.target == NULL || options.program == NULL)
        return cli_wrong(cli,
                         "%s: its program cannot be read again from the archive (%s); --code shows "
                         "the kernel",
                         name, diags_count(ours) ? diags_get(ours, 0)->message : "no such case");
    enum status status = make_profile(cli, shown, &options, &profile);
    if (status == STATUS_NO)
        return cli_wrong(cli, "%s: there is no machine code: %s", name, profile.missing);
    if (status != STATUS_OK)
        return status;
    if (cli->json)
        put_json(&cli->out, name, case_name, &profile);
    else
        put_screen(&cli->out, name, case_name, &profile, &options);
    return STATUS_OK;
}
