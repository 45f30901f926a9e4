/* The text of a schedule: lines, tokens, names. What the tokens mean together is check.c's. */
#include "coder/coder_int.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const token_words[] = {
#define X(id, word, ...) word,
    CODER_TOKENS(X)
#undef X
};

static const char *const change_words[] = {
#define X(id, word, ...) word,
    CODER_CHANGES(X)
#undef X
};

struct reader {
    struct arena *arena;
    const struct source *source;
    struct diags *diags;
    const struct program *program;
    struct schedule *schedule;
    const char *const *cases; /* NULL: any */
    bool own;                 /* behind a `case NAME:` */
    const char *at, *end;     /* what is left of the line */
    const char *line_start;
    uint32_t line;
};

static struct place
place_of(const struct reader *reader, const char *at)
{
    return (struct place){reader->source, reader->line, (uint32_t)(at - reader->line_start) + 1};
}

/* ---- words ---- */

static void
skip_blanks(struct reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t'))
        reader->at++;
}

/* The next blank-separated word; blanks inside brackets belong to it. NULL: none. */
static char *
next_word(struct reader *reader, const char **start)
{
    int depth = 0;
    skip_blanks(reader);
    *start = reader->at;
    while (reader->at < reader->end) {
        char c = *reader->at;
        depth += (c == '(') - (c == ')');
        if ((c == ' ' || c == '\t') && depth <= 0)
            break;
        reader->at++;
    }
    if (reader->at == *start)
        return NULL;
    return arena_strndup(reader->arena, *start, (size_t)(reader->at - *start));
}

static bool
find_stage(const struct program *program, const char *name, size_t *number)
{
    for (size_t i = 0; i < program->stage_count; i++)
        if (strcmp(program->stages[i].tensor->name, name) == 0) {
            *number = i;
            return true;
        }
    return false;
}

static void
unknown_stage(struct reader *reader, struct place place, const char *name)
{
    const struct program *program = reader->program;
    const char **names = arena_array(reader->arena, program->stage_count + 1, sizeof *names);
    for (size_t i = 0; i < program->stage_count; i++)
        names[i] = program->stages[i].tensor->name;
    const char *near = text_nearest(name, names, program->stage_count);
    if (near != NULL)
        diags_add(reader->diags, DIAG_ERROR, place, "there is no stage %s; write %s", name, near);
    else
        diags_add(reader->diags, DIAG_ERROR, place,
                  "there is no stage %s; hone task --expand lists them", name);
}

static bool
need_stage(struct reader *reader, struct place place, const char *name, size_t *number)
{
    if (find_stage(reader->program, name, number))
        return true;
    unknown_stage(reader, place, name);
    return false;
}

/* ---- tokens ---- */

/* Splits "a, b, c" in place. */
static size_t
split_commas(char *text, char **parts, size_t most)
{
    size_t count = 0;
    for (char *at = text; at != NULL && count < most; count++) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma = '\0';
        parts[count] = text_trim(at);
        at = comma != NULL ? comma + 1 : NULL;
    }
    return count;
}

static bool
bad(struct reader *reader, const struct token *token, const char *what)
{
    diags_add(reader->diags, DIAG_ERROR, token->place, "%s: %s", token->text, what);
    return false;
}

static bool
read_tensor(struct reader *reader, struct token *token, const char *name)
{
    for (size_t i = 0; i < reader->program->tensor_count; i++)
        if (strcmp(reader->program->tensors[i]->name, name) == 0) {
            token->tensor = reader->program->tensors[i];
            return true;
        }
    return bad(reader, token, "there is no such tensor; write an input or a stage that is read");
}

static bool
read_pack(struct reader *reader, struct token *token, char *inside)
{
    char *access = strchr(inside, '@');
    token->number = 1;
    if (access != NULL) {
        *access++ = '\0';
        if (!text_integer(access, &token->number) || token->number < 1)
            return bad(reader, token, "after @ stands the number of the access, from 1");
    }
    return read_tensor(reader, token, text_trim(inside));
}

static bool
read_prefetch(struct reader *reader, struct token *token, char *inside)
{
    char *parts[3];
    size_t count = split_commas(inside, parts, 3);
    if (count < 2 || !text_integer(parts[1], &token->number) || token->number < 1)
        return bad(reader, token, "write pre(T,n): tensor and how many iterations ahead");
    if (count == 3)
        token->name = arena_strdup(reader->arena, parts[2]);
    return read_tensor(reader, token, parts[0]);
}

/* with(S, k=j): the guest's index k runs in the host's loops over j. */
static bool
read_guest(struct reader *reader, struct token *token, char *inside)
{
    char *parts[1 + LANG_MAX_LEVELS];
    size_t count = split_commas(inside, parts, sizeof parts / sizeof *parts);
    if (!need_stage(reader, token->place, parts[0], &token->stage))
        return false;
    memset(token->map, -1, sizeof token->map);
    for (size_t i = 1; i < count; i++) {
        char *equals = strchr(parts[i], '=');
        if (equals == NULL)
            return bad(reader, token, "after the stage stand pairs like k=j");
        *equals = '\0';
        token->guest[token->pairs] = arena_strdup(reader->arena, text_trim(parts[i]));
        token->host[token->pairs++] = arena_strdup(reader->arena, text_trim(equals + 1));
    }
    return true;
}

static bool
read_step(struct reader *reader, struct token *token, char *text);

/* online(j/STEP: M,S,O) */
static bool
read_online(struct reader *reader, struct token *token, char *inside)
{
    char *colon = strchr(inside, ':'), *step = strchr(inside, '/'), *parts[ONLINE_MOST + 1];
    bool good = true;
    if (colon == NULL || step == NULL || step > colon)
        return bad(reader, token, "write online(j/STEP: M,S,O): the tile, maximum, sum, result");
    *colon = *step = '\0';
    token->name = text_trim(inside);
    if (!read_step(reader, token, text_trim(step + 1)))
        return false;
    size_t count = split_commas(colon + 1, parts, ONLINE_MOST + 1);
    if (count < 2 || count > ONLINE_MOST)
        return bad(reader, token, "two or three stages go together: M,S,O or M,O");
    for (size_t i = 0; i < count; i++)
        good = need_stage(reader, token->place, parts[i], &token->together[i]) && good;
    token->count = (unsigned)count;
    return good;
}

static bool
read_word_token(struct reader *reader, struct token *token, char *inside)
{
    switch (token->form) {
    case TOKEN_PACK:
        return read_pack(reader, token, inside);
    case TOKEN_PRE:
        return read_prefetch(reader, token, inside);
    case TOKEN_WITH:
        return read_guest(reader, token, inside);
    case TOKEN_ONLINE:
        return read_online(reader, token, inside);
    case TOKEN_DO:
    case TOKEN_INLINE:
        return need_stage(reader, token->place, text_trim(inside), &token->stage);
    default:
        return true;
    }
}

/* "8", "2v", "v" */
static bool
read_step(struct reader *reader, struct token *token, char *text)
{
    size_t length = strlen(text);
    token->in_lanes = length > 0 && text[length - 1] == 'v';
    if (token->in_lanes)
        text[length - 1] = '\0';
    if (token->in_lanes && length == 1)
        token->step = 1;
    else if (!text_integer(text, &token->step) || token->step < 1 || token->step > INT32_MAX)
        return bad(reader, token, "a step is a number, or lanes: 8, v, 2v");
    return true;
}

static bool
read_loop(struct reader *reader, struct token *token, char *word)
{
    char *mark = strchr(word, '@'), *step = strchr(word, '/');
    if (mark != NULL) {
        *mark++ = '\0';
        if (strlen(mark) != 1 || strchr("puav", *mark) == NULL)
            return bad(reader, token,
                       "after @ stands p (threads), u (unrolled), a (accumulators of its own) or "
                       "v (vector lanes)");
        token->mark = (enum mark) * mark;
    }
    token->step = 1;
    if (step != NULL) {
        *step++ = '\0';
        if (!read_step(reader, token, step))
            return false;
    }
    token->name = word;
    return true;
}

static bool
read_token(struct reader *reader, struct token *token, char *word)
{
    char *open = strchr(word, '(');
    size_t length = open != NULL ? (size_t)(open - word) : strlen(word);
    for (int form = TOKEN_LOOP + 1; form < TOKEN_FORMS; form++)
        if (strlen(token_words[form]) == length && memcmp(word, token_words[form], length) == 0) {
            bool brackets = form != TOKEN_ACC && form != TOKEN_NT;
            if (brackets != (open != NULL))
                break; /* acc(...) is no token; `do` may be an index */
            token->form = (enum token_form)form;
            if (!brackets)
                return true;
            if (word[strlen(word) - 1] != ')')
                return bad(reader, token, "the bracket is not closed");
            word[strlen(word) - 1] = '\0';
            return read_word_token(reader, token, open + 1);
        }
    token->form = TOKEN_LOOP;
    return read_loop(reader, token, word);
}

static bool
read_tokens(struct reader *reader, struct line *line)
{
    const char *start;
    char *word;
    bool good = true;
    while ((word = next_word(reader, &start)) != NULL) {
        if (line->count == CODER_MAX_TOKENS) {
            diags_add(reader->diags, DIAG_ERROR, place_of(reader, start),
                      "a line has at most %d tokens", CODER_MAX_TOKENS);
            return false;
        }
        struct token *token = &line->tokens[line->count++];
        *token = (struct token){.place = place_of(reader, start),
                                .text = arena_strdup(reader->arena, word)};
        good = read_token(reader, token, word) && good;
        if (token->form == TOKEN_ONLINE && line->count == CODER_MAX_TOKENS)
            good = bad(reader, token, "it is one token too many");
        else if (token->form == TOKEN_ONLINE) {
            line->tokens[line->count] = *token; /* its loop */
            line->tokens[line->count].form = TOKEN_LOOP;
            line->tokens[line->count++].hidden = true;
        }
    }
    return good;
}

/* ---- lines ---- */

/* "! pad S X": applied at once, so that later lines may name what it makes. */
static bool
read_change(struct reader *reader)
{
    const char *start, *why = NULL;
    char *words[5] = {NULL};
    size_t count = 0;
    struct place place = place_of(reader, reader->at);
    reader->at++;
    while (count < 5 && (words[count] = next_word(reader, &start)) != NULL)
        count++;
    struct change_line change = {0};
    for (int i = 0; i < CHANGE_COUNT; i++)
        if (count > 0 && strcmp(words[0], change_words[i]) == 0) {
            bool two = i == CHANGE_PAD || i == CHANGE_PHASE || i == CHANGE_ROWS;
            change = (struct change_line){(enum change)i, words[1], words[2], words[3], 0};
            if (count != (two ? 3 : 4))
                break;
            if (change_has_step(change.change) &&
                (!text_integer(words[3], &change.step) || change.step < 1))
                break;
            struct program *program = change_program(reader->arena, reader->program, &change, &why);
            if (program == NULL) {
                diags_add(reader->diags, DIAG_ERROR, place, "%s: %s", words[0], why);
                return false;
            }
            struct schedule *schedule = reader->schedule;
            struct change_line *changes =
                arena_grow(reader->arena, schedule->changes, schedule->change_count,
                           schedule->change_count + 1, sizeof *changes);
            changes[schedule->change_count++] = change;
            schedule->changes = changes;
            reader->program = program;
            return true;
        }
    diags_add(reader->diags, DIAG_ERROR, place,
              "no such rewrite; write ! pad S X, flat S y x, phase S X, rows S x, split S k STEP, "
              "chunk S t "
              "STEP, moments S k STEP or part S c STEP");
    return false;
}

struct pending { /* a line whose tokens wait until all rewrites are known */
    struct pending *next;
    const char *name, *at, *end, *line_start;
    uint32_t line, column;
    bool rec;
    bool own; /* for this case alone */
};

/* A name that no case has would lose all lines behind it. */
static bool
check_case(struct reader *reader, const char *name, const char *start)
{
    struct buf known = buf_in(reader->arena);
    for (size_t i = 0; reader->cases != NULL && reader->cases[i] != NULL; i++) {
        if (strcmp(reader->cases[i], name) == 0)
            return true;
        buf_printf(&known, "%s%s", i ? ", " : "", reader->cases[i]);
    }
    if (reader->cases == NULL)
        return true;
    diags_add(reader->diags, DIAG_ERROR, place_of(reader, start),
              "there is no case %s; write one of %s", name, known.length ? known.data : "none");
    return false;
}

/* Does a line that begins with `case NAME:` concern this case? Moves on behind it. */
static bool
read_case(struct reader *reader, const char **name, const char **start)
{
    char *word;
    const char *saved = reader->at;
    if ((word = next_word(reader, start)) == NULL || strcmp(word, "case") != 0) {
        reader->at = saved;
        return false;
    }
    word = next_word(reader, start);
    if (word == NULL || !text_ends(word, ":")) {
        reader->at = saved;
        return false;
    }
    word[strlen(word) - 1] = '\0';
    *name = word;
    return true;
}

static bool
read_line(struct reader *reader, struct pending ***last)
{
    const char *start, *colon;
    skip_blanks(reader);
    if (reader->at == reader->end)
        return true;
    if (*reader->at == '!')
        return read_change(reader);
    colon = memchr(reader->at, ':', (size_t)(reader->end - reader->at));
    if (colon == NULL) {
        diags_add(reader->diags, DIAG_ERROR, place_of(reader, reader->at),
                  "a line begins with a stage and a colon: Y: i@p acc k j@v");
        return false;
    }
    struct pending *line = arena_alloc(reader->arena, sizeof *line);
    const char *end = reader->end;
    reader->end = colon;
    char *word = next_word(reader, &start);
    if (word != NULL && strcmp(word, "rec") == 0) {
        line->rec = true;
        word = next_word(reader, &start);
    }
    reader->end = end;
    line->name = word != NULL ? word : "";
    line->column = place_of(reader, word != NULL ? start : colon).column;
    line->at = colon + 1;
    line->end = end;
    line->line_start = reader->line_start;
    line->line = reader->line;
    line->own = reader->own;
    **last = line;
    *last = &line->next;
    return true;
}

/* The lines that hold for this case, rewrites applied. */
static bool
read_lines(struct reader *reader, struct pending **lines)
{
    const char *at = reader->source->text, *end = at + reader->source->length;
    const char *line_start = at; /* semicolons begin no new one */
    bool good = true, ours = true;
    while (at < end) {
        const char *newline = at + strcspn(at, "\n;");
        if (newline > end)
            newline = end;
        const char *comment = memchr(at, '#', (size_t)(newline - at));
        const char *name, *start;
        reader->line_start = line_start;
        reader->at = at;
        reader->end = comment != NULL ? comment : newline;
        if (comment != NULL) /* a comment may hold a semicolon */
            newline = at + strcspn(at, "\n");
        if (read_case(reader, &name, &start)) {
            good = check_case(reader, name, start) && good;
            ours = strcmp(name, reader->program->case_name) == 0;
            reader->own = true;
        }
        if (ours)
            good = read_line(reader, &lines) && good;
        if (newline < end && *newline == '\n') {
            reader->line++;
            line_start = newline + 1;
        }
        at = newline + 1;
    }
    return good;
}

/* What is said for this case takes the place of what was said for all. */
static void
drop_general(struct pending **lines)
{
    for (struct pending **at = lines; *at != NULL;) {
        const struct pending *other = *lines;
        while (other != NULL && !(other->own && !(*at)->own && other->rec == (*at)->rec &&
                                  strcmp(other->name, (*at)->name) == 0))
            other = other->next;
        if (other != NULL)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
}

static bool
resolve_line(struct reader *reader, const struct pending *pending)
{
    struct schedule *schedule = reader->schedule;
    struct place place = {reader->source, pending->line, pending->column};
    size_t number;
    if (!need_stage(reader, place, pending->name, &number))
        return false;
    const struct stage *stage = &reader->program->stages[number];
    if (pending->rec && stage->rec < 0) {
        diags_add(reader->diags, DIAG_ERROR, place, "%s is in no rec block; leave out `rec`",
                  pending->name);
        return false;
    }
    struct line *line = pending->rec ? &schedule->recs[stage->rec] : &schedule->lines[number];
    if (line->given) {
        diags_add(reader->diags, DIAG_ERROR, place, "a second line for %s; keep one of them",
                  pending->name);
        return false;
    }
    line->given = true;
    line->place = place;
    reader->at = pending->at;
    reader->end = pending->end;
    reader->line_start = pending->line_start;
    reader->line = pending->line;
    return read_tokens(reader, line);
}

struct schedule *
coder_read(struct arena *arena, const struct program *program, const struct source *text,
           const struct coder_options *options, struct diags *diags)
{
    struct schedule *schedule = arena_alloc(arena, sizeof *schedule);
    struct reader reader = {.arena = arena,
                            .source = text,
                            .diags = diags,
                            .program = program,
                            .schedule = schedule,
                            .cases = options->cases,
                            .line = 1};
    struct pending *lines = NULL;
    schedule->vector_bytes = options->vector_bytes;
    if (!read_lines(&reader, &lines))
        return NULL;
    drop_general(&lines);
    program = schedule->program = reader.program;
    schedule->lines = arena_array(arena, program->stage_count + 1, sizeof *schedule->lines);
    schedule->recs = arena_array(arena, program->rec_count + 1, sizeof *schedule->recs);
    bool good = true;
    for (const struct pending *line = lines; line != NULL; line = line->next)
        good = resolve_line(&reader, line) && good;
    if (!good || !work_prepare(arena, schedule, diags) || !check_schedule(schedule, diags))
        return NULL;
    return schedule;
}

/* ---- and back ---- */

void
coder_write(struct buf *buf, const struct schedule *schedule)
{
    for (size_t i = 0; i < schedule->change_count; i++) {
        const struct change_line *change = &schedule->changes[i];
        buf_printf(buf, "! %s %s %s", change_words[change->change], change->stage, change->name);
        if (change->other != NULL)
            buf_printf(buf, " %s", change->other);
        buf_putc(buf, '\n');
    }
    const struct program *program = schedule->program;
    for (size_t i = 0; i < program->stage_count; i++) {
        const struct line *line = &schedule->lines[i];
        int rec = program->stages[i].rec;
        if (rec >= 0 && program->recs[rec].first == i && schedule->recs[rec].count > 0) {
            buf_printf(buf, "rec %s:", program->stages[i].tensor->name);
            for (size_t t = 0; t < schedule->recs[rec].count; t++)
                buf_printf(buf, " %s", schedule->recs[rec].tokens[t].text);
            buf_putc(buf, '\n');
        }
        enum fate fate = schedule->works[i].fate;
        bool inlines = false; /* of a stage that is inlined itself, only that matters */
        for (size_t t = 0; t < line->count; t++)
            inlines = inlines || line->tokens[t].form == TOKEN_INLINE;
        if ((fate == FATE_INLINE && !inlines) || (fate == FATE_WITH && line->count == 0) ||
            fate == FATE_SAME)
            continue;
        buf_printf(buf, "%s:", program->stages[i].tensor->name);
        for (size_t t = 0; t < line->count; t++)
            if ((fate != FATE_INLINE || line->tokens[t].form == TOKEN_INLINE) &&
                !line->tokens[t].hidden)
                buf_printf(buf, " %s", line->tokens[t].text);
        buf_putc(buf, '\n');
    }
}
