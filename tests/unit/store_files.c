/* Files that are no archives, damaged ones, older and newer schemas. */
#include "store_unit.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/rng.h"
#include "store_version1.h"
#include "store_version2.h"
#include "store_version3.h"
#include "store_version4.h"

static enum status
try_open(struct unit *unit, const char *path)
{
    struct store *store;
    enum status status = store_open(path, &store_unit_options, &store, unit->diags);

    store_close(store);
    return status;
}

/* ---- not ours ---- */

static void
other_files_are_left_alone(void **state)
{
    static const char text[] = "op softmax\ndim R=1024, N=4096\nin X: f32[R,N]\nM[r] = max[j](X)\n";
    struct unit *unit = *state;
    struct source before, after;

    store_unit_must(unit, file_write("softmax.op", text, sizeof text - 1, unit->diags));
    assert_int_equal(try_open(unit, "softmax.op"), STATUS_INPUT);
    store_unit_says(unit, "softmax.op: is no archive; name another file with --archive FILE");
    store_unit_must(unit, file_read(unit->arena, "softmax.op", 4096, &after, unit->diags));
    assert_string_equal(after.text, text);

    store_unit_execute("other.db", "CREATE TABLE bookmark (url TEXT)");
    store_unit_must(unit, file_read(unit->arena, "other.db", 1 << 20, &before, unit->diags));
    assert_int_equal(try_open(unit, "other.db"), STATUS_INPUT);
    store_unit_says(unit, "other.db: is a database of another program");
    store_unit_must(unit, file_read(unit->arena, "other.db", 1 << 20, &after, unit->diags));
    assert_int_equal(after.length, before.length);
    assert_memory_equal(after.text, before.text, before.length);
}

static void
an_empty_file_becomes_one(void **state)
{
    struct unit *unit = *state;

    store_unit_must(unit, file_write("archive.db", "", 0, unit->diags));
    store_close(store_unit_open(unit));
    assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA journal_mode"), "wal");
    assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA application_id"), "1215262309");
}

/* ---- damaged ---- */

static void
read_the_rest(struct store *store, struct arena *arena, int64_t run, struct diags *diags)
{
    const struct store_likeness likeness = {.text = "tile kernel", .features = "f32"};
    struct store_call *calls, call;
    struct store_event *events;
    struct store_note *notes;
    struct store_item *items;
    struct store_hit *hits;
    size_t count;

    store_calls(store, arena, run, STORE_WHOLE, &calls, &count, diags);
    store_call_find(store, arena, run, "aa", 0, &call, diags);
    store_events(store, arena, run, 0, 0, &events, &count, diags);
    store_inbox_take(store, arena, run, 1, &notes, &count, diags);
    store_items(store, arena, "traps", NULL, 0, &items, &count, diags);
    store_items_similar(store, arena, &likeness, &items, &count, diags);
    store_search(store, arena, "kernel tile", 0, &hits, &count, diags);
}

/* Reads and writes all there is; whatever comes of it, it comes as a status. */
static void
use_all(struct unit *unit, const char *path)
{
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    const struct store_question question = {
        .family = "f", .target = "cpu", .machine_key = "2 x", .each = 5};
    struct store_run *runs, run = store_unit_run();
    struct store_candidate *candidates, candidate;
    struct store_answer *answers;
    struct store *store;
    size_t count;
    enum status status = store_open(path, &store_unit_options, &store, diags);

    (void)unit;
    if (status == STATUS_OK) {
        status = store_runs(store, arena, 0, &runs, &count, diags);
        for (size_t i = 0, n = count; i < n; i++) {
            store_candidates(store, arena, runs[i].id, STORE_WHOLE, &candidates, &count, diags);
            read_the_rest(store, arena, runs[i].id, diags);
        }
        store_run_find(store, arena, "best", &run, diags);
        store_candidate_find(store, arena, "last.last", &candidate, diags);
        store_earlier(store, arena, &question, &answers, &count, diags);
        run = store_unit_run();
        store_run_begin(store, &run, diags);
        candidate = (struct store_candidate){.run = run.id};
        store_candidate_add(store, &candidate, diags);
        store_close(store);
    }
    assert_true(status == STATUS_OK || diags_errors(diags) > 0);
    arena_destroy(arena);
}

/* Texts that are packed and texts that are not. */
static void
add_the_rest(struct unit *unit, struct store *store, int64_t run)
{
    const char *text = arena_printf(unit->arena, "tile %0300d", 7);
    struct store_call call = {.run = run, .request_hash = "aa", .prompt = text, .ended = 5};
    struct store_note note = {.run = run, .kind = "say", .text = text};

    store_unit_must(unit, store_call_begin(store, &call, unit->diags));
    call.reply = "no";
    store_unit_must(unit, store_call_end(store, &call, unit->diags));
    store_unit_must(unit, store_inbox_add(store, &note, unit->diags));
    for (unsigned i = 0; i < 10; i++) {
        struct store_event event = {.run = run, .kind = "clock", .answer = text};
        struct store_item item = {.kind = "traps", .features = "f32 avx2"};

        item.text = arena_printf(unit->arena, "tile %u", i);
        store_unit_must(unit, store_event_add(store, &event, unit->diags));
        store_unit_must(unit, store_item_put(store, &item, unit->diags));
    }
}

static void
make_one(struct unit *unit)
{
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);

    for (unsigned i = 0; i < 30; i++)
        store_unit_verdict(
            unit, store,
            store_unit_candidate(unit, store, run.id,
                                 arena_printf(unit->arena, "Y: r %0*u", i % 3 * 90, i))
                .id,
            "correct", 10 + i, "N=8");
    add_the_rest(unit, store, run.id);
    store_close(store);
}

static void
damage_is_told(void **state)
{
    struct unit *unit = *state;
    struct rng random = rng_stream((uint64_t)getpid(), "damage");
    struct source whole;
    char *bytes;

    make_one(unit);
    store_unit_must(unit, file_read(unit->arena, "archive.db", 1 << 24, &whole, unit->diags));
    bytes = arena_alloc(unit->arena, whole.length);
    for (unsigned i = 0; i < 120; i++) {
        size_t length = i % 3 ? whole.length : rng_below(&random, whole.length);
        size_t from = i < 60 ? 100 : 0; /* spares the header, or not */

        memcpy(bytes, whole.text, whole.length);
        for (unsigned k = 0; k < 1U << (i % 8); k++)
            bytes[from + rng_below(&random, whole.length - from)] = (char)rng_next(&random);
        store_unit_must(unit, file_write("bad.db", bytes, length, unit->diags));
        use_all(unit, "bad.db");
        unlink("bad.db-wal");
        unlink("bad.db-shm");
    }
    memcpy(bytes, whole.text, whole.length);
    memset(bytes + 100, 0x5a, whole.length - 100);
    store_unit_must(unit, file_write("bad.db", bytes, whole.length, unit->diags));
    assert_int_equal(try_open(unit, "bad.db"), STATUS_MACHINE);
    store_unit_says(unit, "bad.db: is damaged (");
    store_unit_says(unit, "sqlite3 'bad.db' .recover");
}

/* ---- versions ---- */

static void
a_newer_one_is_refused(void **state)
{
    struct unit *unit = *state;
    struct store *store;

    make_one(unit);
    store_unit_execute("archive.db", "INSERT INTO migration VALUES (7, 'hone 0.4', 2e9);"
                                     "PRAGMA user_version = 7");
    assert_int_equal(store_open("archive.db", &store_unit_options, &store, unit->diags),
                     STATUS_MACHINE);
    assert_null(store);
    store_unit_says(unit, "archive.db was made by hone 0.4 (schema 7, this one knows 4); use "
                          "--archive FILE");
    store_unit_execute("archive.db", "DROP TABLE migration");
    assert_int_equal(try_open(unit, "archive.db"), STATUS_MACHINE);
    store_unit_says(unit, "archive.db was made by a newer hone (schema 7");
}

static void
the_first_version_is_read(void **state)
{
    struct unit *unit = *state;
    struct store *store;
    struct store_run *runs;
    struct store_candidate best, *candidates;
    size_t count;

    store_unit_execute("archive.db", store_version1);
    store = store_unit_open(unit);
    store_unit_must(unit, store_runs(store, unit->arena, 0, &runs, &count, unit->diags));
    assert_int_equal(count, 2);
    assert_string_equal(runs[0].name, "m2c9");
    assert_int_equal(runs[0].state, STORE_STOPPED);
    assert_true(runs[0].seed == UINT64_MAX);
    assert_string_equal(runs[1].stopped_by, "evals");
    store_unit_must(unit,
                    store_best(store, unit->arena, runs[1].id, STORE_WHOLE, &best, unit->diags));
    assert_string_equal(best.kernel, "void kernel(void) {}");
    assert_true(best.verdicts[0].cases[0].speedups[0].factor == 2.5);
    store_unit_must(unit, store_candidates(store, unit->arena, runs[1].id, STORE_WHOLE, &candidates,
                                           &count, unit->diags));
    assert_int_equal(count, 2);
    assert_string_equal(candidates[1].why, "two blocks");
    assert_int_equal(candidates[1].parents[0].candidate, 1);
    store_close(store);
}

/* More rows of the first schema, with texts of all lengths and bytes. */
static const char more_of_version1[] =
    "INSERT INTO task SELECT 2, '9e0b', 'g', 'sgemm', printf('%.*c', 3000, 'c'),"
    " printf('%.*c', 127, 's') || CAST(x'c3bcff' AS TEXT), 'th2';"
    "INSERT INTO run VALUES (3, 'q1w2', 2, 'cpu', 'default N=8; tail N=9', 'builtin', '', 1, '{}',"
    " '{}', '2 x', 'done', 'light', 3000, 3050, 4123, 5);"
    "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)"
    " INSERT INTO candidate SELECT 100 + i, 2 + i % 2, i / 2, iif(i % 3, 'schedule', 'source'),"
    " 'p' || i, 'draft', '', printf('%.*c', i * 9, 'w'), 3000 + i, 'h' || i,"
    " printf('%.*c', i % 5 * 60, 'r'),"
    " printf('%.*c', i % 7 * 40, 'k') || CAST(x'00fe' AS TEXT) || i FROM n;"
    "INSERT INTO parent SELECT id, 0, id - 2 FROM candidate WHERE id > 101;"
    "INSERT INTO parent SELECT id, 1, 1 FROM candidate WHERE id > 130;"
    "INSERT INTO verdict SELECT id, id, iif(number % 4, 'correct', 'wrong'), why, number % 5 > 0,"
    " nullif(500.5 - id, 390.5), 3100 + id, '{' || why || '}' FROM candidate WHERE id >= 100;"
    "INSERT INTO verdict SELECT id + 100, id, 'wrong', '', 1, NULL, 3500, '' FROM candidate"
    " WHERE id >= 100 AND number % 3 = 0;"
    "INSERT INTO verdict_case SELECT id * 2, id, 0, 'default', 'N=8', time_us, 1, 2, 3, 0.25, 0.5"
    " FROM verdict WHERE id >= 100;"
    "INSERT INTO verdict_case SELECT id * 2 + 1, id, 1, 'tail', 'N=9', NULL, NULL, NULL, NULL,"
    " NULL, 0.75 FROM verdict WHERE id >= 100;"
    "INSERT INTO speedup SELECT id, 0, 'naive', id / 8.0 FROM verdict_case WHERE id >= 200;"
    "INSERT INTO speedup SELECT id, 1, 'torch', NULL FROM verdict_case WHERE id >= 200;";

/* All rows of an archive of the first schema, as show_all() writes them. */
static const char all_of_version1[] =
    "SELECT group_concat(line, char(10)) FROM ("
    " SELECT 'run ' || r.name || '|' || t.hash || '|' || t.family || '|' || t.name || '|' ||"
    "  hex(t.canonical) || '|' || hex(t.source) || '|' || r.cases || '|' || r.seed AS line,"
    "  r.id AS run, -1 AS a, 0 AS b, 0 AS c, 0 AS d FROM run AS r JOIN task AS t ON t.id = r.task"
    " UNION ALL SELECT 'candidate ' || id || '|' || number || '|' || kind || '|' || proposer || '|'"
    "  || hex(why) || '|' || kernel_hash || '|' || hex(schedule) || '|' || hex(kernel), run, "
    "number,"
    "  0, 0, 0 FROM candidate"
    " UNION ALL SELECT 'parent ' || parent, run, number, 0, place + 1, 0 FROM parent JOIN candidate"
    "  ON id = candidate"
    " UNION ALL SELECT 'verdict ' || v.id || '|' || status || '|' || hex(reason) || '|' || whole"
    "  || '|' || iif(time_us IS NULL, 'nan', printf('%.1f', time_us)) || '|' || printf('%.1f', "
    "judged) || '|' "
    "||"
    "  hex(json), run, number, v.id, 0, 0 FROM verdict AS v JOIN candidate AS c ON c.id = candidate"
    " UNION ALL SELECT 'case ' || k.name || '|' || sizes || '|' ||"
    "  iif(median_us IS NULL, 'nan', printf('%.1f', median_us)) || '|' || iif(light IS NULL, "
    "'nan', printf('%.2f', light))"
    "  || '|' || printf('%.2f', error_over_gate), run, number, v.id, place + 1, 0"
    "  FROM verdict_case AS k JOIN verdict AS v ON v.id = verdict JOIN candidate AS c ON"
    "  c.id = candidate"
    " UNION ALL SELECT 'speedup ' || baseline || '|' || iif(factor IS NULL, 'nan', printf('%.3f', "
    "factor)), "
    "run,"
    "  number, v.id, k.place + 1, s.place + 1 FROM speedup AS s JOIN verdict_case AS k ON"
    "  k.id = verdict_case JOIN verdict AS v ON v.id = verdict JOIN candidate AS c ON"
    "  c.id = candidate"
    " ORDER BY run, a, b, c, d)";

static void
put_hex(struct buf *buf, const char *bytes, size_t count)
{
    buf_putc(buf, '|');
    for (size_t i = 0; i < count; i++)
        buf_printf(buf, "%02X", (unsigned char)bytes[i]);
}

static void
show_verdict(struct buf *buf, const struct store_verdict *verdict)
{
    buf_printf(buf, "verdict %lld|%s", (long long)verdict->id, verdict->status);
    put_hex(buf, verdict->reason, strlen(verdict->reason));
    buf_printf(buf, "|%d|%.1f|%.1f", verdict->whole, verdict->time_us, verdict->judged);
    put_hex(buf, verdict->json, strlen(verdict->json));
    buf_putc(buf, '\n');
    for (size_t i = 0; i < verdict->case_count; i++) {
        const struct store_case *row = &verdict->cases[i];

        buf_printf(buf, "case %s|%s|%.1f|%.2f|%.2f\n", row->name, row->sizes, row->median_us,
                   row->light, row->error_over_gate);
        for (size_t k = 0; k < row->speedup_count; k++)
            buf_printf(buf, "speedup %s|%.3f\n", row->speedups[k].baseline,
                       row->speedups[k].factor);
    }
}

static void
show_candidate(struct buf *buf, const struct store_candidate *candidate)
{
    buf_printf(buf, "candidate %lld|%lld|%s|%s", (long long)candidate->id,
               (long long)candidate->number, store_kind_name[candidate->kind], candidate->proposer);
    put_hex(buf, candidate->why, strlen(candidate->why));
    buf_printf(buf, "|%s", candidate->kernel_hash);
    put_hex(buf, candidate->schedule, strlen(candidate->schedule));
    put_hex(buf, candidate->kernel, candidate->kernel_length);
    buf_putc(buf, '\n');
    for (size_t i = 0; i < candidate->parent_count; i++)
        buf_printf(buf, "parent %lld\n", (long long)candidate->parents[i].candidate);
    for (size_t i = 0; i < candidate->verdict_count; i++)
        show_verdict(buf, &candidate->verdicts[i]);
}

static const char *
show_all(struct unit *unit, struct store *store)
{
    struct buf buf = buf_in(unit->arena);
    struct store_run *runs;
    size_t count, number;

    store_unit_must(unit, store_runs(store, unit->arena, 0, &runs, &count, unit->diags));
    for (size_t i = count; i-- > 0;) {
        const struct store_task *task = &runs[i].task;
        struct store_candidate *candidates;

        buf_printf(&buf, "run %s|%s|%s|%s", runs[i].name, task->hash, task->family, task->name);
        put_hex(&buf, task->canonical, strlen(task->canonical));
        put_hex(&buf, task->source, strlen(task->source));
        buf_printf(&buf, "|%s|%lld\n", runs[i].cases, (long long)runs[i].seed);
        store_unit_must(unit, store_candidates(store, unit->arena, runs[i].id, STORE_WHOLE,
                                               &candidates, &number, unit->diags));
        for (size_t k = 0; k < number; k++)
            show_candidate(&buf, &candidates[k]);
    }
    buf.data[buf.length - 1] = '\0';
    return buf.data;
}

static void
a_migration_keeps_every_row(void **state)
{
    static const struct store_question question = {
        .family = "g", .target = "cpu", .machine_key = "2 x", .each = 100};
    struct unit *unit = *state;
    struct store *store;
    struct store_answer *answers;
    struct store_run run;
    struct store_hit *hits;
    const char *before;
    size_t count;

    store_unit_execute("archive.db", store_version1);
    store_unit_execute("archive.db", more_of_version1);
    before = store_unit_ask(unit, "archive.db", all_of_version1);
    assert_true(strlen(before) > 20000);
    store = store_unit_open(unit);
    assert_string_equal(show_all(unit, store), before);
    /* What is kept beside them is right, too: */
    store_unit_must(unit, store_run_find(store, unit->arena, "q1w2", &run, unit->diags));
    assert_int_equal(run.candidates, 20);
    assert_int_equal(run.evaluations, 20);
    assert_int_equal(run.verdicts, 27);
    assert_int_equal(run.leader, 5);
    assert_true(run.best_us == 500.5 - 111 && run.case_us == 500.5 - 111);
    assert_true(run.light == 0.25 && run.gain == 222 / 8.0 && run.seen == 3500);
    store_unit_must(unit, store_run_find(store, unit->arena, "k7f3", &run, unit->diags));
    assert_int_equal(run.leader, 0);
    assert_true(run.best_us == 20 && run.gain == 2.5 && run.seen == 1004);
    /* offers, in the order of their times, of schedules that are right at last; */
    store_unit_must(unit,
                    store_earlier(store, unit->arena, &question, &answers, &count, unit->diags));
    assert_string_equal(store_unit_ask(unit, "archive.db",
                                       "SELECT count(DISTINCT c.schedule) FROM candidate AS c JOIN"
                                       " last_verdict AS v ON v.candidate = c.id WHERE run = 3 AND"
                                       " kind = 'schedule' AND status = 'correct' AND time_us > 0"),
                        arena_printf(unit->arena, "%zu", count));
    assert_true(count > 2);
    for (size_t i = 1; i < count; i++)
        assert_true(answers[i].time_us >= answers[i - 1].time_us);
    /* words. */
    store_unit_must(unit,
                    store_search(store, unit->arena, "two blocks", 0, &hits, &count, unit->diags));
    assert_int_equal(count, 1);
    assert_int_equal(hits->candidate, 2);
    store_close(store);
    assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA integrity_check"), "ok");
}

static void
the_second_version_is_read(void **state)
{
    const struct store_likeness likeness = {.text = "tile", .features = "f32"};
    struct unit *unit = *state;
    struct store *store;
    struct store_run run;
    struct store_candidate best;
    struct store_call call;
    struct store_event *events;
    struct store_note *notes;
    struct store_item *items;
    struct store_hit *hits;
    size_t count;

    store_unit_execute("archive.db", store_version2);
    store = store_unit_open(unit);
    store_unit_must(unit, store_run_find(store, unit->arena, "h7m7", &run, unit->diags));
    assert_string_equal(run.options, "{\"time\":600}");
    assert_true(run.leader == 1 && run.best_us == 16 && run.gain == 3.125 && run.cost == 0.034);
    store_unit_must(unit, store_best(store, unit->arena, run.id, STORE_WHOLE, &best, unit->diags));
    assert_int_equal(best.kernel_length, 300);
    assert_memory_equal(best.kernel, "void kernel(const float", 23);
    assert_true(best.expected_high == 1.25 && best.lane == 1 && best.round == 2);
    assert_string_equal(best.accepted, "accepted");
    store_unit_must(unit, store_call_find(store, unit->arena, run.id, "aa", 0, &call, unit->diags));
    assert_int_equal(call.id, best.call);
    assert_string_equal(call.prompt, best.kernel);
    store_unit_must(unit,
                    store_events(store, unit->arena, run.id, 0, 0, &events, &count, unit->diags));
    assert_int_equal(count, 2);
    assert_string_equal(events[1].answer, best.kernel);
    store_unit_must(unit,
                    store_inbox_take(store, unit->arena, run.id, 9, &notes, &count, unit->diags));
    assert_int_equal(count, 1);
    assert_string_equal(notes[0].file, "mine.c");
    store_unit_must(
        unit, store_items_similar(store, unit->arena, &likeness, &items, &count, unit->diags));
    assert_int_equal(count, 1);
    assert_true(items[0].stats.uses == 2 && isnan(items[0].stats.actual));
    store_unit_must(unit,
                    store_search(store, unit->arena, "blocks", 0, &hits, &count, unit->diags));
    assert_int_equal(count, 1);
    store_close(store);
}

static void
the_third_version_is_read(void **state)
{
    const struct store_likeness likeness = {.meaning = "wider", .model = "lab:m"};
    struct unit *unit = *state;
    struct store_item *items;
    struct store *store;
    size_t count;

    store_unit_execute("archive.db", store_version3);
    store = store_unit_open(unit);
    store_unit_must(
        unit, store_items_similar(store, unit->arena, &likeness, &items, &count, unit->diags));
    assert_int_equal(count, 1);
    assert_string_equal(items[0].text, "widen the tile");
    store_close(store);
}

static void
the_fourth_version_is_read(void **state)
{
    struct unit *unit = *state;
    struct store *store;
    struct store_bench bench;
    struct store_bench_task *tasks;
    size_t count;

    store_unit_execute("archive.db", store_version3);
    store_unit_execute("archive.db", store_version4);
    store = store_unit_open(unit);
    store_unit_must(unit, store_bench_find(store, unit->arena, "b4", &bench, unit->diags));
    assert_true(bench.state == STORE_DONE && bench.tasks == 1 && bench.finished == 1);
    store_unit_must(unit,
                    store_bench_tasks(store, unit->arena, bench.id, &tasks, &count, unit->diags));
    assert_true(count == 1 && tasks[0].number == 3 && tasks[0].baseline_count == 1);
    assert_true(tasks[0].baselines[0].speedup_high == 2.1);
    store_close(store);
}

/* Whoever changes a step that was released, instead of adding one, is told here. */
static void
released_steps_never_change(void **state)
{
    static const char query[] =
        "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY name)";
    static const char *const released[][2] = {{store_version1, ""},
                                              {store_version2, ""},
                                              {store_version3, ""},
                                              {store_version3, store_version4}};
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof released / sizeof *released; i++) {
        const char *old = arena_printf(unit->arena, "version%zu.db", i + 1);
        const char *new = arena_printf(unit->arena, "new%zu.db", i + 1);
        struct store *store;

        store_unit_execute(old, released[i][0]);
        store_unit_execute(old, released[i][1]);
        store_unit_must(
            unit, store__open(new, &store_unit_options, store__steps, i + 1, &store, unit->diags));
        store_close(store);
        assert_string_equal(store_unit_ask(unit, new, query), store_unit_ask(unit, old, query));
    }
}

static const char second_step[] = "CREATE TABLE prompt (id INTEGER PRIMARY KEY, candidate INTEGER"
                                  " REFERENCES candidate, text TEXT NOT NULL) STRICT;"
                                  "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT '-'";

static enum status
open_with(struct unit *unit, const char *second, const char *third)
{
    const char *const steps[] = {store__steps[0], second, third};
    const struct store_options options = {.program = "hone 0.2", .now = 2e9};
    struct store *store;
    enum status status = store__open("archive.db", &options, steps,
                                     third    ? 3
                                     : second ? 2
                                              : 1,
                                     &store, unit->diags);

    store_close(store);
    return status;
}

static void
an_older_one_is_migrated(void **state)
{
    struct unit *unit = *state;

    store_unit_execute("archive.db", store_version1);
    assert_int_equal(open_with(unit, second_step, NULL), STATUS_OK);
    assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA user_version"), "2");
    assert_string_equal(store_unit_ask(unit, "archive.db",
                                       "SELECT group_concat(version || program, ' ') FROM"
                                       " migration"),
                        "1hone 0.1 2hone 0.2");
    assert_string_equal(
        store_unit_ask(unit, "archive.db", "SELECT group_concat(name || note, ' ') FROM run"),
        "k7f3- m2c9-");
    assert_int_equal(open_with(unit, second_step, NULL), STATUS_OK);
    assert_int_equal(open_with(unit, NULL, NULL), STATUS_MACHINE);
    store_unit_says(unit, "made by hone 0.2 (schema 2, this one knows 1)");
}

static void
several_migrate_at_once(void **state)
{
    struct unit *unit = *state;
    pid_t children[6];

    store_unit_execute("archive.db", store_version1);
    for (unsigned i = 0; i < 6; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(status_exit_code(open_with(unit, second_step, NULL)));
    }
    for (unsigned i = 0; i < 6; i++) {
        int status;

        waitpid(children[i], &status, 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_string_equal(store_unit_ask(unit, "archive.db", "SELECT count(*) FROM migration"), "2");
}

static void
a_migration_is_all_or_nothing(void **state)
{
    struct unit *unit = *state;
    const char *schema;

    store_unit_execute("archive.db", store_version1);
    schema = store_unit_ask(unit, "archive.db", "SELECT group_concat(sql) FROM sqlite_schema");
    assert_int_equal(open_with(unit, second_step, "CREATE TABLE a (b); SELECT no_such_thing"),
                     STATUS_MACHINE);
    store_unit_says(unit, "no_such_thing");
    assert_int_equal(open_with(unit, "DELETE FROM task", NULL), STATUS_MACHINE);
    store_unit_says(unit, "from schema 1 to 2: 2 rows refer to what is not there");
    assert_string_equal(store_unit_ask(unit, "archive.db", "PRAGMA user_version"), "1");
    assert_string_equal(
        store_unit_ask(unit, "archive.db", "SELECT group_concat(sql) FROM sqlite_schema"), schema);
    assert_string_equal(store_unit_ask(unit, "archive.db", "SELECT count(*) FROM task"), "1");
    store_close(store_unit_open(unit));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(other_files_are_left_alone),
        SCRATCH_TEST(an_empty_file_becomes_one),
        SCRATCH_TEST(damage_is_told),
        SCRATCH_TEST(a_newer_one_is_refused),
        SCRATCH_TEST(the_first_version_is_read),
        SCRATCH_TEST(a_migration_keeps_every_row),
        SCRATCH_TEST(the_second_version_is_read),
        SCRATCH_TEST(the_third_version_is_read),
        SCRATCH_TEST(the_fourth_version_is_read),
        SCRATCH_TEST(released_steps_never_change),
        SCRATCH_TEST(an_older_one_is_migrated),
        SCRATCH_TEST(several_migrate_at_once),
        SCRATCH_TEST(a_migration_is_all_or_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
