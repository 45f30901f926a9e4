/* Calls of roles. A question goes to a model, to a stand-in or to a person; the reply is in the
 * archive before it is read. Questions are numbered in the order in which they are put, and replies
 * are read in that order, so that many may be on their way and decisions stay the same. */
#include "run/team_int.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NEWS_SECONDS = 0.2;
enum { USUAL_REPLY = 8192 };

/* ---- who ---- */

static double
price_of(const struct llm_model *model)
{
    struct llm_facts facts = llm_facts(model);
    return facts.free ? 0 : facts.priced ? facts.price.input + 4 * facts.price.output : INFINITY;
}

static const struct llm_model *
cheapest(const struct run_team *who)
{
    const struct llm_model *best = who->models[0].model;
    for (size_t i = 1; i < who->model_count; i++)
        if (price_of(who->models[i].model) < price_of(best))
            best = who->models[i].model;
    return best;
}

/* One of several, by its weight. */
static const struct llm_model *
drawn(const struct team *team, unsigned call)
{
    const struct run_team *who = team->who;
    struct rng rng = rng_stream(team->loop->options->seed, "model");
    double at = rng_uniform_at(&rng, call);
    size_t i = 0;
    for (; i + 1 < who->model_count && at >= who->models[i].weight; i++)
        at -= who->models[i].weight;
    return who->models[i].model;
}

/* NULL: a stand-in. */
const struct llm_model *
team__model(const struct team *team, const struct recipe_role *role)
{
    const struct run_team *who = team->who;
    for (size_t i = 0; i < who->role_count && !team->alone; i++)
        if (!strcmp(who->roles[i].role, role->agent.name) ||
            !strcmp(who->roles[i].role, agent_role_name[role->agent.kind].name))
            return who->roles[i].model;
    if (team->alone || who->model_count == 0 ||
        (role->model != NULL && !strcmp(role->model, "builtin")))
        return NULL;
    if (role->model != NULL && !strcmp(role->model, "cheap"))
        return cheapest(who);
    return drawn(team, team->calls);
}

static bool
is_person(const struct recipe_role *role)
{
    return role->model != NULL && !strcmp(role->model, "ask");
}

/* Who was never looked at is taken for one: a choice cannot be malformed. What a model can do is an
 * answer of the world, as its window is. */
bool
team__chooses(struct team *team, const struct recipe_role *role)
{
    struct loop *loop = team->loop;
    const struct llm_model *model = team__model(team, role);
    const char *skill;
    if (model == NULL)
        return true;
    struct llm_facts facts = llm_facts(model);
    enum status status = ledger_recall(loop->ledger, "skill", facts.text, &skill, loop->diags);
    if (status == STATUS_NO) {
        skill = llm_skill_info[facts.skill].name;
        status = ledger_note(loop->ledger, "skill", facts.text, skill, loop->diags);
    }
    return status != STATUS_OK || (strcmp(skill, llm_skill_info[LLM_SKILL_STRONG].name) != 0 &&
                                   strcmp(skill, llm_skill_info[LLM_SKILL_WHOLE_FILE].name) != 0);
}

/* ---- the question ---- */

static const char *
label_of(struct team *team, const struct speech *speech)
{
    unsigned lane = speech->slot ? speech->slot->step.lane : 0;
    return arena_printf(team->loop->arena, "%s %s %u.%u", speech->role->agent.name,
                        team->phase->recipe->name, team->phase->round, lane);
}

static double
temperature_of(const struct speech *speech)
{
    const struct recipe_role *role = speech->role;
    size_t lane = speech->slot ? speech->slot->step.lane : 0;
    if (role->temperature_count == 0)
        return NAN;
    return role->temperature[lane < role->temperature_count ? lane : role->temperature_count - 1];
}

static struct llm_request
request_of(struct team *team, struct speech *speech)
{
    return (struct llm_request){.model = speech->model,
                                .system = speech->system,
                                .messages = speech->messages,
                                .message_count = speech->message_count,
                                .max_tokens =
                                    speech->role->reply ? speech->role->reply : USUAL_REPLY,
                                .temperature = temperature_of(speech),
                                .schema = speech->schema,
                                .cache = true,
                                .label = label_of(team, speech),
                                .wanted = agent_role_name[speech->role->agent.kind].words,
                                .user = speech};
}

static const char *
prompt_text(struct team *team, const struct speech *speech)
{
    struct buf text = buf_in(team->loop->arena);
    for (size_t i = 0; i < speech->message_count; i++) {
        if (i > 0)
            buf_printf(&text, "\n--- %s\n\n",
                       speech->messages[i].role == LLM_USER ? "question" : "answer");
        buf_puts(&text, speech->messages[i].text);
    }
    return text.data ? text.data : "";
}

/* What fits into a prompt; 0: any. How large a window is was found out when the run began: prompts
 * must be the same again where nobody can be asked. */
static enum status
room_of(struct team *team, const struct speech *speech, double *room)
{
    struct loop *loop = team->loop;
    const char *answer;
    unsigned reply = speech->role->reply ? speech->role->reply : USUAL_REPLY;
    *room = 0;
    if (speech->model == NULL)
        return STATUS_OK;
    struct llm_facts facts = llm_facts(speech->model);
    enum status status = ledger_recall(loop->ledger, "window", facts.text, &answer, loop->diags);
    if (status == STATUS_NO) {
        answer = arena_printf(loop->arena, "%.0f", facts.window);
        status = ledger_note(loop->ledger, "window", facts.text, answer, loop->diags);
    }
    if (status == STATUS_OK)
        *room = strtod(answer, NULL);
    *room -= reply < *room / 2 ? reply : *room / 2;
    return status;
}

/* Sections, words, format: the first message of a conversation. */
enum status
team__compose(struct team *team, struct speech *speech)
{
    struct agent_text texts[AGENT_SECTION_COUNT];
    struct agent_prompt prompt;
    size_t count = team__sections(team, speech, texts);
    double window;
    enum status status = room_of(team, speech, &window);
    if (status != STATUS_OK)
        return status;
    struct diags *ours = diags_create(team->loop->arena, 4);
    status = agent_prompt(team->loop->arena, &speech->role->agent, texts, count, speech->formats,
                          window, &prompt, ours);
    if (status == STATUS_INPUT && speech->role->agent.kind != AGENT_CODER) {
        team__news(team, speech->role->agent.name, 0, "not asked: %s",
                   diags_count(ours) ? diags_get(ours, 0)->message : "it does not fit");
        return STATUS_NO; /* who is not needed for a proposal is left out */
    }
    if (status != STATUS_OK) {
        diags_add(team->loop->diags, DIAG_ERROR, (struct place){0}, "%s",
                  diags_count(ours) ? diags_get(ours, 0)->message : "a prompt does not fit");
        return status;
    }
    speech->system = prompt.system;
    speech->schema = speech->role->tools ? NULL : prompt.schema; /* a tool is no JSON */
    speech->messages = arena_alloc(team->loop->arena, sizeof *speech->messages);
    speech->messages[0] = (struct llm_message){
        LLM_USER, arena_printf(team->loop->arena, "%s%s", prompt.user,
                               team__tool_words(team->loop->arena, speech->role))};
    speech->message_count = 1;
    team__go_back(team, speech, window);
    return STATUS_OK;
}

/* ---- stand-ins and people ---- */

static struct agent_moment
moment_of(struct team *team, const struct speech *speech, const char **tried)
{
    const struct slot *slot = speech->slot;
    const struct node *base = slot ? team__solid(slot->base) : team__solid(team->best);
    const struct node *other = slot ? team__solid(slot->other) : NULL;
    const struct node *candidate = team__solid(speech->candidate);
    size_t count = 0;
    for (size_t i = team->node_count; i-- > 0 && count < TEAM_LINES;)
        if (team->nodes[i]->schedule != NULL)
            tried[count++] = team->nodes[i]->schedule;
    return (struct agent_moment){.scene = &team->scene,
                                 .role = speech->role->agent.kind,
                                 .formats = speech->formats,
                                 .seed = team->loop->options->seed * 1000003u + team->calls,
                                 .schedule = base ? base->schedule : NULL,
                                 .other = other ? other->schedule : NULL,
                                 .kernel = candidate ? team__shown(team, candidate)
                                           : base    ? team__shown(team, base)
                                                     : NULL,
                                 .plan = slot == NULL ? NULL
                                         : slot->plan ? slot->plan->change
                                                      : slot->advice,
                                 .technique = slot && slot->plan ? slot->plan->technique : NULL,
                                 .profile = base ? base->profile : NULL,
                                 .facts = {team__figure, base},
                                 .choices = speech->choices,
                                 .choice_count = speech->choice_count,
                                 .verdict = candidate ? candidate->words
                                            : slot    ? slot->failed
                                                      : NULL,
                                 .legal = base ? base->schedule : NULL,
                                 .returns = &speech->role->agent.returns,
                                 .tried = tried,
                                 .tried_count = count};
}

size_t
team__changes(const struct slot *slot, struct agent_change *changes, size_t most)
{
    struct team *team = slot->phase->team;
    const struct speech speech = {.role = recipe_role(slot->phase->recipe, AGENT_CODER),
                                  .slot = (struct slot *)slot};
    const char *tried[TEAM_LINES];
    struct agent_moment moment = moment_of(team, &speech, tried);
    return agent_changes(team->loop->arena, &moment, changes, most);
}

static const char *
stand_in(struct team *team, const struct speech *speech)
{
    const char *tried[TEAM_LINES];
    struct agent_moment moment = moment_of(team, speech, tried);
    struct buf reply = buf_in(team->loop->arena);
    agent_builtin(&reply, team->loop->arena, &moment);
    return reply.data ? reply.data : "";
}

static const char *
ask_person(struct team *team, const struct speech *speech)
{
    const struct recipe_role *role = speech->role;
    const char *question = role->question ? role->question : speech->question;
    const char *answer = NULL;
    if (team->who->ask != NULL)
        answer = team->who->ask(team->who->context, question ? question : role->agent.name,
                                role->choices, role->timeout > 0 ? role->timeout : 60);
    return answer ? answer : "";
}

/* ---- putting it ---- */

/* Who was stopped asks nothing more; what it still does is no part of the run, so that it can go on
 * from here as if nothing had been. */
static bool
is_stopped(struct team *team)
{
    return run__is_stopped(team->loop);
}

static void
fill_row(struct team *team, struct speech *speech, const struct llm_request *request, char *hash)
{
    struct llm_facts facts = {0};
    if (speech->model != NULL)
        facts = llm_facts(speech->model);
    llm_request_hash(team->loop->arena, request, hash);
    speech->row = (struct store_call){.run = team->loop->ledger->run,
                                      .phase = team->phase->recipe->name,
                                      .role = speech->role->agent.name,
                                      .label = request->label,
                                      .model = speech->model             ? facts.text
                                               : is_person(speech->role) ? "ask"
                                                                         : "builtin",
                                      .provider = facts.provider,
                                      .wire = speech->model ? llm_wire_name[facts.wire] : "builtin",
                                      .request_hash = hash,
                                      .system = speech->system,
                                      .prompt = prompt_text(team, speech),
                                      .begun = clock_wall(),
                                      .cost = NAN,
                                      .ended = NAN};
}

static enum status
send(struct team *team, struct speech *speech)
{
    struct loop *loop = team->loop;
    char *hash = arena_alloc(loop->arena, HASH_TEXT);
    struct llm_request request = request_of(team, speech);
    speech->said = false;
    speech->call = NULL;
    if (speech->model != NULL && team__spent(team) != NULL)
        return STATUS_NO;
    fill_row(team, speech, &request, hash);
    enum status status = ledger_call(loop->ledger, &speech->row, &speech->then, loop->diags);
    if (status != STATUS_OK)
        return status;
    if (speech->model == NULL) {
        speech->text = speech->then ? speech->then->reply : NULL;
        if (speech->text == NULL)
            speech->text =
                is_person(speech->role) ? ask_person(team, speech) : stand_in(team, speech);
    } else if (speech->then != NULL)
        llm_pass(team->who->llm, &request);
    else {
        struct diags *ours = diags_create(loop->arena, 4);
        status = llm_submit(team->who->llm, &request, &speech->call, ours);
        if (status == STATUS_INPUT && speech->message_count > 1)
            status = STATUS_NO; /* the conversation has become too long */
        else if (status != STATUS_OK && diags_count(ours) > 0)
            diags_add(loop->diags, DIAG_ERROR, (struct place){0}, "%s",
                      diags_get(ours, 0)->message);
    }
    team->calls++;
    if (speech->model != NULL && team->who->budget != NULL)
        team->who->budget->calls_begun++;
    return status;
}

enum status
team__ask(struct team *team, struct speech *speech)
{
    if (is_stopped(team) || team__spent(team) != NULL)
        return STATUS_NO;
    speech->model = is_person(speech->role) ? NULL : team__model(team, speech->role);
    speech->turn = 0;
    enum status status = team__compose(team, speech);
    return status == STATUS_OK ? send(team, speech) : status;
}

const char *
team__numbered(struct arena *arena, const char *question, const struct speech *speech)
{
    struct buf buf = buf_in(arena);
    buf_printf(&buf, "%s\n", question);
    for (size_t i = 0; i < speech->choice_count; i++)
        buf_printf(&buf, "%zu. %s\n", i + 1, speech->choices[i]);
    return buf.data;
}

const char *
team__spent(const struct team *team)
{
    return team->who->budget ? llm_budget_reached(team->who->budget) : NULL;
}

/* ---- the reply ---- */

/* What is spent is counted when a reply is read, in the order of the questions: so limits end a run
 * that goes on, or is replayed, where they ended it then. */
void
team__count(struct team *team, const struct store_call *then)
{
    struct llm_budget *budget = team->who->budget;
    if (budget == NULL || !strcmp(then->wire, "builtin"))
        return;
    budget->cost_spent += isnan(then->cost) ? 0 : then->cost;
    budget->input_spent += then->tokens.input;
    budget->cached_spent += then->tokens.cached;
    budget->output_spent += then->tokens.output;
    budget->tokens_spent += then->tokens.input + then->tokens.output;
}

/* It goes to the archive as soon as it is there, whoever waits for it. An end of all calls is not
 * kept: who goes on later asks again. */
static enum status
keep_reply(struct team *team, struct speech *speech, const struct llm_result *result)
{
    struct loop *loop = team->loop;
    const struct llm_record *record = &result->record;
    struct store_call *row = &speech->row;
    row->reply = speech->text = arena_strndup(loop->arena, result->text, result->text_length);
    row->reasoning = arena_strndup(loop->arena, result->reasoning, result->reasoning_length);
    row->outcome = llm_outcome_info[record->outcome].name;
    row->finish = llm_finish_name[record->finish];
    row->served = arena_strdup(loop->arena, record->served ? record->served : "");
    row->message = arena_strdup(loop->arena, result->message);
    row->tokens = (struct store_tokens){record->input, record->cached, record->written,
                                        record->output, record->reasoned};
    row->estimated = record->estimated;
    row->cost = record->cost;
    row->first_ms = record->first_ms;
    row->total_ms = record->total_ms;
    row->ended = clock_wall();
    speech->said = true;
    if (record->outcome == LLM_CANCELLED)
        return STATUS_OK; /* it is asked again when the run goes on */
    if (llm_outcome_info[record->outcome].ends) {
        diags_add(loop->diags, DIAG_ERROR, (struct place){0}, "%s", row->message);
        return STATUS_MACHINE;
    }
    return ledger_call_end(loop->ledger, row, loop->diags);
}

static enum status
fetch(struct team *team)
{
    enum status status = STATUS_OK;
    for (struct llm_call *call; (call = llm_next_done(team->who->llm)) != NULL;) {
        struct speech *speech = llm_user(call);
        enum status one = keep_reply(team, speech, llm_result(call));
        status = status == STATUS_OK ? one : status;
        llm_call_free(call);
        speech->call = NULL;
    }
    return status;
}

static enum status
await(struct team *team, struct speech *speech)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !speech->said) {
        if (is_stopped(team)) {
            llm_cancel(speech->call);
            llm_wait(team->who->llm, 0);
            status = fetch(team); /* what was paid for is kept */
            return status == STATUS_OK ? STATUS_NO : status;
        }
        llm_wait(team->who->llm, NEWS_SECONDS);
        if (speech->call != NULL && team->who->news != NULL) {
            struct llm_progress progress = llm_progress(speech->call);
            team->tokens = progress.tokens;
            team->waiting = true;
            team__news(team, speech->role->agent.name, speech->slot ? speech->slot->step.lane : 0,
                       "%.1fk tokens, %.0f s", progress.tokens / 1000, progress.seconds);
            team->tokens = 0;
            team->waiting = false;
        }
        status = fetch(team);
    }
    return status;
}

/* The text of the reply is known, one way or another. */
static enum status
receive(struct team *team, struct speech *speech)
{
    struct loop *loop = team->loop;
    const char *ignored;
    enum status status = STATUS_OK;
    if (speech->then != NULL) {
        speech->text = speech->then->reply;
        speech->row.outcome = speech->then->outcome;
        speech->row.message = speech->then->message;
        team__count(team, speech->then);
    } else if (speech->model == NULL) {
        speech->row.reply = speech->text;
        speech->row.outcome = llm_outcome_info[LLM_OK].name;
        speech->row.finish = llm_finish_name[LLM_FINISH_STOP];
        speech->row.ended = clock_wall();
        status = ledger_call_end(loop->ledger, &speech->row, loop->diags);
    } else {
        status = await(team, speech);
        if (status == STATUS_OK)
            team__count(team, &speech->row);
    }
    if (status != STATUS_OK)
        return status;
    status = ledger_recall(loop->ledger, "call", speech->row.request_hash, &ignored, loop->diags);
    if (status == STATUS_NO)
        status = ledger_note(loop->ledger, "call", speech->row.request_hash, speech->row.outcome,
                             loop->diags);
    return status;
}

/* ---- conversations ---- */

static enum status
go_on(struct team *team, struct speech *speech, const char *question)
{
    speech->messages = arena_grow(team->loop->arena, speech->messages, speech->message_count,
                                  speech->message_count + 2, sizeof *speech->messages);
    speech->messages[speech->message_count++] = (struct llm_message){LLM_ASSISTANT, speech->text};
    speech->messages[speech->message_count++] = (struct llm_message){LLM_USER, question};
    enum status status = send(team, speech);
    return status == STATUS_OK ? receive(team, speech) : status;
}

/* "TOOL judge": a role may ask the host for something before it answers. */
static const char *
tool_wanted(const struct speech *speech, enum recipe_tool *tool)
{
    const char *line = speech->role->tools ? strstr(speech->text, "TOOL ") : NULL;
    if (line == NULL || (line > speech->text && line[-1] != '\n'))
        return NULL;
    line += 5;
    for (unsigned i = 0; i < RECIPE_TOOL_COUNT; i++)
        if ((speech->role->tools & 1u << i) && text_starts(line, recipe_tool_name[i])) {
            *tool = i;
            return line + strlen(recipe_tool_name[i]);
        }
    return NULL;
}

static enum status
use_tools(struct team *team, struct speech *speech)
{
    unsigned most = team__tool_steps(speech->role);
    enum status status = STATUS_OK;
    enum recipe_tool tool;
    for (const char *rest;
         status == STATUS_OK && speech->turn < most && (rest = tool_wanted(speech, &tool)) != NULL;
         speech->turn++) {
        const char *answer;
        status = team__tool(team, speech, tool, rest, &answer);
        if (status == STATUS_OK)
            status = go_on(team, speech, answer);
    }
    return status;
}

/* A stand-in that may use tools uses each of them once, as a model would: it looks before it
 * answers. */
static enum status
stand_in_tools(struct team *team, struct speech *speech)
{
    const char *final = speech->text;
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < RECIPE_TOOL_COUNT && status == STATUS_OK; i++) {
        const char *answer;
        if (!(speech->role->tools & 1u << i))
            continue;
        speech->text = arena_printf(team->loop->arena, "TOOL %s\n%s", recipe_tool_name[i], final);
        status = team__tool(team, speech, i, final, &answer);
        if (status == STATUS_OK)
            status = go_on(team, speech, answer);
    }
    return status;
}

static bool
is_answered(const struct speech *speech)
{
    return strcmp(speech->row.outcome, llm_outcome_info[LLM_OK].name) == 0;
}

static bool
is_writer(const struct recipe_role *role)
{
    return role->agent.kind == AGENT_CODER || role->agent.kind == AGENT_CROSSOVER ||
           role->agent.kind == AGENT_DEBUGGER;
}

enum status
team__hear(struct team *team, struct speech *speech, struct agent_reply *reply)
{
    const char *reason = NULL;
    enum status status = receive(team, speech);
    if (status == STATUS_OK && speech->model == NULL && speech->role->tools &&
        !is_person(speech->role))
        status = stand_in_tools(team, speech);
    else if (status == STATUS_OK && is_answered(speech))
        status = use_tools(team, speech);
    for (unsigned attempt = 0; status == STATUS_OK; attempt++) {
        if (!is_answered(speech)) {
            reason = speech->row.message;
            break;
        }
        if (agent_parse(team->loop->arena, speech->text, strlen(speech->text), &speech->role->agent,
                        speech->formats, reply, &reason) == STATUS_OK) {
            if (is_writer(speech->role)) /* without kernels, advice is no use */
                team->unusable_in_a_row = 0;
            team__remember(team, speech);
            return STATUS_OK;
        }
        if (attempt == 1 || speech->model == NULL)
            break;
        status = go_on(team, speech,
                       arena_printf(team->loop->arena,
                                    "That could not be used: %s. Answer again, in the form that "
                                    "was asked for.",
                                    reason));
    }
    if (status != STATUS_OK)
        return status;
    team->loop->result->unusable++;
    team->unusable_in_a_row++;
    team__news(team, speech->role->agent.name, speech->slot ? speech->slot->step.lane : 0,
               "unusable: %s", reason);
    if (speech->slot != NULL)
        speech->slot->failed = reason;
    return STATUS_NO;
}
