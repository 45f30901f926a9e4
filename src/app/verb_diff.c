/* hone diff: two kernels side by side, from the archive or from files. */
#include "app/archive.h"
#include "app/screen.h"
#include "app/table.h"

#include "base/diff.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "target/target.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

struct side {
    const char *name; /* "k7f3.18", or the file */
    struct diff_text text;
    const struct store_candidate *candidate; /* NULL: a file */
    const struct archive_run *run;
};

/* ---- reading ---- */

static enum status
read_kernel_file(struct cli *cli, const char *path, struct side *side)
{
    struct source source;
    enum status status =
        file_read(cli->arena, path, target_find("cpu")->limits.text_bytes, &source, cli->diags);
    if (status == STATUS_OK)
        *side = (struct side){.name = path, .text = {path, source.text, source.length}};
    return status;
}

static enum status
read_stored(struct cli *cli, struct store *store, const char *name, struct side *side)
{
    struct store_candidate *row = arena_alloc(cli->arena, sizeof *row);
    struct archive_run *run = arena_alloc(cli->arena, sizeof *run);
    const char *run_name = arena_strndup(cli->arena, name, strcspn(name, "."));
    enum status status = store_candidate_find(store, cli->arena, name, row, cli->diags);
    if (status == STATUS_OK)
        status = archive_read_run(store, cli->arena, run_name, STORE_BRIEF, run, cli->diags);
    if (status != STATUS_OK)
        return status;
    const char *full = archive_name(cli->arena, run->row.name, row->number);
    *side = (struct side){full, {full, row->kernel, row->kernel_length}, row, run};
    return STATUS_OK;
}

/* A file where there is one of that name, else a candidate. */
static enum status
read_side(struct cli *cli, struct store **store, const char *name, struct side *side)
{
    if (access(name, F_OK) == 0 || strchr(name, '/') != NULL || text_ends(name, ".c"))
        return read_kernel_file(cli, name, side);
    enum status status = *store ? STATUS_OK : archive_need(cli, STORE_READ, store);
    return status == STATUS_OK ? read_stored(cli, *store, name, side) : status;
}

/* ---- times and what was said of them ---- */

/* Of one run, or of runs whose times can be compared. */
static bool
can_compare(const struct side *a, const struct side *b)
{
    if (a->candidate == NULL || b->candidate == NULL)
        return false;
    const struct store_run *x = &a->run->row, *y = &b->run->row;
    return x->id == y->id ||
           (strcmp(x->machine_key, y->machine_key) == 0 && strcmp(x->cases, y->cases) == 0 &&
            strcmp(x->task.hash, y->task.hash) == 0 && strcmp(x->target, y->target) == 0);
}

static void
put_side(struct buf *buf, char sign, const struct side *side)
{
    if (side->candidate == NULL) {
        buf_printf(buf, "%c %s  a file: hone judge FILE.op %s tells how fast it is\n", sign,
                   side->name, side->name);
        return;
    }
    const struct store_verdict *verdict = archive_verdict(side->candidate);
    const struct store_case *timed = archive_timed(side->candidate);
    buf_printf(buf, "%c %s  %s", sign, side->name, verdict ? verdict->status : "not judged");
    if (timed != NULL)
        buf_printf(buf, "  %s [%s, %s]  %.0f %% light  (case %s)",
                   table_time(buf->arena, timed->median_us), table_time(buf->arena, timed->low_us),
                   table_time(buf->arena, timed->high_us), 100 * timed->light, timed->name);
    buf_putc(buf, '\n');
}

/* Intervals that do not meet are a difference; those that do say nothing. */
static bool
intervals_meet(const struct store_candidate *a, const struct store_candidate *b)
{
    const struct store_case *x = archive_timed(a), *y = archive_timed(b);
    return strcmp(x->name, y->name) != 0 || !(x->high_us < y->low_us || y->high_us < x->low_us);
}

static void
put_outcome(struct buf *buf, const struct side *a, const struct side *b)
{
    struct archive_comparison pair;
    if (!can_compare(a, b)) {
        if (a->candidate != NULL && b->candidate != NULL)
            buf_puts(buf, "  times of other programs, sizes or machines: not comparable\n");
        return;
    }
    const char *said = archive_against(buf->arena, a->run, b->candidate, a->candidate, a->name);
    if (said == NULL)
        return;
    bool compared = a->run->row.id == b->run->row.id &&
                    archive_comparison(a->run, a->candidate, b->candidate, &pair);
    const char *how = compared ? "measured side by side"
                      : intervals_meet(a->candidate, b->candidate)
                          ? "each measured alone, their intervals meet: hone judge tells"
                          : "each measured alone";
    buf_printf(buf, "  %s is %s (%s)\n", b->name, said, how);
}

static void
put_schedules(struct buf *buf, const struct side *a, const struct side *b)
{
    const char *old = a->candidate ? a->candidate->schedule : "";
    const char *new = b->candidate ? b->candidate->schedule : "";
    if (*old == '\0' || *new == '\0' || strcmp(old, new) == 0)
        return;
    buf_puts(buf, "schedules\n");
    diff_put_unified(buf->arena, buf, &(struct diff_text){a->name, old, strlen(old)},
                     &(struct diff_text){b->name, new, strlen(new)}, 1);
}

static void
put_screen(struct buf *buf, const struct side *a, const struct side *b)
{
    put_side(buf, '-', a);
    put_side(buf, '+', b);
    put_outcome(buf, a, b);
    put_schedules(buf, a, b);
    struct diff_count count = diff_put_unified(buf->arena, buf, &a->text, &b->text, 3);
    if (count.removed + count.added == 0)
        buf_puts(buf, "the kernels are the same, byte for byte\n");
}

/* ---- JSON ---- */

static void
put_json_side(struct buf *buf, const char *field, const struct side *side)
{
    const struct store_case *timed = side->candidate ? archive_timed(side->candidate) : NULL;
    const struct store_verdict *verdict = side->candidate ? archive_verdict(side->candidate) : NULL;
    buf_printf(buf, "\"%s\":{\"name\":", field);
    json_put_string(buf, side->name);
    json_field_string(buf, "status", verdict ? verdict->status : NULL);
    json_field_number(buf, "time_us", timed ? timed->median_us : NAN);
    json_field_number(buf, "low_us", timed ? timed->low_us : NAN);
    json_field_number(buf, "high_us", timed ? timed->high_us : NAN);
    json_field_string(buf, "schedule",
                      side->candidate && side->candidate->schedule[0] ? side->candidate->schedule
                                                                      : NULL);
    buf_putc(buf, '}');
}

static void
put_json(struct buf *buf, const struct side *a, const struct side *b)
{
    struct archive_comparison pair = {NAN, NAN, NAN, false};
    struct buf diff = buf_in(buf->arena);
    struct diff_count count = diff_put_unified(buf->arena, &diff, &a->text, &b->text, 3);
    bool compared = can_compare(a, b) && a->run->row.id == b->run->row.id &&
                    archive_comparison(a->run, a->candidate, b->candidate, &pair);
    if (!compared && can_compare(a, b))
        pair.gain = archive_gain(b->candidate, a->candidate);
    buf_putc(buf, '{');
    put_json_side(buf, "old", a);
    buf_putc(buf, ',');
    put_json_side(buf, "new", b);
    json_field_number(buf, "gain", pair.gain);
    json_field_number(buf, "gain_low", pair.low);
    json_field_number(buf, "gain_high", pair.high);
    json_field_bool(buf, "side_by_side", compared);
    json_field_bool(buf, "same", pair.same);
    json_field_number(buf, "removed", (double)count.removed);
    json_field_number(buf, "added", (double)count.added);
    json_field_string(buf, "diff", diff.length ? text_printable(diff.data) : "");
    buf_puts(buf, "}\n");
}

enum status
verb_diff(struct cli *cli)
{
    struct store *store = NULL;
    struct side a, b;
    enum status status = read_side(cli, &store, cli->operands[0], &a);
    if (status == STATUS_OK)
        status = read_side(cli, &store, cli->operands[1], &b);
    store_close(store);
    if (status != STATUS_OK)
        return status;
    if (cli->json) {
        put_json(&cli->out, &a, &b);
        return STATUS_OK;
    }
    put_screen(&cli->out, &a, &b);
    text_printable(cli->out.data);
    return STATUS_OK;
}
