/* Memory by meaning: vectors of the task and of what was learned, from an endpoint of the user's.
 * What is found with them is an answer like any other and goes through the ledger; the vectors stay
 * in the archive, so that no text is paid for twice. */
#include "run/team_int.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

enum { MOST_TEXTS = 8 * LLM_EMBED_TEXTS }; /* at one look; older ones wait for the next */

static const char role_name[] = "embeddings";

/* ---- the ledger ---- */

static const struct store_call *
next_earlier(const struct ledger *ledger)
{
    const struct store_call *next =
        ledger->call_next < ledger->call_count ? &ledger->calls[ledger->call_next] : NULL;
    return next != NULL && strcmp(next->role, role_name) == 0 ? next : NULL;
}

void
team__pass_embeddings(struct team *team)
{
    struct ledger *ledger = team->loop->ledger;
    for (const struct store_call *then; (then = next_earlier(ledger)) != NULL; ledger->call_next++)
        if (!isnan(then->ended)) {
            team__count(team, then);
            if (team->who->budget != NULL)
                team->who->budget->calls_begun++;
        }
}

/* ---- asking ---- */

static const char *
joined(struct arena *arena, const char *const *texts, size_t count)
{
    struct buf buf = buf_in(arena);
    for (size_t i = 0; i < count; i++)
        buf_printf(&buf, "%s%s\n", i ? "---\n" : "", texts[i]);
    return buf.data ? buf.data : "";
}

static struct store_call
row_of(struct team *team, const char *const *texts, size_t count)
{
    struct arena *arena = team->loop->arena;
    struct llm_facts facts = llm_facts(team->who->embeddings);
    char *hash = arena_alloc(arena, HASH_TEXT);
    llm_embed_hash(arena, texts, count, hash);
    return (struct store_call){.run = team->loop->ledger->run,
                               .phase = team->phase->recipe->name,
                               .role = role_name,
                               .label = role_name,
                               .model = facts.text,
                               .provider = facts.provider,
                               .wire = llm_wire_name[facts.wire],
                               .request_hash = hash,
                               .prompt = joined(arena, texts, count),
                               .begun = clock_wall(),
                               .cost = NAN,
                               .ended = NAN};
}

static void
take_record(struct store_call *row, const struct llm_vectors *vectors)
{
    const struct llm_record *record = &vectors->record;
    row->outcome = llm_outcome_info[record->outcome].name;
    row->finish = llm_finish_name[record->finish];
    row->served = record->served;
    row->message = vectors->message;
    row->tokens = (struct store_tokens){.input = record->input};
    row->estimated = record->estimated;
    row->cost = record->cost;
    row->first_ms = record->first_ms;
    row->total_ms = record->total_ms;
    row->ended = clock_wall();
}

/* One warning, and no more questions: memory by words serves as well. */
static void
give_up(struct team *team, const char *message)
{
    diags_add(team->loop->diags, DIAG_WARNING, (struct place){0},
              "no embeddings: %s; memory is searched by words", message);
    team->no_vectors = true;
}

/* Vectors and the end of the call are written together, before anything is made of them. */
static enum status
ask(struct team *team, const char *const *texts, size_t count)
{
    struct loop *loop = team->loop;
    struct store_vector *list = arena_array(loop->arena, count, sizeof *list);
    struct store_call row = row_of(team, texts, count);
    struct llm_vectors vectors;
    enum status status = store_call_begin(loop->ledger->store, &row, loop->diags);
    if (status != STATUS_OK)
        return status;
    bool good = llm_embed(team->who->llm, team->who->embeddings, loop->arena, texts, count,
                          &vectors) == LLM_OK;
    take_record(&row, &vectors);
    for (size_t i = 0; i < count && good; i++)
        list[i] = (struct store_vector){texts[i], vectors.values + i * vectors.size, vectors.size};
    status = store_vectors_put(loop->ledger->store, row.model, list, good ? count : 0, &row,
                               loop->diags);
    team__count(team, &row);
    if (team->who->budget != NULL)
        team->who->budget->calls_begun++;
    if (!good)
        give_up(team, vectors.message);
    return status;
}

/* ---- what is asked about ---- */

static const char *
meaning_of(struct team *team, const struct store_likeness *likeness)
{
    struct buf buf = buf_in(team->loop->arena);
    buf_printf(&buf, "%s: %s\n", likeness->text, likeness->features);
    lang_canonical(&buf, team->loop->result->cases[0].program);
    return buf.data;
}

static bool
is_wanted(const struct team *team)
{
    return team->who->embeddings != NULL && !team->no_vectors && !team->loop->ledger->off &&
           !run__is_stopped(team->loop);
}

enum status
team__embed(struct team *team, struct store_likeness *likeness)
{
    struct loop *loop = team->loop;
    const char **texts;
    size_t count = 0, done = 0;
    if (!is_wanted(team))
        return STATUS_OK;
    likeness->model = llm_facts(team->who->embeddings).text;
    likeness->meaning = meaning_of(team, likeness);
    enum status status = store_vectors_missing(loop->ledger->store, loop->arena, likeness,
                                               MOST_TEXTS, &texts, &count, loop->diags);
    while (status == STATUS_OK && done < count && !team->no_vectors && team__spent(team) == NULL) {
        size_t some = count - done < LLM_EMBED_TEXTS ? count - done : LLM_EMBED_TEXTS;
        status = ask(team, texts + done, some);
        done += some;
    }
    if (status == STATUS_OK && team->no_vectors)
        likeness->meaning = NULL;
    return status;
}
