/* A run as a tree: who came from whom. The builtin search makes many schedules, which are one line
 * for each case; so are the tries of a sweep that led nowhere. */
#include "app/figures.h"
#include "app/screen.h"
#include "app/show.h"
#include "app/table.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct node {
    const struct store_candidate *candidate; /* of a fold: its best, else its first */
    size_t folded;                           /* how many stand in this line; 1: itself */
    size_t parent;                           /* a node; SIZE_MAX: none */
    double us;                               /* in the run's first case; INFINITY: not known */
};

struct tree {
    struct arena *arena;
    const struct archive_run *run;
    struct node *nodes;
    size_t count;
    /* By place among the candidates. */
    const struct store_candidate **parent_of;
    bool *built_upon;
    size_t *node_of;
};

/* ---- nodes ---- */

/* Times of different cases cannot be compared: then it is the one in the run's first case. */
static bool
is_better(const struct tree *tree, const struct store_candidate *a, const struct store_candidate *b)
{
    const struct store_case *mine = archive_timed(a), *theirs = archive_timed(b);
    if (mine == NULL || theirs == NULL)
        return mine != NULL;
    if (strcmp(mine->name, theirs->name) != 0)
        return archive_is_first_case(tree->run, mine);
    return mine->median_us < theirs->median_us;
}

static size_t
place_of(const struct tree *tree, const struct store_candidate *candidate)
{
    return (size_t)(candidate - tree->run->candidates);
}

static const struct store_candidate *
parent_of(const struct tree *tree, const struct store_candidate *candidate)
{
    return tree->parent_of[place_of(tree, candidate)];
}

/* A try of a sweep that nobody kept or built upon. */
static bool
is_vain(const struct tree *tree, const struct store_candidate *candidate)
{
    const struct store_run *run = &tree->run->row;
    return strcmp(candidate->role, "sweep") == 0 && candidate->number != run->best &&
           candidate->number != run->leader && !archive_is_accepted(candidate) &&
           !tree->built_upon[place_of(tree, candidate)];
}

static bool
belong_together(const struct tree *tree, const struct store_candidate *a,
                const struct store_candidate *b)
{
    if (archive_is_draft(tree->run, a))
        return archive_is_draft(tree->run, b) && strcmp(a->phase, b->phase) == 0;
    if (archive_is_layer(a))
        return archive_is_layer(b) && strcmp(a->phase, b->phase) == 0;
    return is_vain(tree, a) && is_vain(tree, b) && parent_of(tree, a) == parent_of(tree, b);
}

static void
place_candidate(struct tree *tree, size_t at)
{
    const struct store_candidate *candidate = &tree->run->candidates[at];
    for (size_t n = 0; n < tree->count; n++) {
        struct node *node = &tree->nodes[n];
        if (!belong_together(tree, node->candidate, candidate))
            continue;
        if (is_better(tree, candidate, node->candidate))
            node->candidate = candidate;
        node->folded++;
        tree->node_of[at] = n;
        return;
    }
    tree->node_of[at] = tree->count;
    tree->nodes[tree->count++] = (struct node){candidate, 1, SIZE_MAX, INFINITY};
}

static void
find_parents(struct tree *tree)
{
    for (size_t i = 0; i < tree->run->candidate_count; i++) {
        const struct store_candidate *parent = archive_parent(tree->run, &tree->run->candidates[i]);
        tree->parent_of[i] = parent;
        if (parent != NULL)
            tree->built_upon[place_of(tree, parent)] = true;
    }
}

static struct tree
make_tree(struct arena *arena, const struct archive_run *run)
{
    size_t most = run->candidate_count;
    struct tree tree = {.arena = arena, .run = run};
    tree.nodes = arena_array(arena, most, sizeof *tree.nodes);
    tree.parent_of = arena_array(arena, most, sizeof *tree.parent_of);
    tree.built_upon = arena_array(arena, most, sizeof *tree.built_upon);
    tree.node_of = arena_array(arena, most, sizeof *tree.node_of);
    find_parents(&tree);
    for (size_t i = 0; i < most; i++)
        place_candidate(&tree, i);
    for (size_t n = 0; n < tree.count; n++) {
        const struct store_candidate *parent = parent_of(&tree, tree.nodes[n].candidate);
        size_t above = parent ? tree.node_of[place_of(&tree, parent)] : SIZE_MAX;
        const struct store_case *timed = archive_timed(tree.nodes[n].candidate);
        tree.nodes[n].parent = above == n ? SIZE_MAX : above;
        tree.nodes[n].us = timed && archive_is_first_case(run, timed) ? timed->median_us : INFINITY;
    }
    return tree;
}

/* The fastest in the run's first case first, then the others, by number. */
static int
compare_nodes(const void *a, const void *b)
{
    const struct node *left = *(const struct node *const *)a;
    const struct node *right = *(const struct node *const *)b;
    if (left->us != right->us)
        return left->us < right->us ? -1 : 1;
    return left->candidate->number < right->candidate->number ? -1 : 1;
}

static size_t
children_of(const struct tree *tree, size_t parent, const struct node ***children)
{
    size_t count = 0;
    *children = arena_array(tree->arena, tree->count, sizeof **children);
    for (size_t n = 0; n < tree->count; n++)
        if (tree->nodes[n].parent == parent)
            (*children)[count++] = &tree->nodes[n];
    if (parent != SIZE_MAX) /* beginnings stand in their order */
        qsort(*children, count, sizeof **children, compare_nodes);
    return count;
}

/* ---- cells ---- */

struct marks {
    const char *child, *last, *through, *blank;
};

static const struct marks *
marks_here(void)
{
    static const struct marks utf8 = {"├─ ", "└─ ", "│  ", "   "};
    static const struct marks plain = {"|- ", "`- ", "|  ", "   "};
    return screen_utf8() ? &utf8 : &plain;
}

/* Times in another than the first case say which. */
static const char *
time_or_status(struct arena *arena, const struct archive_run *run,
               const struct store_candidate *candidate)
{
    const struct store_case *timed = archive_timed(candidate);
    const struct store_verdict *verdict = archive_verdict(candidate);
    if (timed != NULL && !archive_is_first_case(run, timed) && !archive_is_draft(run, candidate))
        return arena_printf(arena, "%s %s", timed->name, table_time(arena, timed->median_us));
    if (timed != NULL)
        return table_time(arena, timed->median_us);
    return verdict ? verdict->status : "not judged";
}

static const char *
fold_text(const struct tree *tree, const struct node *node)
{
    const struct store_candidate *best = node->candidate;
    if (archive_is_layer(best))
        return arena_printf(tree->arena, "%s, %zu kernels", best->why, node->folded);
    if (!archive_is_draft(tree->run, best))
        return arena_printf(tree->arena, "%zu more tries, none kept", node->folded);
    return arena_printf(tree->arena, "case %s: %zu schedules, best %s", best->phase, node->folded,
                        archive_main_line(tree->arena, best->schedule));
}

static const char *
what_text(const struct tree *tree, const struct node *node)
{
    const struct store_candidate *candidate = node->candidate;
    const struct store_verdict *verdict = archive_verdict(candidate);
    if (node->folded > 1)
        return fold_text(tree, node);
    if (verdict != NULL && !archive_is_correct(candidate) && verdict->reason[0] != '\0')
        return verdict->reason;
    if (candidate->why[0] != '\0')
        return candidate->why;
    return archive_main_line(tree->arena, candidate->schedule);
}

/* "6 %"; nothing where the search did not say which of the two is faster. */
static const char *
gain_cell(const struct tree *tree, const struct node *node)
{
    const struct store_candidate *parent = parent_of(tree, node->candidate);
    bool accepted = archive_is_accepted(node->candidate);
    bool told = accepted || strcmp(node->candidate->accepted, "slower") == 0;
    struct archive_comparison pair;
    if (parent == NULL || node->folded > 1 || !told)
        return "";
    archive_pair(tree->run, node->candidate, parent, &pair);
    /* Times taken alone may say otherwise than the search, which knows more cases. */
    bool agrees = accepted ? pair.gain >= 1 : pair.gain < 1;
    return agrees && !pair.same ? archive_share_text(tree->arena, pair.gain) : "";
}

/* ---- lines ---- */

struct row {
    const char *left, *who, *what, *gain, *decision;
};

struct rows {
    struct row *items;
    size_t count;
};

static void
add_row(const struct tree *tree, const struct node *node, const char *marks, struct rows *rows)
{
    struct arena *arena = tree->arena;
    const struct store_candidate *candidate = node->candidate;
    const char *decision = node->folded > 1 ? "" : archive_decision(tree->run, candidate);
    rows->items[rows->count++] = (struct row){
        arena_printf(arena, "%s%s  %s.%lld", marks, time_or_status(arena, tree->run, candidate),
                     node->parent == SIZE_MAX ? tree->run->row.name : "",
                     (long long)candidate->number),
        node->folded > 1 && archive_is_draft(tree->run, candidate) ? "builtin"
                                                                   : archive_who(candidate),
        what_text(tree, node), gain_cell(tree, node), decision};
}

static void
add_children(const struct tree *tree, size_t parent, const char *stem, struct rows *rows)
{
    const struct marks *marks = marks_here();
    const struct node **children;
    size_t count = children_of(tree, parent, &children);
    for (size_t i = 0; i < count; i++) {
        bool last = i + 1 == count, root = parent == SIZE_MAX;
        const char *mark = root ? "" : last ? marks->last : marks->child;
        const char *below = root ? "" : last ? marks->blank : marks->through;
        add_row(tree, children[i], arena_printf(tree->arena, "%s%s", stem, mark), rows);
        add_children(tree, (size_t)(children[i] - tree->nodes),
                     arena_printf(tree->arena, "%s%s", stem, below), rows);
    }
}

static size_t
widest(const struct rows *rows, size_t offset, size_t most)
{
    size_t width = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const char *text = *(const char *const *)((const char *)&rows->items[i] + offset);
        size_t here = screen_width(text);
        width = here > width ? here : width;
    }
    return width < most ? width : most;
}

/* A cell that is wider than its column pushes the rest of its line to the right. */
static void
put_rows(struct buf *buf, const struct rows *rows)
{
    size_t left = widest(rows, offsetof(struct row, left), 36);
    size_t who = widest(rows, offsetof(struct row, who), 12);
    size_t gain = widest(rows, offsetof(struct row, gain), 8);
    size_t decision = widest(rows, offsetof(struct row, decision), 24);
    size_t right = SCREEN_WIDTH - (gain ? gain + 2 : 0) - (decision ? decision + 2 : 0);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];
        size_t start = buf->length;
        buf_printf(buf, "  %s", row->left);
        screen_pad(buf, start, left + 4);
        buf_puts(buf, row->who);
        screen_pad(buf, start, left + who + 6);
        bool judged = *row->gain || *row->decision;
        size_t used = screen_width(buf->data + start), end = judged ? right : SCREEN_WIDTH;
        buf_puts(buf, screen_cut(buf->arena, row->what, end > used + 8 ? end - used : 8));
        if (judged) {
            screen_pad(buf, start, right);
            buf_printf(buf, "  %*s  %s", (int)gain, row->gain, row->decision);
        }
        while (buf->data[buf->length - 1] == ' ')
            buf->data[--buf->length] = '\0';
        buf_putc(buf, '\n');
    }
}

/* ---- what came of the proposals ---- */

struct tally {
    const char *words[16];
    size_t counts[16], kinds;
};

static void
tally_add(struct tally *tally, const char *word)
{
    size_t i = 0;
    while (i < tally->kinds && strcmp(tally->words[i], word) != 0)
        i++;
    if (i == sizeof tally->words / sizeof *tally->words)
        return;
    tally->words[i] = word;
    tally->counts[i]++;
    tally->kinds += i == tally->kinds;
}

static const char *
outcome(const struct archive_run *run, const struct store_candidate *candidate)
{
    const struct store_verdict *verdict = archive_verdict(candidate);
    if (verdict == NULL)
        return "not judged";
    if (strcmp(verdict->status, "build_failed") == 0)
        return "did not build";
    if (!archive_is_correct(candidate))
        return verdict->status;
    const char *decision = archive_decision(run, candidate);
    if (text_starts(decision, "accepted") || text_starts(decision, "best"))
        return "accepted";
    return *decision ? decision : "correct";
}

static bool
is_proposal(const struct archive_run *run, const struct store_candidate *candidate)
{
    return !archive_is_layer(candidate) && !archive_is_draft(run, candidate) &&
           strcmp(candidate->phase, "file") != 0;
}

const char *
show_tally(struct arena *arena, const struct archive_run *run)
{
    struct tally tally = {.words = {"accepted", "correct", "same", "slower"}, .kinds = 4};
    size_t proposals = 0;
    for (size_t i = 0; i < run->candidate_count; i++)
        proposals += is_proposal(run, &run->candidates[i]);
    bool drafts = proposals == 0; /* a builtin run: then its schedules are what was proposed */
    size_t count = 0;
    for (size_t i = 0; i < run->candidate_count; i++) {
        const struct store_candidate *candidate = &run->candidates[i];
        if (drafts ? !archive_is_draft(run, candidate) : !is_proposal(run, candidate))
            continue;
        tally_add(&tally, outcome(run, candidate));
        count++;
    }
    struct buf buf = buf_in(arena);
    buf_printf(&buf, "%zu %s%s", count, drafts ? "schedule" : "proposal", count == 1 ? "" : "s");
    const char *between = ": ";
    for (size_t i = 0; i < tally.kinds; i++) {
        if (tally.counts[i] == 0)
            continue;
        buf_printf(&buf, "%s%zu %s", between, tally.counts[i], tally.words[i]);
        between = ", ";
    }
    return buf.data;
}

/* ---- the screen ---- */

static const char *
about_text(struct arena *arena, const struct archive_run *run)
{
    struct buf buf = buf_in(arena);
    double threads = archive_machine(&run->row).threads;
    buf_printf(&buf, "recipe %s", run->row.recipe);
    if (run->row.model[0] != '\0')
        buf_printf(&buf, ", %s", run->row.model);
    if (!isnan(threads))
        buf_printf(&buf, ", %.0f thread%s", threads, threads == 1 ? "" : "s");
    buf_printf(&buf, ", seed %llx", (unsigned long long)run->row.seed);
    return buf.data;
}

void
show_title(struct buf *buf, const struct archive_run *run, double now)
{
    struct arena *arena = buf->arena;
    const char *end = arena_printf(arena, "%s, %s", archive_state(&run->row),
                                   screen_clock(arena, archive_seconds(&run->row, now)));
    if (!isnan(run->row.cost))
        end = arena_printf(arena, "%s, %.2f USD", end, run->row.cost);
    size_t start = buf->length, width = screen_width(end);
    buf_printf(buf, "%s  %s  ", run->row.task.name, about_text(arena, run));
    screen_pad(buf, start, SCREEN_WIDTH - width);
    buf_printf(buf, "%s\n", end);
}

/* A candidate that is worth a look: what was given, else the fastest. */
static void
put_next(struct buf *buf, const struct archive_run *run)
{
    int64_t number = run->row.leader >= 0 ? run->row.leader : 0;
    buf_printf(buf, "%s.   hone show %s | hone explain %s | ", show_tally(buf->arena, run),
               archive_name(buf->arena, run->row.name, number), run->row.name);
    buf_puts(buf, run->call_count > 0 ? "--prompts\n" : "--json\n");
}

void
show_tree(struct buf *buf, const struct archive_run *run, const struct bench_figures *figures,
          double now)
{
    struct tree tree = make_tree(buf->arena, run);
    struct rows rows = {arena_array(buf->arena, tree.count, sizeof *rows.items), 0};
    show_title(buf, run, now);
    add_children(&tree, SIZE_MAX, "", &rows);
    put_rows(buf, &rows);
    if (figures != NULL) {
        figures_show(buf, figures, "");
        buf_putc(buf, '\n');
    }
    if (run->candidate_count > 0)
        put_next(buf, run);
    else
        buf_puts(buf, "nothing was proposed yet\n");
}
