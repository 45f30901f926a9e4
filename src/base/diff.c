/* Myers: "An O(ND) difference algorithm and its variations" (1986). For each number d of changes
 * the furthest line that can be reached on each diagonal k = x - y is kept; the way back through
 * these rows is the script. */
#include "base/diff.h"

#include <stdbool.h>
#include <string.h>

enum { MOST_CHANGES = 2000 };

struct line {
    const char *text;
    size_t length;
    bool cut; /* the last one, without a newline */
};

struct side {
    struct line *lines;
    size_t count;
    bool *changed; /* removed from the old text, added by the new one */
};

/* ---- lines ---- */

static struct side
split(struct arena *arena, const struct diff_text *text)
{
    struct side side = {0};
    const char *end = text->text + text->length;
    size_t most = text->length > 0;
    for (size_t i = 0; i < text->length; i++)
        most += text->text[i] == '\n';
    side.lines = arena_array(arena, most, sizeof *side.lines);
    side.changed = arena_array(arena, most, sizeof *side.changed);
    for (const char *at = text->text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        side.lines[side.count++] = (struct line){at, length, stop == NULL};
        at += length + (stop != NULL);
    }
    return side;
}

static bool
is_same(const struct line *a, const struct line *b)
{
    return a->length == b->length && a->cut == b->cut && memcmp(a->text, b->text, a->length) == 0;
}

/* ---- the script ---- */

struct part { /* what is left of both sides when equal beginnings and ends are cut off */
    const struct side *old, *new;
    size_t begin, old_end, new_end;
};

static int
width_of(const struct part *part)
{
    return (int)(part->old_end - part->begin);
}

static int
height_of(const struct part *part)
{
    return (int)(part->new_end - part->begin);
}

/* How far it goes on from (x, k) without a change. */
static int
slide(const struct part *part, int x, int k)
{
    while (x < width_of(part) && x - k < height_of(part) &&
           is_same(&part->old->lines[part->begin + (size_t)x],
                   &part->new->lines[part->begin + (size_t)(x - k)]))
        x++;
    return x;
}

/* A row of d changes holds x for k = -d .. d; the step before was down (a line was added) if
 * this holds, else to the right. */
static bool
came_down(const int *before, int d, int k)
{
    return k == -d || (k != d && before[k - 1 + d - 1] < before[k + 1 + d - 1]);
}

static int
reached(const int *before, int d, int k)
{
    if (d == 0)
        return 0;
    return came_down(before, d, k) ? before[k + 1 + d - 1] : before[k - 1 + d - 1] + 1;
}

/* The rows until both ends are met; -1: there are too many changes. */
static int
find_rows(struct arena *arena, const struct part *part, int **rows)
{
    int end = width_of(part) - height_of(part);
    for (int d = 0; d <= MOST_CHANGES; d++) {
        rows[d] = arena_array(arena, 2 * (size_t)d + 1, sizeof **rows);
        for (int k = -d; k <= d; k += 2) {
            int x = reached(d ? rows[d - 1] : NULL, d, k);
            rows[d][k + d] = slide(part, x, k);
            if (k == end && rows[d][k + d] >= width_of(part))
                return d;
        }
    }
    return -1;
}

static void
mark_script(const struct part *part, int **rows, int changes)
{
    int k = width_of(part) - height_of(part);
    for (int d = changes; d > 0; d--) {
        int x = reached(rows[d - 1], d, k);
        if (came_down(rows[d - 1], d, k)) {
            part->new->changed[part->begin + (size_t)(x - k - 1)] = true;
            k++;
        } else {
            part->old->changed[part->begin + (size_t)(x - 1)] = true;
            k--;
        }
    }
}

static void
mark_all(const struct part *part)
{
    for (size_t i = part->begin; i < part->old_end; i++)
        part->old->changed[i] = true;
    for (size_t i = part->begin; i < part->new_end; i++)
        part->new->changed[i] = true;
}

static void
compare(struct arena *arena, const struct side *old, const struct side *new)
{
    struct part part = {old, new, 0, old->count, new->count};
    int *rows[MOST_CHANGES + 1];
    while (part.begin < part.old_end && part.begin < part.new_end &&
           is_same(&old->lines[part.begin], &new->lines[part.begin]))
        part.begin++;
    while (part.old_end > part.begin && part.new_end > part.begin &&
           is_same(&old->lines[part.old_end - 1], &new->lines[part.new_end - 1])) {
        part.old_end--;
        part.new_end--;
    }
    int changes = find_rows(arena, &part, rows);
    if (changes < 0)
        mark_all(&part);
    else
        mark_script(&part, rows, changes);
}

/* ---- the text ---- */

static void
put_line(struct buf *buf, char sign, const struct line *line)
{
    buf_putc(buf, sign);
    buf_add(buf, line->text, line->length);
    buf_puts(buf, line->cut ? "\n\\ no newline at the end\n" : "\n");
}

static bool
is_changed(const struct side *side, size_t at)
{
    return at < side->count && side->changed[at];
}

/* Where the hunk that begins with a change at (i, j) ends: behind it there are more than twice as
 * many equal lines as are shown around a change. */
static void
find_end(const struct side *old, const struct side *new, size_t context, size_t *i, size_t *j)
{
    size_t equal = 0;
    while ((*i < old->count || *j < new->count) && equal <= 2 * context) {
        bool removed = is_changed(old, *i), added = is_changed(new, *j);
        equal = removed || added ? 0 : equal + 1;
        *i += removed || !added;
        *j += added || !removed;
    }
    size_t over = equal > context ? equal - context : 0;
    *i -= over;
    *j -= over;
}

/* The number of a hunk's first line; of an empty piece that of the line before it. */
static size_t
number_of(size_t begin, size_t count)
{
    return begin + (count > 0);
}

static void
put_hunk(struct buf *buf, const struct side *old, const struct side *new, size_t i, size_t j,
         size_t i_end, size_t j_end)
{
    buf_printf(buf, "@@ -%zu,%zu +%zu,%zu @@\n", number_of(i, i_end - i), i_end - i,
               number_of(j, j_end - j), j_end - j);
    while (i < i_end || j < j_end) {
        if (i < i_end && old->changed[i])
            put_line(buf, '-', &old->lines[i++]);
        else if (j < j_end && new->changed[j])
            put_line(buf, '+', &new->lines[j++]);
        else {
            put_line(buf, ' ', &old->lines[i++]);
            j++;
        }
    }
}

static void
put_hunks(struct buf *buf, const struct side *old, const struct side *new, size_t context)
{
    size_t i = 0, j = 0;
    while (i < old->count || j < new->count) {
        if (!is_changed(old, i) && !is_changed(new, j)) {
            i++;
            j++;
            continue;
        }
        size_t before = context < i ? context : i; /* equal lines: of both there are as many */
        size_t i_end = i, j_end = j;
        before = before < j ? before : j;
        find_end(old, new, context, &i_end, &j_end);
        put_hunk(buf, old, new, i - before, j - before, i_end, j_end);
        i = i_end;
        j = j_end;
    }
}

static size_t
count_changed(const struct side *side)
{
    size_t count = 0;
    for (size_t i = 0; i < side->count; i++)
        count += side->changed[i];
    return count;
}

struct diff_count
diff_put_unified(struct arena *arena, struct buf *buf, const struct diff_text *old,
                 const struct diff_text *new, size_t context)
{
    struct side before = split(arena, old), after = split(arena, new);
    compare(arena, &before, &after);
    struct diff_count count = {count_changed(&before), count_changed(&after)};
    if (buf == NULL || count.removed + count.added == 0)
        return count;
    buf_printf(buf, "--- %s\n+++ %s\n", old->name, new->name);
    put_hunks(buf, &before, &after, context);
    return count;
}
