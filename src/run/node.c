/* Candidates of a team: from lines to kernels, from kernels to times. */
#include "run/team_int.h"

#include "base/clock.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pilot: who is so many times slower than its base in the smallest case is not measured in the
 * others. */
static const double TOO_SLOW = 1.5;

static size_t
case_count(const struct team *team)
{
    return team->loop->result->case_count;
}

struct node *
team__node(struct team *team, const struct node *parent)
{
    struct arena *arena = team->loop->arena;
    struct node *node = arena_alloc(arena, sizeof *node);
    size_t cases = case_count(team);
    *node = (struct node){.number = (int)team->node_count,
                          .status = JUDGE_BUILD_FAILED,
                          .reason = "",
                          .words = "",
                          .why = "",
                          .role = "",
                          .proposer = "builtin",
                          .phase = team->phase ? team->phase->recipe->name : "",
                          .decision = "",
                          .low = NAN,
                          .high = NAN,
                          .cost = INFINITY};
    node->us = arena_array(arena, cases, sizeof *node->us);
    for (size_t i = 0; i < cases; i++)
        node->us[i] = INFINITY;
    if (parent != NULL)
        node->parents[node->parent_count++] = parent;
    team->nodes =
        arena_grow(arena, team->nodes, team->node_count, team->node_count + 1, sizeof *team->nodes);
    team->nodes[team->node_count++] = node;
    return node;
}

struct node *
team__node_at(struct team *team, int number)
{
    return number >= 0 && (size_t)number < team->node_count ? team->nodes[number] : NULL;
}

const struct node *
team__solid(const struct node *node)
{
    while (node != NULL && node->empty)
        node = node->parent_count > 0 ? node->parents[0] : NULL;
    return node;
}

/* ---- schedules ---- */

static const struct program *
program_of(const struct team *team, const struct node *node, size_t number)
{
    return node->programs ? node->programs[number] : team->loop->result->cases[number].program;
}

static const char *
first_error(struct arena *arena, const struct diags *diags)
{
    return diags_count(diags) > 0 ? arena_strdup(arena, diags_get(diags, 0)->message)
                                  : "it cannot be expressed";
}

/* All cases in one text, as coder_read() takes it. */
static const char *
join_lines(struct team *team, const char *const *lines)
{
    struct buf text = buf_in(team->loop->arena);
    if (case_count(team) == 1)
        return lines[0];
    for (size_t i = 0; i < case_count(team); i++)
        buf_printf(&text, "case %s:\n%s", team->loop->result->cases[i].program->case_name,
                   lines[i]);
    return text.data;
}

bool
team__schedule(struct team *team, const char *text, struct node *node, const char **reason)
{
    struct arena *arena = team->loop->arena;
    size_t cases = case_count(team);
    const char **parts = arena_array(arena, cases, sizeof *parts);
    const char **lines = arena_array(arena, cases, sizeof *lines);
    struct coder_options options = {.vector_bytes = team->loop->options->machine.vector_bytes};
    struct source source = {"schedule", text, strlen(text)};
    for (size_t i = 0; i < cases; i++) {
        struct diags *diags = diags_create(arena, 4);
        struct schedule *schedule =
            coder_read(arena, program_of(team, node, i), &source, &options, diags);
        struct buf kernel = buf_in(arena), filled = buf_in(arena);
        if (schedule == NULL || !coder_emit(&kernel, arena, schedule, diags)) {
            *reason = first_error(arena, diags);
            return false;
        }
        coder_write(&filled, schedule);
        parts[i] = kernel.data;
        lines[i] = filled.data ? filled.data : "";
    }
    node->parts = parts;
    node->lines = lines;
    node->schedule = join_lines(team, lines);
    node->kernel = run__joined(team->loop, parts);
    return true;
}

const char *
team__usual_lines(struct team *team, const struct node *node)
{
    struct buf text = buf_in(team->loop->arena);
    const struct coder_genome usual = {{0}};
    for (size_t i = 0; i < case_count(team); i++) {
        struct coder_space *space = coder_space_open(team->loop->arena, program_of(team, node, i),
                                                     &team->loop->options->machine);
        buf_printf(&text, "case %s:\n%s\n", team->loop->result->cases[i].program->case_name,
                   coder_sketch(space, &usual).text);
    }
    return text.data;
}

/* "Y" of "Y: r@p j@v"; of a rewrite the whole line. */
static size_t
head_length(const char *line)
{
    size_t length = strcspn(line, "\n"), head = strcspn(line, ":\n");
    return line[0] != '!' && head < length ? head : length;
}

static const char *
next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

static bool
is_case_head(const char *line)
{
    return strncmp(line, "case ", 5) == 0;
}

static bool
has_head(const char *text, const char *line)
{
    size_t length = head_length(line);
    for (; *text; text = next_line(text))
        if (!is_case_head(text) && head_length(text) == length && !strncmp(text, line, length))
            return true;
    return false;
}

/* The part of a text that is for one case: what comes before any head, and what is under its own.
 */
static const char *
lines_for(struct arena *arena, const char *text, const char *name)
{
    struct buf part = buf_in(arena);
    bool here = true;
    for (; *text; text = next_line(text)) {
        size_t length = strcspn(text, "\n");
        if (is_case_head(text))
            here =
                strlen(name) == strcspn(text + 5, ": \n") && !strncmp(text + 5, name, strlen(name));
        else if (here && length > 0)
            buf_printf(&part, "%.*s\n", (int)length, text);
    }
    return part.data ? part.data : "";
}

const char *
team__overlay(struct team *team, const char *base, const char *changed)
{
    struct arena *arena = team->loop->arena;
    const char **lines = arena_array(arena, case_count(team), sizeof *lines);
    for (size_t i = 0; i < case_count(team); i++) {
        const char *name = team->loop->result->cases[i].program->case_name;
        const char *own = lines_for(arena, changed, name);
        struct buf text = buf_in(arena);
        for (const char *line = lines_for(arena, base, name); *line; line = next_line(line))
            if (!has_head(own, line))
                buf_printf(&text, "%.*s\n", (int)strcspn(line, "\n"), line);
        buf_puts(&text, own);
        lines[i] = text.data ? text.data : "";
    }
    return join_lines(team, lines);
}

/* C is told apart by how many loops it has, and whether it shares work out, has vectors or keeps
 * copies. */
static uint64_t
structure_of_c(const char *text)
{
    enum { MOST_LOOPS = 7 };
    uint64_t loops = 0;
    for (const char *at = text; (at = strstr(at, "for (")) != NULL && loops < MOST_LOOPS; at++)
        loops++;
    bool threads = strstr(text, "omp parallel") != NULL;
    bool vectors = strstr(text, "hv_") != NULL || strstr(text, "_mm") != NULL;
    bool copies = strstr(text, "alloc(") != NULL || strstr(text, "pack") != NULL;
    return 1 + loops * 8 + threads * 4 + vectors * 2 + copies;
}

uint64_t
team__structure(struct team *team, const struct node *node)
{
    const char *text = node->schedule;
    struct buf kept = buf_in(team->loop->arena);
    static const char *const marks[] = {"do(", "with(", "pack(", "online(", "@p", "inline", "! "};
    if (text == NULL)
        return structure_of_c(node->kernel ? node->kernel : "");
    for (; *text; text++)
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
            if (!strncmp(text, marks[i], strlen(marks[i])))
                buf_printf(&kept, "%.*s ", (int)strcspn(text, " \n"), text);
    char hash[HASH_TEXT];
    hash_sha256(kept.data ? kept.data : "", kept.length, hash);
    hash[12] = '\0';
    return strtoull(hash, NULL, 16);
}

/* ---- judging ---- */

const char *
team__words(struct arena *arena, const struct judge_report *report)
{
    struct buf words = buf_in(arena);
    const struct judge_wrong *wrong = &report->wrong;
    buf_printf(&words, "%s%s%s\n", judge_status_name[report->status], *report->reason ? ": " : "",
               report->reason);
    if (report->line > 0)
        buf_printf(&words, "line %u\n", report->line);
    if (wrong->tensor != NULL) {
        buf_printf(&words, "where: %s\nexample: %s expected %.9g got %.9g allowed error %.3g\n",
                   wrong->where ? wrong->where : "many places", wrong->element, wrong->expected,
                   wrong->got, wrong->allowed);
        buf_printf(&words, "inputs: %s\n", wrong->kinds ? wrong->kinds : "");
        if (wrong->guess != NULL)
            buf_printf(&words, "looks like: %s\n", wrong->guess);
    }
    if (*report->details)
        buf_printf(&words, "%.1500s\n", report->details);
    return words.data;
}

static void
take_times(struct team *team, struct node *node, const struct judge_report *report)
{
    for (size_t i = 0; i < report->case_count; i++)
        for (size_t k = 0; k < case_count(team); k++) {
            struct run_case *of = &team->loop->result->cases[k];
            if (strcmp(of->program->case_name, report->cases[i].program->case_name) != 0)
                continue;
            node->us[k] = report->cases[i].timed ? report->cases[i].time.median : 1;
            of->light = report->cases[i].light;
        }
}

/* What a phase with `objective = counter NAME` makes smaller. NAN: the phase goes by time, because
 * what it began with has no such figure. */
static double
counter_of(const struct team *team, const struct recipe_phase *phase, const struct node *node)
{
    double figure = team__figure(node, phase->counter);
    if (isnan(team__figure(team->start, phase->counter)))
        return NAN;
    return isnan(figure) ? INFINITY : figure;
}

double
team__cost(const struct team *team, const struct recipe_phase *phase, const struct node *node)
{
    double product = 0, worst = 0, sum = 0;
    size_t cases = case_count(team);
    if (node->status != JUDGE_CORRECT)
        return INFINITY;
    for (size_t i = 0; i < cases; i++) {
        double light = team->loop->result->cases[i].light.us;
        double value = node->us[i];
        if (phase != NULL && phase->objective == RECIPE_LIGHT && light > 0)
            value /= light;
        product += log(value) / (double)cases;
        worst = value > worst ? value : worst;
        sum += value;
    }
    if (phase != NULL && phase->objective == RECIPE_COUNTER &&
        !isnan(counter_of(team, phase, node)))
        return counter_of(team, phase, node);
    if (phase != NULL && phase->over == RECIPE_WORST)
        return worst;
    return phase != NULL && phase->over == RECIPE_SUM ? sum : exp(product);
}

/* A first look at the smallest case: most of what fails fails here, and what is hopeless too. */
static enum status
look_small(struct team *team, struct node *node, const struct node *base,
           struct judge_report *report, bool *enough)
{
    const struct run_judge *judge = team->loop->judge;
    struct judge_kernel *kernel;
    size_t smallest = team->smallest;
    enum status status = judge->look(judge->context, team->small, team->loop->arena, node->kernel,
                                     &kernel, report, team->loop->diags);
    if (status != STATUS_OK)
        return status;
    judge->drop(judge->context, kernel);
    *enough = report->status != JUDGE_BUILT;
    if (*enough || base == NULL || base->status != JUDGE_CORRECT)
        return STATUS_OK;
    take_times(team, node, report);
    if (node->us[smallest] > TOO_SLOW * base->us[smallest]) {
        *enough = true;
        node->cost = base->cost * node->us[smallest] / base->us[smallest];
    }
    return STATUS_OK;
}

enum status
team__meet(struct team *team, struct node *node)
{
    agent_normal_hash(team->loop->arena, node->kernel, node->normal);
    return team__look(team, node, NULL);
}

enum status
team__look(struct team *team, struct node *node, const struct node *base)
{
    struct loop *loop = team->loop;
    const struct run_judge *judge = loop->judge;
    struct judge_report report;
    bool enough = false;
    enum status status = STATUS_OK;
    loop->result->evaluations++;
    if (team->small != team->all)
        status = look_small(team, node, base, &report, &enough);
    if (status == STATUS_OK && !enough)
        status = judge->look(judge->context, team->all, loop->arena, node->kernel, &node->built,
                             &report, loop->diags);
    if (status != STATUS_OK)
        return status;
    if (report.status == JUDGE_BUILT) {
        report.status = JUDGE_CORRECT;
        take_times(team, node, &report);
    }
    node->status = report.status;
    node->reason = report.reason;
    node->words = team__words(loop->arena, &report);
    loop->result->failed += report.status != JUDGE_CORRECT;
    if (team->phase != NULL && team->phase->recipe->objective == RECIPE_COUNTER &&
        node->status == JUDGE_CORRECT)
        team__look_at(team, node);
    if (!enough || report.status != JUDGE_CORRECT)
        node->cost = team__cost(team, team->phase ? team->phase->recipe : NULL, node);
    return team__record(team, node, &report);
}

enum status
team__compare(struct team *team, const struct node *base, const struct node *node,
              struct run_difference *difference, double *worst_case)
{
    const struct run_judge *judge = team->loop->judge;
    enum status status = STATUS_OK;
    double ratio = 0, low = 0, high = 0;
    size_t cases = case_count(team), timed = 0;
    *difference = (struct run_difference){.ratio = 1, .low = 1, .high = 1};
    *worst_case = 1;
    for (size_t i = 0; i < cases && status == STATUS_OK; i++) {
        struct run_difference one;
        if (team->loop->result->cases[i].program->check_only)
            continue;
        status = judge->compare(judge->context, team->all, base->built, node->built, i, &one,
                                team->loop->diags);
        difference->faster = difference->faster || one.faster;
        difference->slower = difference->slower || one.slower;
        ratio += log(one.ratio);
        low += log(one.low);
        high += log(one.high);
        *worst_case = 1 / one.ratio < *worst_case ? 1 / one.ratio : *worst_case;
        timed++;
    }
    if (timed > 0) {
        difference->ratio = exp(ratio / (double)timed);
        difference->low = exp(low / (double)timed);
        difference->high = exp(high / (double)timed);
    }
    return status;
}

/* ---- the archive ---- */

/* Each case may be served by it. */
static void
offer(struct team *team, const struct node *node)
{
    struct run_result *result = team->loop->result;
    for (size_t i = 0; i < result->case_count; i++) {
        struct run_case *of = &result->cases[i];
        if (of->tried_count >= team->loop->most_tried)
            continue;
        of->tried[of->tried_count++] =
            (struct run_candidate){.number = result->evaluations,
                                   .id = node->id,
                                   .row = node->row,
                                   .node = node->number + 1,
                                   .proposer = node->proposer,
                                   .schedule = node->lines ? node->lines[i] : NULL,
                                   .kernel = node->parts ? node->parts[i] : node->kernel,
                                   .status = isinf(node->us[i]) ? JUDGE_BUILT : node->status,
                                   .reason = node->reason,
                                   .us = node->us[i]};
        of->evaluations++;
    }
}

void
team__withdraw(struct team *team, const struct node *node)
{
    struct run_result *result = team->loop->result;
    for (size_t i = 0; i < result->case_count; i++)
        for (size_t k = 0; k < result->cases[i].tried_count; k++)
            if (result->cases[i].tried[k].node == node->number + 1) {
                result->cases[i].tried[k].status = node->status;
                result->cases[i].tried[k].reason = node->reason;
            }
}

enum status
team__record(struct team *team, struct node *node, const struct judge_report *report)
{
    struct loop *loop = team->loop;
    struct store_parent *parents =
        arena_array(loop->arena, node->made_of_count + 2, sizeof *parents);
    size_t count = 0;
    for (size_t i = 0; i < node->made_of_count; i++)
        if (node->made_of[i] != 0)
            parents[count++] = (struct store_parent){.candidate = node->made_of[i]};
    for (size_t i = 0; i < node->parent_count; i++) {
        const struct node *parent = team__solid(node->parents[i]);
        if (parent != NULL && parent->id != 0 && (count == 0 || parent->id != parents[0].candidate))
            parents[count++] = (struct store_parent){.candidate = parent->id};
    }
    bool own = !loop->is_part; /* lines of a part are no schedule of the task */
    struct store_candidate row = {.run = loop->ledger->run,
                                  .kind = own && node->schedule ? STORE_SCHEDULE : STORE_SOURCE,
                                  .proposer = node->proposer,
                                  .phase = node->phase,
                                  .role = node->role,
                                  .why = node->why,
                                  .schedule = own ? node->schedule : NULL,
                                  .kernel = node->kernel,
                                  .kernel_length = strlen(node->kernel),
                                  .added = clock_wall(),
                                  .parents = parents,
                                  .parent_count = count,
                                  .expected_low = node->low,
                                  .expected_high = node->high,
                                  .call = node->call,
                                  .lane = node->lane,
                                  .round = node->round};
    enum status status = ledger_candidate(loop->ledger, &row, loop->diags);
    node->id = row.id;
    node->row = row.number;
    if (status != STATUS_OK || report == NULL)
        return status;
    if (report->case_count > 0) /* it was judged, and not refused unseen */
        offer(team, node);
    return run__record_verdict(loop, &row, report);
}

enum status
team__decide(struct team *team, struct node *node, const char *decision)
{
    struct store_candidate row = {.id = node->id, .number = node->row};
    node->decision = decision;
    return ledger_decide(team->loop->ledger, &row, decision, team->loop->diags);
}
