/* Protected text: of the base only what stands between //! improve and //! end may change. The
 * rest, marks included, is compared byte for byte. */
#include "agent/reply_int.h"

#include "base/text.h"

#include <string.h>

enum { MOST_REGIONS = 64 };

bool
agent__is_mark(const struct reply_line *line, const char *word)
{
    const char *at = line->start + strspn(line->start, " \t");
    if (!text_starts(at, "//!"))
        return false;
    at += 3;
    at += strspn(at, " \t");
    size_t length = strlen(word);
    return text_starts(at, word) && strchr(" \t\n", at[length]) != NULL; /* or the text's end */
}

/* A text as protected and open parts in turn: open[i] stands behind kept[i]. */
struct regions {
    struct {
        const char *text;
        size_t length;
    } kept[MOST_REGIONS + 1], open[MOST_REGIONS];
    size_t count; /* of open ones; kept ones are one more */
};

/* False: marks do not pair, or there are too many. */
static bool
cut(const char *text, struct regions *regions)
{
    struct reply_line line = {.next = text};
    const char *from = text;
    bool inside = false;
    regions->count = 0;
    while (reply__next_line(&line)) {
        bool begins = agent__is_mark(&line, AGENT__IMPROVE);
        bool ends = agent__is_mark(&line, AGENT__END);
        if ((begins && inside) || (begins && regions->count == MOST_REGIONS))
            return false;
        if (begins) {
            regions->kept[regions->count].text = from;
            regions->kept[regions->count].length = (size_t)(line.next - from);
            from = line.next;
            inside = true;
        } else if (ends && inside) {
            regions->open[regions->count].text = from;
            regions->open[regions->count++].length = (size_t)(line.start - from);
            from = line.start;
            inside = false;
        }
    }
    regions->kept[regions->count].text = from;
    regions->kept[regions->count].length = strlen(from);
    return !inside;
}

/* The number of the line where two protected parts differ, 0: they are the same. Ends of the whole
 * file may differ in blank lines. */
static size_t
difference(const char *a, size_t m, const char *b, size_t n, bool last)
{
    size_t same = 0, line = 1;
    while (last && m > 0 && strchr(" \t\n", a[m - 1]))
        m--;
    while (last && n > 0 && strchr(" \t\n", b[n - 1]))
        n--;
    while (same < m && same < n && a[same] == b[same])
        line += a[same++] == '\n';
    return same == m && same == n ? 0 : line;
}

static size_t
lines_in(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += text[i] == '\n';
    return count;
}

/* The first protected line of the base that the text does not have, or 0. */
static size_t
changed_line(const struct regions *base, const struct regions *text)
{
    size_t above = 0;
    for (size_t i = 0; i <= base->count; i++) {
        size_t line = difference(base->kept[i].text, base->kept[i].length, text->kept[i].text,
                                 text->kept[i].length, i == base->count);
        if (line > 0)
            return above + line;
        above += lines_in(base->kept[i].text, base->kept[i].length);
        if (i < base->count)
            above += lines_in(base->open[i].text, base->open[i].length);
    }
    return 0;
}

/* Nothing but regions: their marks, and blanks around them. */
static bool
is_bare(const struct regions *text)
{
    for (size_t i = 0; i <= text->count; i++) {
        const char *end = text->kept[i].text + text->kept[i].length;
        struct reply_line line = {.next = text->kept[i].text};
        while (line.next < end && reply__next_line(&line))
            if (!reply__line_is(&line, "") && !agent__is_mark(&line, AGENT__IMPROVE) &&
                !agent__is_mark(&line, AGENT__END))
                return false;
    }
    return true;
}

static void
add_open(struct buf *buf, const char *text, size_t length)
{
    buf_add(buf, text, length);
    if (length > 0 && text[length - 1] != '\n')
        buf_putc(buf, '\n');
}

static const char *
join(struct arena *arena, const struct regions *base, const struct regions *text)
{
    struct buf buf = buf_in(arena);
    for (size_t i = 0; i < base->count; i++) {
        buf_add(&buf, base->kept[i].text, base->kept[i].length);
        add_open(&buf, text->open[i].text, text->open[i].length);
    }
    buf_add(&buf, base->kept[base->count].text, base->kept[base->count].length);
    return buf.data;
}

static const char *
line_text(struct arena *arena, const char *text, size_t number)
{
    struct reply_line line = {.next = text};
    while (number > 0 && reply__next_line(&line))
        number--;
    return arena_strndup(arena, line.start, line.length < 60 ? line.length : 60);
}

enum status
agent__fill(struct arena *arena, const char *base, const char *text, const char **result,
            const char **reason)
{
    struct regions *of = arena_alloc(arena, sizeof *of), *given = arena_alloc(arena, sizeof *given);
    if (!cut(base, of) || of->count == 0) {
        *reason = "the base has no part to fill: no line //! improve with a line //! end below it";
        return STATUS_NO;
    }
    if (!cut(text, given)) {
        *reason = "a line //! improve has no line //! end below it; keep all marks of the base";
        return STATUS_NO;
    }
    if (given->count == 0 && of->count == 1) { /* the part alone, without its marks */
        given->count = 1;
        given->open[0].text = text;
        given->open[0].length = strlen(text);
    } else if (given->count != of->count) {
        *reason = arena_printf(arena,
                               "the base has %zu parts between //! improve and //! end, the "
                               "reply %zu; keep all marks",
                               of->count, given->count);
        return STATUS_NO;
    } else if (!is_bare(given) && changed_line(of, given) > 0) {
        size_t line = changed_line(of, given);
        *reason = arena_printf(arena,
                               "line %zu of the base, `%s`, is protected and was changed; "
                               "change only what stands between //! improve and //! end",
                               line, line_text(arena, base, line));
        return STATUS_NO;
    }
    *result = join(arena, of, given);
    return STATUS_OK;
}

/* ---- putting the marks ---- */

const char *
agent__below_includes(const char *kernel)
{
    const char *below = kernel;
    for (const char *at = kernel; (at = strstr(at, "#include ")) != NULL; at++)
        below = at + strcspn(at, "\n");
    return *below == '\n' ? below + 1 : below;
}

const char *
agent_protect(struct arena *arena, const char *kernel, unsigned vector_bytes)
{
    const char *below = agent__below_includes(kernel), *include = "";
    struct regions regions;
    if (cut(kernel, &regions) && regions.count > 0)
        return kernel;
    if (strstr(kernel, "\"hone.h\"") == NULL)
        include = arena_printf(arena, "#define HONE_VECTOR_BYTES %u\n#include \"hone.h\"\n",
                               vector_bytes);
    return arena_printf(arena, "%.*s%s//! " AGENT__IMPROVE "\n%s//! " AGENT__END "\n",
                        (int)(below - kernel), kernel, include, below);
}
