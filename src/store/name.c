/* Names of runs: k7f3, m2c9. A letter, a digit, a letter, a digit: so no name is a word, `last` or
 * `best`, and none reads as a number. */
#include "store/sql_int.h"

#include "base/buf.h"

#include <ctype.h>
#include <string.h>

static const char letters[] = "abcdefghjkmnpqrstvwxyz"; /* i, l, o, u: taken for others */

enum {
    SHORTEST = 4,
    ATTEMPTS = 20, /* that many names taken in a row: longer ones, then */
    NAMES_TOLD = 4,
};

static void
draw_name(char name[STORE_NAME], size_t length)
{
    uint16_t bits[STORE_NAME];

    sqlite3_randomness(sizeof bits, bits);
    for (size_t i = 0; i < length; i++)
        name[i] = i % 2 ? (char)('0' + bits[i] % 10) : letters[bits[i] % (sizeof letters - 1)];
    name[length] = '\0';
}

static bool
is_taken(struct store *store, const char *name)
{
    struct sql sql = sql_prepare(store, "SELECT 1 FROM run WHERE name = ?1 UNION ALL"
                                        " SELECT 1 FROM bench WHERE name = ?1");
    bool taken;

    sql_text(&sql, name);
    taken = sql_row(&sql);
    sql_end(&sql);
    return taken;
}

void
store__new_name(struct store *store, char name[STORE_NAME])
{
    unsigned attempt = 0;

    do {
        size_t length = SHORTEST + 2 * (attempt++ / ATTEMPTS);

        draw_name(name, length < STORE_NAME - 1 ? length : STORE_NAME - 2);
    } while (is_taken(store, name));
}

/* ---- finding ---- */

static int64_t
last_run(struct store *store, const char **why)
{
    int64_t id = sql_number(store, "SELECT max(id) FROM run");

    *why = "last: there are no runs yet; hone optimize FILE.op makes one";
    return id;
}

static int64_t
best_run(struct store *store, struct arena *arena, const char **why)
{
    int64_t last = last_run(store, why), id = 0;
    struct sql sql;

    if (last == 0)
        return 0;
    sql =
        sql_prepare(store, "SELECT r.id FROM run AS l JOIN task AS lt ON lt.id = l.task"
                           " JOIN task AS t ON t.hash = lt.hash JOIN run AS r ON r.task = t.id"
                           " JOIN last_verdict AS v ON v.candidate = r.leader"
                           " WHERE l.id = ? AND r.target = l.target AND r.cases = l.cases"
                           " AND r.machine_key = l.machine_key AND v.status = 'correct' AND v.whole"
                           " AND v.time_us > 0 ORDER BY v.time_us, r.id LIMIT 1");
    sql_int(&sql, last);
    if (sql_row(&sql))
        id = sql_get_int(&sql);
    sql_end(&sql);
    sql = sql_prepare(store,
                      "SELECT t.name FROM run AS r JOIN task AS t ON t.id = r.task WHERE r.id = ?");
    sql_int(&sql, last);
    *why = arena_printf(arena, "best: no run of %s has a correct kernel; hone show lists the runs",
                        sql_row(&sql) ? sql_get_text(&sql, arena) : "the task");
    sql_end(&sql);
    return id;
}

static const char *
lower(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);

    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

/* The row whose name begins so, if it is the only one. The query gives the id, whether it is the
 * whole name, and the name; its value is the beginning in lower case. */
static int64_t
find_by_prefix(struct store *store, struct arena *arena, const char *query, const char *noun,
               const char *where, const char *name, const char **why)
{
    struct buf others = buf_in(arena);
    int64_t id = 0;
    size_t count = 0;
    bool whole = false; /* a name may also begin a longer one */
    struct sql sql = sql_prepare(store, query);

    sql_text(&sql, lower(arena, name));
    for (; !whole && sql_row(&sql); count++) {
        id = sql_get_int(&sql);
        whole = sql_get_int(&sql) != 0;
        if (count < NAMES_TOLD)
            buf_printf(&others, "%s%s", count ? ", " : "", sql_get_text(&sql, arena));
    }
    sql_end(&sql);
    if (count == 1)
        return id;
    if (count == 0)
        *why = arena_printf(arena, "%s: no %s has that name; %s", *name ? name : "''", noun, where);
    else
        *why = arena_printf(arena, "%s: %zu %ss have names that begin so: %s%s; write more of it",
                            name, count, noun, others.data, count > NAMES_TOLD ? " ..." : "");
    return 0;
}

/* '~' comes after all that names are made of. */
#define BY_PREFIX " WHERE name >= ?1 AND name < ?1 || '~' AND ?1 <> '' ORDER BY name <> ?1, id DESC"

int64_t
store__run_named(struct store *store, struct arena *arena, const char *name, const char **why)
{
    if (strcmp(name, "last") == 0)
        return last_run(store, why);
    if (strcmp(name, "best") == 0)
        return best_run(store, arena, why);
    return find_by_prefix(store, arena, "SELECT id, name = ?1, name FROM run" BY_PREFIX, "run",
                          "hone show lists them", name, why);
}

int64_t
store__bench_named(struct store *store, struct arena *arena, const char *name, const char **why)
{
    if (strcmp(name, "last") == 0) {
        *why = "last: there are no benchmarks yet; hone bench SUITE makes one";
        return sql_number(store, "SELECT max(id) FROM bench");
    }
    return find_by_prefix(store, arena, "SELECT id, name = ?1, name FROM bench" BY_PREFIX,
                          "benchmark", "hone bench prints it with its summary", name, why);
}
