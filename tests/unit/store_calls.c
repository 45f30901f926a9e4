/* Calls of models, events and notes: what a run needs to go on, and to go the same way again. */
#include "store_unit.h"

static struct store_call
begin_call(struct unit *unit, struct store *store, int64_t run, const char *request_hash)
{
    struct store_call call = {.run = run,
                              .phase = "think",
                              .role = "coder",
                              .label = "coder 3",
                              .model = "m",
                              .provider = "lab",
                              .wire = "openai",
                              .request_hash = request_hash,
                              .system = "You write C.",
                              .prompt = "[{\"role\":\"user\"}]",
                              .begun = 1010};

    store_unit_must(unit, store_call_begin(store, &call, unit->diags));
    return call;
}

static void
end_call(struct unit *unit, struct store *store, struct store_call *call, const char *reply,
         double cost)
{
    call->reply = reply;
    call->reasoning = "because";
    call->outcome = "ok";
    call->finish = "stop";
    call->served = "m-2";
    call->message = "";
    call->tokens = (struct store_tokens){7900, 6100, 100, 3800, 1200};
    call->estimated = true;
    call->cost = cost;
    call->first_ms = 1100;
    call->total_ms = 41000;
    call->ended = 1051;
    store_unit_must(unit, store_call_end(store, call, unit->diags));
}

/* ---- calls ---- */

static void
a_call_comes_back(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct store_call call = begin_call(unit, store, run.id, "aa"), *calls, got;
    size_t count;

    assert_int_equal(call.ordinal, 0);
    end_call(unit, store, &call, "```c\nvoid kernel(void) {}\n```", 0.034);
    store_unit_must(
        unit, store_calls(store, unit->arena, run.id, STORE_WHOLE, &calls, &count, unit->diags));
    assert_int_equal(count, 1);
    assert_int_equal(calls->id, call.id);
    assert_int_equal(calls->run, run.id);
    assert_string_equal(calls->phase, "think");
    assert_string_equal(calls->role, "coder");
    assert_string_equal(calls->label, "coder 3");
    assert_string_equal(calls->model, "m");
    assert_string_equal(calls->provider, "lab");
    assert_string_equal(calls->wire, "openai");
    assert_string_equal(calls->request_hash, "aa");
    assert_string_equal(calls->system, "You write C.");
    assert_string_equal(calls->prompt, "[{\"role\":\"user\"}]");
    assert_string_equal(calls->reply, "```c\nvoid kernel(void) {}\n```");
    assert_string_equal(calls->reasoning, "because");
    assert_string_equal(calls->outcome, "ok");
    assert_string_equal(calls->finish, "stop");
    assert_string_equal(calls->served, "m-2");
    assert_string_equal(calls->message, "");
    assert_true(calls->tokens.input == 7900 && calls->tokens.cached == 6100);
    assert_true(calls->tokens.written == 100 && calls->tokens.output == 3800);
    assert_true(calls->tokens.reasoned == 1200 && calls->estimated && calls->cost == 0.034);
    assert_true(calls->first_ms == 1100 && calls->total_ms == 41000);
    assert_true(calls->begun == 1010 && calls->ended == 1051);
    store_unit_must(
        unit, store_calls(store, unit->arena, run.id, STORE_BRIEF, &calls, &count, unit->diags));
    assert_null(calls->prompt);
    assert_null(calls->reply);
    assert_string_equal(calls->served, "m-2");
    store_unit_must(unit, store_call_get(store, unit->arena, call.id, &got, unit->diags));
    assert_string_equal(got.reply, "```c\nvoid kernel(void) {}\n```");
    assert_int_equal(store_call_get(store, unit->arena, 99, &got, unit->diags), STATUS_NO);
    store_close(store);
}

static void
a_call_in_flight_is_seen(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct store_call first = begin_call(unit, store, run.id, "aa");
    struct store_call second = begin_call(unit, store, run.id, "aa"), *calls;
    size_t count;

    end_call(unit, store, &second, "yes", NAN);
    store_close(store);
    store = store_unit_open(unit);
    store_unit_must(
        unit, store_calls(store, unit->arena, run.id, STORE_WHOLE, &calls, &count, unit->diags));
    assert_int_equal(count, 2);
    assert_int_equal(calls[0].id, first.id);
    assert_true(isnan(calls[0].ended) && isnan(calls[0].cost));
    assert_string_equal(calls[0].reply, "");
    assert_int_equal(calls[1].ordinal, 1);
    assert_true(calls[1].ended == 1051);
    /* An end is final, and nobody has one who did not begin. */
    assert_int_equal(store_call_end(store, &second, unit->diags), STATUS_INPUT);
    store_unit_says(unit, "that did not end yet");
    second.id = 99;
    assert_int_equal(store_call_end(store, &second, unit->diags), STATUS_INPUT);
    first = (struct store_call){.run = 99};
    assert_int_equal(store_call_begin(store, &first, unit->diags), STATUS_INPUT);
    store_close(store);
}

static void
replies_are_found_by_their_request(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store), other = store_unit_begin(unit, store);
    static const char *const hashes[] = {"aa", "bb", "aa", "aa"};
    static const char *const replies[] = {"0", "1", NULL, "3"};
    struct store_call found;

    for (unsigned i = 0; i < 4; i++) {
        struct store_call call = begin_call(unit, store, run.id, hashes[i]);

        if (replies[i])
            end_call(unit, store, &call, replies[i], 0.5);
    }
    store_unit_must(unit,
                    store_call_find(store, unit->arena, run.id, "aa", 0, &found, unit->diags));
    assert_string_equal(found.reply, "0");
    store_unit_must(unit,
                    store_call_find(store, unit->arena, run.id, "aa", 1, &found, unit->diags));
    assert_string_equal(found.reply, "3"); /* what was in flight has no reply */
    assert_int_equal(store_call_find(store, unit->arena, run.id, "aa", 2, &found, unit->diags),
                     STATUS_NO);
    assert_int_equal(store_call_find(store, unit->arena, other.id, "aa", 0, &found, unit->diags),
                     STATUS_NO);
    assert_int_equal(diags_count(unit->diags), 0);
    store_close(store);
}

static void
a_run_knows_what_it_spent(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store), found;
    struct store_call calls[4];

    for (unsigned i = 0; i < 4; i++)
        calls[i] = begin_call(unit, store, run.id, "aa");
    store_unit_must(unit, store_run_find(store, unit->arena, "last", &found, unit->diags));
    assert_int_equal(found.calls, 4);
    assert_true(isnan(found.cost) && found.seen == 1010);
    end_call(unit, store, &calls[0], "", NAN);
    store_unit_must(unit, store_run_find(store, unit->arena, "last", &found, unit->diags));
    assert_true(isnan(found.cost) && found.tokens.input == 7900);
    end_call(unit, store, &calls[1], "", 0.25);
    end_call(unit, store, &calls[2], "", NAN);
    end_call(unit, store, &calls[3], "", 0.5);
    store_unit_must(unit, store_run_find(store, unit->arena, "last", &found, unit->diags));
    assert_true(found.cost == 0.75 && found.seen == 1051);
    assert_true(found.tokens.input == 4 * 7900 && found.tokens.cached == 4 * 6100);
    assert_true(found.tokens.written == 400 && found.tokens.output == 4 * 3800);
    assert_true(found.tokens.reasoned == 4 * 1200);
    store_close(store);
}

static void
a_candidate_names_its_call(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct store_call call = begin_call(unit, store, run.id, "aa");
    struct store_candidate added = {.run = run.id,
                                    .expected_low = 1.05,
                                    .expected_high = 1.12,
                                    .call = call.id,
                                    .lane = 1,
                                    .round = 3},
                           plain = {.run = run.id}, *list;
    size_t count;

    store_unit_must(unit, store_candidate_add(store, &added, unit->diags));
    store_unit_must(unit, store_candidate_add(store, &plain, unit->diags));
    store_unit_must(unit, store_candidate_decide(store, added.id, "same", unit->diags));
    store_unit_must(unit, store_candidate_decide(store, added.id, "accepted", unit->diags));
    store_unit_must(unit, store_candidates(store, unit->arena, run.id, STORE_BRIEF, &list, &count,
                                           unit->diags));
    assert_true(list[0].expected_low == 1.05 && list[0].expected_high == 1.12);
    assert_int_equal(list[0].call, call.id);
    assert_int_equal(list[0].lane, 1);
    assert_int_equal(list[0].round, 3);
    assert_string_equal(list[0].accepted, "accepted");
    assert_true(isnan(list[1].expected_low) && isnan(list[1].expected_high));
    assert_int_equal(list[1].call, 0);
    assert_string_equal(list[1].accepted, "");
    assert_int_equal(store_candidate_decide(store, 99, "accepted", unit->diags), STATUS_INPUT);
    store_unit_says(unit, "has no candidate of id 99");
    plain.call = 99;
    assert_int_equal(store_candidate_add(store, &plain, unit->diags), STATUS_INPUT);
    store_close(store);
}

/* ---- events ---- */

static void
events_come_back_in_order(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store), other = store_unit_begin(unit, store);
    struct store_event *events;
    size_t count;

    for (int i = 0; i < 20; i++) {
        struct store_event event = {.run = i % 5 == 4 ? other.id : run.id,
                                    .kind = i % 2 ? "verdict" : "clock",
                                    .key = arena_printf(unit->arena, "k%d", i),
                                    .answer = arena_printf(unit->arena, "%*d", i * 20, i),
                                    .seconds = i / 8.0};

        store_unit_must(unit, store_event_add(store, &event, unit->diags));
        assert_int_equal(event.seq, i % 5 == 4 ? i / 5 : i - i / 5);
    }
    store_close(store);
    store = store_unit_open(unit);
    store_unit_must(unit,
                    store_events(store, unit->arena, run.id, 0, 0, &events, &count, unit->diags));
    assert_int_equal(count, 16);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(events[i].seq, i);
    assert_string_equal(events[15].kind, "clock");
    assert_string_equal(events[15].key, "k18");
    assert_int_equal(strlen(events[15].answer), 360);
    assert_true(events[15].seconds == 18 / 8.0);
    store_unit_must(unit,
                    store_events(store, unit->arena, run.id, 5, 2, &events, &count, unit->diags));
    assert_int_equal(count, 2);
    assert_int_equal(events[0].seq, 5);
    store_unit_must(unit,
                    store_events(store, unit->arena, run.id, 16, 0, &events, &count, unit->diags));
    assert_int_equal(count, 0);
    events = &(struct store_event){.run = 99};
    assert_int_equal(store_event_add(store, events, unit->diags), STATUS_INPUT);
    store_close(store);
}

/* What a run that goes on makes again is not synced, all else is: seen by what the connection was
 * told. */
static void
what_cost_nothing_is_jotted(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store);
    struct store_event event = {.run = run.id};
    struct store_call call = {.run = run.id, .ended = 9};
    struct store_item item = {.kind = "traps", .key = "k", .text = "t", .run = run.id};
    struct store_note note = {.run = run.id, .kind = "say", .text = "t"};
    struct store_candidate candidate;

    assert_true(store->has_log && !store->loose);
    store_unit_must(unit, store_event_add(store, &event, unit->diags));
    store_unit_must(unit, store_event_add(store, &event, unit->diags));
    assert_true(store->loose);
    store_unit_must(unit, store_inbox_add(store, &note, unit->diags));
    assert_false(store->loose);
    candidate = store_unit_candidate(unit, store, run.id, "Y: r");
    assert_true(store->loose);
    store_unit_verdict(unit, store, candidate.id, "correct", 20, "N=8");
    assert_false(store->loose);
    store_unit_must(unit, store_candidate_decide(store, candidate.id, "best", unit->diags));
    assert_true(store->loose);
    store_unit_must(unit, store_call_begin(store, &call, unit->diags));
    assert_true(store->loose);
    store_unit_must(unit, store_call_end(store, &call, unit->diags));
    assert_false(store->loose);
    store_unit_must(unit, store_item_put(store, &item, unit->diags));
    assert_true(store->loose);
    store_unit_must(unit, store_run_finish(store, run.id, STORE_DONE, "", -1, 9, unit->diags));
    assert_false(store->loose);
    store_close(store);
    /* Without a write-ahead log all is synced. */
    store_unit_execute("archive.db", "PRAGMA journal_mode = DELETE");
    store = store_unit_open(unit);
    store->has_log = false;
    store_unit_must(unit, store_event_add(store, &event, unit->diags));
    assert_false(store->loose);
    store_close(store);
}

/* ---- notes ---- */

static void
notes_are_taken_once(void **state)
{
    struct unit *unit = *state;
    struct store *store = store_unit_open(unit), *other = store_unit_open(unit);
    struct store_run run = store_unit_begin(unit, store), found;
    struct store_note say = {.run = run.id,
                             .kind = "say",
                             .text = "keep the maximum",
                             .written = 5},
                      add = {.run = run.id,
                             .kind = "add",
                             .text = "void kernel(void) {}",
                             .file = "mine.c",
                             .written = 6},
                      *notes;
    size_t count;

    store_unit_must(unit, store_inbox_add(other, &say, unit->diags));
    store_unit_must(unit, store_inbox_add(other, &add, unit->diags));
    assert_int_equal(add.seq, 1);
    store_unit_must(unit, store_run_find(store, unit->arena, "last", &found, unit->diags));
    assert_int_equal(found.hints, 2);
    store_unit_must(unit,
                    store_inbox_take(store, unit->arena, run.id, 9, &notes, &count, unit->diags));
    assert_int_equal(count, 2);
    assert_string_equal(notes[0].kind, "say");
    assert_string_equal(notes[0].text, "keep the maximum");
    assert_string_equal(notes[0].file, "");
    assert_true(notes[0].written == 5 && notes[0].taken == 9);
    assert_string_equal(notes[1].file, "mine.c");
    store_unit_must(unit,
                    store_inbox_take(store, unit->arena, run.id, 9, &notes, &count, unit->diags));
    assert_int_equal(count, 0);
    store_unit_must(unit, store_inbox_add(other, &say, unit->diags));
    store_unit_must(unit,
                    store_inbox_take(store, unit->arena, run.id, 11, &notes, &count, unit->diags));
    assert_int_equal(count, 1);
    assert_int_equal(notes[0].seq, 2);
    store_unit_must(unit, store_inbox_add(other, &say, unit->diags));
    store_unit_must(unit, store_inbox(store, unit->arena, run.id, &notes, &count, unit->diags));
    assert_int_equal(count, 4);
    assert_true(notes[1].taken == 9 && notes[2].taken == 11 && isnan(notes[3].taken));
    store_unit_must(unit, store_run_find(store, unit->arena, "last", &found, unit->diags));
    assert_int_equal(found.hints, 1);
    say.run = 99;
    assert_int_equal(store_inbox_add(other, &say, unit->diags), STATUS_INPUT);
    store_close(other);
    store_close(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_call_comes_back),
        SCRATCH_TEST(a_call_in_flight_is_seen),
        SCRATCH_TEST(replies_are_found_by_their_request),
        SCRATCH_TEST(a_run_knows_what_it_spent),
        SCRATCH_TEST(a_candidate_names_its_call),
        SCRATCH_TEST(events_come_back_in_order),
        SCRATCH_TEST(what_cost_nothing_is_jotted),
        SCRATCH_TEST(notes_are_taken_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
