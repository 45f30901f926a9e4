/* What earlier runs found that a new one need not find again. */
#include "store/sql_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- earlier schedules ---- */

enum {
    WALKED = 1000, /* times of one setting that are looked at: one schedule may fill thousands */
};

static const char offers_query[] =
    "SELECT quote(c.schedule), c.schedule, t.hash, t.name, k.name, k.median_us, k.light, r.name,"
    " c.number FROM verdict_case AS k JOIN verdict AS v ON v.id = k.verdict"
    " JOIN candidate AS c ON c.id = v.candidate JOIN run AS r ON r.id = c.run"
    " JOIN task AS t ON t.id = r.task"
    " WHERE k.setting = ? AND k.offered ORDER BY k.median_us, k.id LIMIT ?";

struct offers {
    struct arena *arena;
    struct store_answer *answers;
    size_t count;
};

static void
read_answer(struct sql *sql, struct arena *arena, struct store_answer *answer)
{
    answer->schedule = sql_get_kept(sql, arena);
    answer->task_hash = sql_get_text(sql, arena);
    answer->task_name = sql_get_text(sql, arena);
    answer->case_name = sql_get_text(sql, arena);
    answer->time_us = sql_get_real(sql);
    answer->light = sql_get_real(sql);
    sql_get_name(sql, answer->run);
    answer->number = sql_get_int(sql);
}

static bool
is_among(const char *const *texts, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

/* The fastest few of a setting: a long run at one size must not crowd out the others. A schedule
 * that was tried several times counts once. */
static void
add_fastest(struct offers *offers, struct sql *sql, int64_t setting, const char *sizes, size_t each)
{
    const char **taken = arena_array(offers->arena, each, sizeof *taken);
    size_t count = 0;

    sql_again(sql);
    sql_int(sql, setting);
    sql_int(sql, WALKED);
    while (count < each && sql_row(sql)) {
        struct store_answer *answer;
        const char *quoted = sql_get_text(sql, offers->arena);

        if (is_among(taken, count, quoted))
            continue;
        taken[count++] = quoted;
        offers->answers =
            store__room_for(offers->arena, offers->answers, offers->count, sizeof *answer);
        answer = &offers->answers[offers->count++];
        read_answer(sql, offers->arena, answer);
        answer->sizes = sizes;
    }
}

/* Nearest to the speed of light first, those without one last. */
static int
by_light(const void *left, const void *right)
{
    const struct store_answer *a = left, *b = right;
    double la = isnan(a->light) ? -1 : a->light, lb = isnan(b->light) ? -1 : b->light;
    int names = strcmp(a->run, b->run);

    if (la != lb)
        return la > lb ? -1 : 1;
    if (a->time_us != b->time_us)
        return a->time_us < b->time_us ? -1 : 1;
    return names ? names : (a->number > b->number) - (a->number < b->number);
}

static void
read_offers(struct store *store, const struct store_question *question, struct offers *offers)
{
    size_t each = question->each ? question->each : 1;
    struct sql fastest = sql_prepare(store, offers_query);
    struct sql settings = sql_prepare(store, "SELECT id, sizes FROM setting WHERE family IN (?, ?)"
                                             " AND target = ? AND machine_key = ?");

    sql_text(&settings, question->family);
    sql_text(&settings, question->task_hash);
    sql_text(&settings, question->target);
    sql_text(&settings, question->machine_key);
    while (sql_row(&settings)) {
        int64_t setting = sql_get_int(&settings);

        add_fastest(offers, &fastest, setting, sql_get_text(&settings, offers->arena),
                    each < WALKED ? each : WALKED);
    }
    sql_end(&settings);
    sql_end(&fastest);
}

enum status
store_earlier(struct store *store, struct arena *arena, const struct store_question *question,
              struct store_answer **answers, size_t *count, struct diags *diags)
{
    struct offers offers = {.arena = arena};

    store__enter(store, SQL_READS);
    read_offers(store, question, &offers);
    if (offers.count)
        qsort(offers.answers, offers.count, sizeof *offers.answers, by_light);
    *answers = offers.answers;
    *count = question->most && question->most < offers.count ? question->most : offers.count;
    return store__leave(store, diags);
}

/* ---- never twice ---- */

/* A verdict without cases was reached before any case mattered. */
static const char judged_query[] =
    "SELECT v.id, c.id FROM candidate AS c JOIN run AS r ON r.id = c.run"
    " JOIN task AS t ON t.id = r.task JOIN verdict AS v ON v.candidate = c.id"
    " WHERE c.kernel_hash = ? AND t.hash = ? AND r.target = ? AND r.machine_key = ?"
    " AND (EXISTS (SELECT 1 FROM verdict_case AS k JOIN setting AS s ON s.id = k.setting"
    "  WHERE k.verdict = v.id AND s.sizes = ?)"
    "  OR NOT EXISTS (SELECT 1 FROM verdict_case WHERE verdict = v.id))"
    " ORDER BY v.id DESC LIMIT 1";

enum status
store_verdict_find(struct store *store, struct arena *arena, const struct store_key *key,
                   struct store_candidate *candidate, struct store_verdict *verdict,
                   struct diags *diags)
{
    int64_t id = 0, owner = 0;
    struct sql sql;

    *candidate = (struct store_candidate){0};
    *verdict = (struct store_verdict){0};
    store__enter(store, SQL_READS);
    sql = sql_prepare(store, judged_query);
    sql_text(&sql, key->kernel_hash);
    sql_text(&sql, key->task_hash);
    sql_text(&sql, key->target);
    sql_text(&sql, key->machine_key);
    sql_text(&sql, key->sizes);
    if (sql_row(&sql)) {
        id = sql_get_int(&sql);
        owner = sql_get_int(&sql);
    }
    sql_end(&sql);
    store__read_candidate(store, arena, owner, STORE_WHOLE, candidate);
    for (size_t i = 0; i < candidate->verdict_count; i++)
        if (candidate->verdicts[i].id == id)
            *verdict = candidate->verdicts[i];
    return store__leave_found(store, id != 0, diags);
}
