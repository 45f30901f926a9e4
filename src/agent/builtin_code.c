/* A proposal as code: what the micro-coder emits, in the form that was asked for.
 *
 * A base that is C and declares numbers (//! tune) is changed in one of them instead: that is all
 * that can be done with a text that nobody here understands. */
#include "agent/builtin_int.h"
#include "agent/reply_int.h"

#include "base/text.h"

#include <string.h>

/* ---- the schedule of a file ---- */

const char *
builtin__schedule_in(struct builtin *builtin, const char *kernel)
{
    struct coder_title *titles;
    size_t count = kernel ? coder_titles(builtin->arena, kernel, strlen(kernel), &titles) : 0;
    struct buf schedule = buf_in(builtin->arena);

    for (size_t i = 0; i < count; i++)
        buf_printf(&schedule, "case %s:\n%s", titles[i].case_name, titles[i].schedule);
    return count ? schedule.data : NULL;
}

/* ---- emitting ---- */

static bool
emit_case(struct builtin *builtin, struct buf *kernel, const struct program *program,
          const char *schedule)
{
    const struct coder_options options = {.vector_bytes =
                                              builtin->moment->scene->machine->vector_bytes};
    struct diags *diags = diags_create(builtin->arena, 1);
    const struct source source = {"schedule", schedule, strlen(schedule)};
    struct schedule *read = coder_read(builtin->arena, program, &source, &options, diags);

    return read && coder_emit_short(kernel, builtin->arena, read, diags);
}

const char *
builtin__kernel(struct builtin *builtin, const char *schedule)
{
    const struct agent_scene *scene = builtin->moment->scene;
    struct buf kernel = buf_in(builtin->arena);

    for (size_t i = 0; i < scene->case_count; i++) {
        if (scene->case_count > 1) {
            buf_puts(&kernel, i ? "#elif " : "#if ");
            target_put_sizes(&kernel, scene->programs[i]);
            buf_putc(&kernel, '\n');
        }
        if (!emit_case(builtin, &kernel, scene->programs[i], schedule))
            return NULL;
    }
    if (scene->case_count > 1)
        buf_puts(&kernel, "#endif\n");
    return kernel.data;
}

/* ---- numbers that a kernel declares ---- */

/* The base with one of its numbers changed; NULL: it declares none. */
static const char *
retuned(struct builtin *builtin, const char **words)
{
    const char *kernel = builtin->moment->kernel;
    struct agent_tunable *tunables;
    size_t count = kernel ? agent_tunables(builtin->arena, kernel, &tunables) : 0;
    size_t first = count ? rng_below(&builtin->rng, count) : 0;

    for (size_t i = 0; i < count; i++) {
        struct agent_tunable *tunable = &tunables[(first + i) % count];
        if (tunable->value_count < 2)
            continue;
        size_t by = 1 + rng_below(&builtin->rng, tunable->value_count - 1);
        tunable->now = (tunable->now + by) % tunable->value_count;
        *words = arena_printf(builtin->arena, "Title: %s = %ld\nOne of the declared numbers.",
                              tunable->name, tunable->values[tunable->now]);
        return agent_tune(builtin->arena, kernel, tunables, count);
    }
    return NULL;
}

/* ---- forms ---- */

static void
put_fenced(struct buf *reply, const char *words, const char *info, const char *text)
{
    size_t length = strlen(text);

    buf_printf(reply, "%s\n\n```%s\n%s%s```\n", words, info, text,
               length > 0 && text[length - 1] == '\n' ? "" : "\n");
}

static void
put_edit(struct buf *reply, const char *search, size_t search_length, const char *replace,
         size_t replace_length)
{
    buf_puts(reply, "<<<<<<< SEARCH\n");
    buf_add(reply, search, search_length);
    buf_puts(reply, "\n=======\n");
    buf_add(reply, replace, replace_length);
    buf_puts(reply, "\n>>>>>>> REPLACE\n");
}

/* Lines that differ, of texts with as many lines. */
static void
put_line_edits(struct buf *reply, const char *base, const char *text)
{
    struct reply_line a = {.next = base}, b = {.next = text};

    while (reply__next_line(&a) && reply__next_line(&b))
        if (a.length != b.length || memcmp(a.start, b.start, a.length) != 0)
            put_edit(reply, a.start, a.length, b.start, b.length);
}

static size_t
trimmed(const char *text)
{
    size_t length = strlen(text);

    while (length > 0 && text[length - 1] == '\n')
        length--;
    return length;
}

static void
put_edits(struct builtin *builtin, struct buf *reply, const char *kernel,
          const struct builtin_proposal *proposal)
{
    const char *base = builtin->moment->kernel, *words;
    const char *tuned = builtin->schedule ? NULL : retuned(builtin, &words);

    if (tuned) {
        buf_printf(reply, "%s\n\n", words);
        put_line_edits(reply, base, tuned);
    } else if (base && *base && strcmp(base, kernel) != 0) {
        buf_printf(reply, "%s\n\n", proposal->words);
        put_edit(reply, base, trimmed(base), kernel, trimmed(kernel));
    } else
        put_fenced(reply, proposal->words, "c", kernel);
}

/* The functions of another kernel between the marks of the base, whose includes are protected. */
static const char *
refilled(struct builtin *builtin, const char *kernel)
{
    static const char mark[] = "//! improve\n";
    const char *base = builtin->moment->kernel, *open = base ? strstr(base, mark) : NULL;
    const char *end = open ? strstr(open, "//! end") : NULL;

    if (!end || !strstr(base, "\"hone.h\""))
        return NULL;
    open += strlen(mark);
    return arena_printf(builtin->arena, "%.*s%s%s", (int)(open - base), base,
                        agent__below_includes(kernel), end);
}

static void
put_fill(struct builtin *builtin, struct buf *reply, const char *kernel,
         const struct builtin_proposal *proposal)
{
    const char *base = builtin->moment->kernel, *words, *filled, *reason;
    struct buf first = buf_in(builtin->arena); /* the base is what serves the first case */
    bool emitted =
        emit_case(builtin, &first, builtin->moment->scene->programs[0], proposal->schedule);
    const char *tuned = retuned(builtin, &words);
    const char *other = emitted ? refilled(builtin, first.data) : NULL;

    if (tuned && agent__fill(builtin->arena, base, tuned, &filled, &reason) == STATUS_OK)
        put_fenced(reply, words, "c", tuned);
    else if (other)
        put_fenced(reply, proposal->words, "c", other);
    else
        put_fenced(reply,
                   "Nothing between the marks can be changed without understanding it. This is "
                   "the base itself.",
                   "c", base ? base : kernel);
}

/* ---- one stage ---- */

/* The block under the comment of a stage: "    / * Y: ... * /" and from "    {" to "    }". */
static const char *
block_of(struct builtin *builtin, const char *kernel, const char *stage)
{
    static const char end[] = "\n    }\n";
    const char *mark = arena_printf(builtin->arena, "\n    /* %s:", stage);
    const char *comment = strstr(kernel, mark);
    const char *open = comment ? strstr(comment, "*/\n    {\n") : NULL;
    const char *close = open ? strstr(open, end) : NULL;

    if (!close || strchr(comment + 1, '\n') < open)
        return NULL;
    open += strlen("*/\n    ");
    return arena_strndup(builtin->arena, open, (size_t)(close - open) + strlen(end));
}

/* "const float *restrict X, float *restrict Y" */
static const char *
parameters_of(struct builtin *builtin, const char *kernel)
{
    const char *name = arena_printf(builtin->arena, "\n%s(", builtin->moment->scene->target->entry);
    const char *open = strstr(kernel, name);

    return open ? arena_strndup(builtin->arena, open + strlen(name),
                                strcspn(open + strlen(name), ")"))
                : NULL;
}

/* A stage with a block of its own; one whose line the base has not, if there is one. */
static const char *
choose_stage(struct builtin *builtin, const char *kernel, const char *schedule)
{
    struct reply_line line = {.next = schedule};
    const char *chosen = NULL, *base = builtin->schedule;
    bool changed = false;

    while (reply__next_line(&line)) {
        const char *text = arena_strndup(builtin->arena, line.start, line.length);
        const char *stage = arena_strndup(builtin->arena, text, strcspn(text, ": "));
        bool differs = base && !strstr(base, text);
        if (block_of(builtin, kernel, stage) && (!changed || differs)) {
            chosen = stage;
            changed = differs;
        }
    }
    return chosen;
}

static void
put_stage(struct builtin *builtin, struct buf *reply, const char *kernel,
          const struct builtin_proposal *proposal)
{
    const char *stage = choose_stage(builtin, kernel, proposal->schedule);
    const char *parameters = parameters_of(builtin, kernel);

    if (!stage || !parameters) {
        put_fenced(reply, proposal->words, "c", kernel);
        return;
    }
    char *function = arena_strdup(builtin->arena, stage);
    for (char *c = function; *c; c++)
        *c = *c == '.' ? '_' : *c;
    put_fenced(reply, proposal->words, arena_printf(builtin->arena, "c stage %s", stage),
               arena_printf(builtin->arena, "static void\nstage_%s(%s)\n%s", function, parameters,
                            block_of(builtin, kernel, stage)));
}

/* ---- all of them ---- */

static void
put_file(struct builtin *builtin, struct buf *reply, const char *kernel,
         const struct builtin_proposal *proposal)
{
    const char *words, *tuned = builtin->schedule ? NULL : retuned(builtin, &words);

    put_fenced(reply, tuned ? words : proposal->words, "c", tuned ? tuned : kernel);
}

void
builtin__put_code(struct builtin *builtin, struct buf *reply, enum agent_format format,
                  const struct builtin_proposal *proposal)
{
    const char *kernel = builtin__kernel(builtin, proposal->schedule);

    if (format == AGENT_FORMAT_SCHEDULE)
        put_fenced(reply, proposal->words, "schedule", proposal->schedule);
    else if (format == AGENT_FORMAT_PROGRAM)
        put_fenced(reply, "No rewrite of the program is known here. This is the program itself.",
                   "op", lang_text(builtin->moment->scene->lang));
    else if (format == AGENT_FORMAT_FILE)
        put_file(builtin, reply, kernel, proposal);
    else if (format == AGENT_FORMAT_EDITS)
        put_edits(builtin, reply, kernel, proposal);
    else if (format == AGENT_FORMAT_FILL)
        put_fill(builtin, reply, kernel, proposal);
    else
        put_stage(builtin, reply, kernel, proposal);
}
