/* Full text: words into its tables, and questions to them. */
#include "store/sql_int.h"

#include "base/buf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const struct store_words
    store__candidate_words = {"INSERT INTO candidate_words (rowid, code, why) VALUES (?, ?, ?)",
                              "INSERT INTO candidate_words (candidate_words, rank)"
                              " VALUES ('merge', 16)"},
    store__item_words = {"INSERT INTO item_words (rowid, key, text) VALUES (?, ?, ?)",
                         "INSERT INTO item_words (item_words, rank) VALUES ('merge', 16)"};

/* By itself full text puts its pieces together now and then, many at once, and among a million rows
 * that took a tenth of a second; a few pages each time take a millisecond or two. */
void
store__add_words(struct store *store, const struct store_words *words, int64_t row,
                 const char *first, size_t first_count, const char *second)
{
    struct sql sql = sql_prepare(store, words->insert);

    sql_int(&sql, row);
    sql_bytes(&sql, first, first_count);
    sql_text(&sql, second);
    sql_run(&sql);
    sql = sql_prepare(store, words->merge);
    sql_run(&sql);
}

bool
store__is_blank(char c)
{
    return isspace((unsigned char)c) != 0;
}

bool
store__is_no_letter(char c)
{
    return (unsigned char)c < 0x80 && !isalnum((unsigned char)c);
}

/* Case does not matter: full text folds it. */
static bool
is_new(const char *const *pieces, size_t count, const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(pieces[i]) == length && strncasecmp(pieces[i], text, length) == 0)
            return false;
    return true;
}

size_t
store__pieces(struct arena *arena, const char *text, bool (*parts)(char c), size_t most,
              const char ***pieces)
{
    const char **found = arena_array(arena, most, sizeof *found);
    size_t count = 0;

    while (text && *text && count < most) {
        size_t length = 0;

        while (text[length] && !parts(text[length]))
            length++;
        if (length > 0 && is_new(found, count, text, length))
            found[count++] = arena_strndup(arena, text, length);
        text += length + (text[length] != '\0');
    }
    *pieces = found;
    return count;
}

/* Each piece as a phrase: within quotes nothing has a meaning but the quote. */
static void
put_phrase(struct buf *query, const char *piece)
{
    buf_putc(query, '"');
    for (; *piece; piece++)
        buf_putc(query, *piece == '"' ? ' ' : *piece);
    buf_putc(query, '"');
}

const char *
store__words_query(struct arena *arena, const char *const *pieces, size_t count, const char *joint)
{
    struct buf query = buf_in(arena);

    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_printf(&query, " %s ", joint);
        put_phrase(&query, pieces[i]);
    }
    return count ? query.data : "\"\"";
}

/* ---- how rare they are ---- */

struct word {
    const char *text;
    size_t count;
};

static int
by_count(const void *left, const void *right)
{
    const struct word *a = left, *b = right;

    return (a->count > b->count) - (a->count < b->count);
}

/* Up to STORE_FEW. */
static size_t
count_rows(struct sql *sql, const char *query)
{
    size_t count = 0;

    sql_again(sql);
    sql_text(sql, query);
    sql_int(sql, STORE_FEW);
    while (sql_row(sql))
        count++;
    return count;
}

size_t
store__weigh_words(struct store *store, struct arena *arena, const char *query, const char **pieces,
                   size_t count, size_t *rare)
{
    struct word *words = arena_array(arena, count, sizeof *words);
    struct sql sql = sql_prepare(store, query);
    size_t known = 0;

    for (size_t i = 0; i < count; i++) {
        words[known].text = pieces[i];
        words[known].count = count_rows(&sql, store__words_query(arena, &pieces[i], 1, ""));
        known += words[known].count > 0;
    }
    sql_end(&sql);
    if (known)
        qsort(words, known, sizeof *words, by_count);
    for (size_t i = *rare = 0; i < known; i++) {
        pieces[i] = words[i].text;
        *rare += words[i].count < STORE_FEW;
    }
    return known;
}
