/* Verdicts, with what follows from them: who leads the run, which schedules later runs are offered.
 * No memory is asked of an arena while a transaction that writes is open. */
#include "store/sql_int.h"

#include <math.h>
#include <string.h>

static double
middle_of(const struct store_verdict *verdict)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < verdict->case_count; i++)
        if (verdict->cases[i].median_us > 0) {
            sum += log(verdict->cases[i].median_us);
            count++;
        }
    return count ? exp(sum / (double)count) : NAN;
}

/* ---- where it was measured ---- */

#define SETTING \
    " FROM candidate AS c JOIN run AS r ON r.id = c.run JOIN task AS t ON t.id = r.task "

static int64_t
find_setting(struct store *store, int64_t candidate, const char *sizes)
{
    struct sql sql =
        sql_prepare(store, "SELECT s.id" SETTING "JOIN setting AS s ON s.family = t.family"
                           " AND s.target = r.target AND s.machine_key = r.machine_key"
                           " AND s.task_hash = t.hash AND s.sizes = ?2 WHERE c.id = ?1");
    int64_t id;

    sql_int(&sql, candidate);
    sql_text(&sql, sizes);
    id = sql_row(&sql) ? sql_get_int(&sql) : 0;
    sql_end(&sql);
    return id;
}

/* Program, target, machine and sizes: times of one setting can be compared. */
static int64_t
setting_of(struct store *store, int64_t candidate, const char *sizes)
{
    int64_t id = find_setting(store, candidate, sizes);
    struct sql sql;

    if (id != 0)
        return id;
    sql = sql_prepare(store, "INSERT INTO setting (family, target, machine_key, task_hash, sizes)"
                             " SELECT t.family, r.target, r.machine_key, t.hash, ?2" SETTING
                             "WHERE c.id = ?1");
    sql_int(&sql, candidate);
    sql_text(&sql, sizes);
    sql_run(&sql);
    return sql_last_id(store);
}

/* ---- cases ---- */

static void
add_speedups(struct store *store, const struct store_case *row, int64_t id)
{
    struct sql sql =
        sql_prepare(store, "INSERT INTO speedup (verdict_case, place, baseline, factor)"
                           " VALUES (?, ?, ?, ?)");

    for (size_t i = 0; i < row->speedup_count; i++) {
        sql_again(&sql);
        sql_int(&sql, id);
        sql_int(&sql, (int64_t)i);
        sql_text(&sql, row->speedups[i].baseline);
        sql_real(&sql, row->speedups[i].factor);
        sql_row(&sql);
    }
    sql_end(&sql);
}

/* Of whom a verdict is. */
struct judged {
    int64_t candidate, run;
    bool schedule; /* else it is source */
    bool before;   /* it was judged before */
};

static bool
is_correct(const struct store_verdict *verdict)
{
    return verdict->status && strcmp(verdict->status, "correct") == 0;
}

static void
add_case(struct store *store, const struct judged *of, const struct store_verdict *verdict,
         size_t place)
{
    const struct store_case *row = &verdict->cases[place];
    const double figures[] = {row->median_us, row->min_us, row->low_us,
                              row->high_us,   row->light,  row->error_over_gate};
    bool offered = of->schedule && row->median_us > 0 && is_correct(verdict);
    int64_t setting = setting_of(store, of->candidate, row->sizes);
    struct sql sql =
        sql_prepare(store, "INSERT INTO verdict_case (verdict, place, name, setting, median_us,"
                           " min_us, low_us, high_us, light, error_over_gate, offered)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

    sql_int(&sql, verdict->id);
    sql_int(&sql, (int64_t)place);
    sql_text(&sql, row->name);
    sql_int(&sql, setting);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        sql_real(&sql, figures[i]);
    sql_int(&sql, offered);
    sql_run(&sql);
    add_speedups(store, row, sql_last_id(store));
}

/* ---- verdicts ---- */

static struct judged
find_judged(struct store *store, int64_t candidate)
{
    struct judged of = {.candidate = candidate};
    struct sql sql = sql_prepare(store, "SELECT run, kind = 'schedule', EXISTS (SELECT 1 FROM"
                                        " verdict WHERE candidate = c.id)"
                                        " FROM candidate AS c WHERE id = ?");

    sql_int(&sql, candidate);
    if (sql_row(&sql)) {
        of.run = sql_get_int(&sql);
        of.schedule = sql_get_int(&sql) != 0;
        of.before = sql_get_int(&sql) != 0;
    }
    sql_end(&sql);
    return of;
}

static void
add_verdict(struct store *store, struct store_verdict *verdict, int64_t candidate)
{
    struct sql sql = sql_prepare(store, "INSERT INTO verdict (candidate, status, reason, whole,"
                                        " time_us, judged, json) VALUES (?, ?, ?, ?, ?, ?, ?)");

    sql_int(&sql, candidate);
    sql_text(&sql, verdict->status);
    sql_kept(&sql, verdict->reason);
    sql_int(&sql, verdict->whole);
    sql_real(&sql, verdict->time_us > 0 ? verdict->time_us : middle_of(verdict));
    sql_real(&sql, verdict->judged);
    sql_kept(&sql, verdict->json);
    sql_run(&sql);
    verdict->id = sql_last_id(store);
}

/* Only the last verdict counts. */
static void
withdraw_offers(struct store *store, int64_t candidate)
{
    struct sql sql = sql_prepare(store, "UPDATE verdict_case SET offered = 0 WHERE offered AND"
                                        " verdict IN (SELECT id FROM verdict WHERE candidate = ?)");

    sql_int(&sql, candidate);
    sql_run(&sql);
}

static void
count_verdict(struct store *store, const struct judged *of, double judged)
{
    struct sql sql = sql_prepare(store, "UPDATE run SET verdicts = verdicts + 1, evaluations ="
                                        " evaluations + ?, seen = max(seen, ?) WHERE id = ?");

    sql_int(&sql, of->before ? 0 : 1);
    sql_real(&sql, judged);
    sql_int(&sql, of->run);
    sql_run(&sql);
}

enum status
store_verdict_add(struct store *store, int64_t candidate, struct store_verdict *verdict,
                  struct diags *diags)
{
    struct judged of;

    store__enter(store, SQL_WRITES);
    of = find_judged(store, candidate);
    if (of.before)
        withdraw_offers(store, candidate);
    add_verdict(store, verdict, candidate);
    for (size_t i = 0; i < verdict->case_count; i++)
        add_case(store, &of, verdict, i);
    count_verdict(store, &of, verdict->judged);
    store__lead(store, of.run, candidate);
    return store__leave(store, diags);
}
