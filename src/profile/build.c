/* The kernel is built as the judge builds it, with one flag more: the compiler says which loops it
 * did not vectorise. */
#include "profile/profile_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NAME "kernel.c"
#define MOST_SAID ((size_t)1 << 20)
#define MOST_REMARKS 12
#define MOST_WORDS 160 /* characters of a reason */

/* ---- building ---- */

static const char *const *
flags_of(struct arena *arena, const struct target *target, const struct target_kernel *read)
{
    struct target_kernel without = *read;
    size_t count = 0;

    without.tune_count = 0; /* they are defined in the text */
    const char *const *flags = target_arguments(arena, target, &without, NULL);
    while (flags[count])
        count++;
    const char **more = arena_grow(arena, flags, count, count + 2, sizeof *more);
    more[count] = "-fopt-info-vec-missed";
    return more;
}

static const struct box_text *
headers_of(struct arena *arena, const struct target *target, const struct target_kernel *read,
           size_t *count)
{
    const struct target_file *const *files = target_files(arena, target, read, count);
    struct box_text *texts = arena_array(arena, *count + 1, sizeof *texts);

    for (size_t i = 0; i < *count; i++)
        texts[i] = (struct box_text){files[i]->name, files[i]->text, strlen(files[i]->text)};
    return texts;
}

/* The first error: "line 3: expected ';'". */
static const char *
first_error(struct arena *arena, const struct box_compile_result *result)
{
    static const char mark[] = " error: ";
    const char *error = strstr(result->diagnostics, mark), *line = error;

    if (!error)
        return result->reason;
    while (line > result->diagnostics && line[-1] != '\n')
        line--;
    error += strlen(mark);
    int length = (int)strcspn(error, "\n");
    char *text = text_starts(line, NAME ":")
                     ? arena_printf(arena, "line %lu: %.*s",
                                    strtoul(line + strlen(NAME ":"), NULL, 10), length, error)
                     : arena_printf(arena, "%.*s", length, error);
    return text_printable(text);
}

enum status
profile__build(struct arena *arena, const char *text, const struct profile_options *options,
               struct profile__build *build, struct diags *diags)
{
    const struct target *target = options->target;
    const char *const exports[] = {target->entry, NULL};
    struct target_kernel read;
    struct target_fault fault;
    struct buf headers = buf_in(arena), defines = buf_in(arena);
    struct box_compile_result result;

    *build = (struct profile__build){.said = "", .object = -1, .why = ""};
    if (!target_read(arena, target, options->program, text, strlen(text), &read, &fault)) {
        build->why = text_printable(arena_strdup(arena, fault.message));
        return STATUS_OK;
    }
    target_put_headers(&headers, target, &read);
    target_put_defines(&defines, target, options->program, &read);
    struct box_compile_request request = {
        .compiler = target->compiler,
        .flags = flags_of(arena, target, &read),
        .source = {NAME, read.text, read.length},
        .prelude = headers.data,
        .defines = defines.data,
        .exports = exports,
        .limits = {.diagnostics = MOST_SAID},
    };
    request.headers = headers_of(arena, target, &read, &request.header_count);
    enum status status = box_compile(options->box, arena, &request, &result, diags);
    if (status != STATUS_OK)
        return status;
    build->said = result.diagnostics;
    build->object = result.object;
    build->bytes = result.object_bytes;
    if (result.build != BOX_BUILT)
        build->why = first_error(arena, &result);
    return STATUS_OK;
}

/* ---- remarks ---- */

/* gcc's reasons speak of its inside; these are what they mean for who wrote the loop. */
static const struct {
    const char *said, *means;
    bool reduction;
} meanings[] = {
    {"unsupported use in stmt", "a float sum or maximum is kept in one variable from step to step",
     true},
    {"relevant phi not supported", "a value goes from step to step", true},
    {"unknown def-use cycle", "a float sum or maximum is kept in one variable from step to step",
     true},
    {"no vectype", "a call or a type has no vector form", false},
    {"statement clobbers memory", "a call in the loop may change memory", false},
    {"complicated access pattern", "elements are not read one after the other", false},
    {"control flow in loop", "the loop holds branches", false},
    {"number of iterations cannot be computed", "the number of steps is not known before", false},
    {"possible dependence", "two arrays may overlap; write restrict", false},
    {"bad data dependence", "a step needs what an earlier step stored", false},
};

#define MEANINGS (sizeof meanings / sizeof *meanings)
#define NOT_VECTORISED "not vectorised: "

/* "kernel.c:12:34: missed: WORDS": the words and the line, or NULL for any other line. */
static const char *
missed(const char *line, unsigned *number)
{
    static const char mark[] = ": missed: ";
    const char *end = strchr(line, '\n'), *found = strstr(line, mark);

    if (!text_starts(line, NAME ":") || !found || (end && found > end))
        return NULL;
    *number = (unsigned)strtoul(line + strlen(NAME ":"), NULL, 10);
    return found + strlen(mark);
}

static const char *
in_words(struct arena *arena, const char *reason)
{
    int length = (int)strcspn(reason, "\n");

    for (size_t i = 0; i < MEANINGS; i++) {
        const char *found = strstr(reason, meanings[i].said);
        if (found && found < reason + length)
            return arena_printf(arena, NOT_VECTORISED "%s", meanings[i].means);
    }
    static const char own[] = "not vectorized: ";
    if (text_starts(reason, own)) {
        reason += strlen(own);
        length -= (int)strlen(own);
    }
    return text_printable(arena_printf(arena, NOT_VECTORISED "%.*s",
                                       length < MOST_WORDS ? length : MOST_WORDS, reason));
}

/* A loop over vectors of gcc, or of <immintrin.h>, is in lanes already: what has no vector form
 * then is a vector. The compiler says of which type it speaks in the line below. */
static bool
is_vector_already(const char *reason)
{
    static const char *const scalars[] = {"float", "double", "int",  "char",    "short",
                                          "long",  "_Bool",  "bf16", "_Float16"};
    const char *next = strchr(reason, '\n'), *type = next ? strstr(next, "scalar_type:") : NULL;

    if (!text_starts(reason, "not vectorized: no vectype") || !type || type > next + 2)
        return false;
    const char *end = type + strcspn(type, "\n");
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        const char *found = strstr(type, scalars[i]);
        if (found && found < end)
            return memmem(type, (size_t)(end - type), "vector(", 7) != NULL;
    }
    return true;
}

/* In order of lines; a line once. */
static size_t
add_remark(struct profile_remark *remarks, size_t count, struct profile_remark remark)
{
    size_t at = count;

    for (size_t i = 0; i < count; i++)
        if (remarks[i].line == remark.line)
            return count;
    if (count == MOST_REMARKS)
        return count;
    for (; at > 0 && remarks[at - 1].line > remark.line; at--)
        remarks[at] = remarks[at - 1];
    remarks[at] = remark;
    return count + 1;
}

/* The line that says that a loop was not vectorised is followed by one that says why, whose own
 * position is that of some statement. That a loop has loops in it is no news. */
size_t
profile__remarks(struct arena *arena, const char *said, struct profile_remark **remarks)
{
    size_t count = 0;
    unsigned loop = 0, line;

    *remarks = arena_array(arena, MOST_REMARKS, sizeof **remarks);
    for (const char *at = said; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        const char *words = missed(at, &line);
        if (!words)
            continue;
        if (text_starts(words, "couldn't vectorize loop")) {
            loop = line;
            continue;
        }
        bool no_news = text_starts(words, "not vectorized: multiple nested loops") ||
                       text_starts(words, "not vectorized: loop nest containing") ||
                       text_starts(words, "outer-loop already vectorized") ||
                       is_vector_already(words);
        if (loop > 0 && !no_news)
            count =
                add_remark(*remarks, count, (struct profile_remark){loop, in_words(arena, words)});
        loop = 0;
    }
    return count;
}

static bool
is_reduction(const struct profile_remark *remark)
{
    for (size_t i = 0; i < MEANINGS; i++)
        if (meanings[i].reduction &&
            !strcmp(remark->text + strlen(NOT_VECTORISED), meanings[i].means))
            return true;
    return false;
}

unsigned
profile__reduction_remarks(const struct profile_remark *remarks, size_t count)
{
    unsigned found = 0;

    for (size_t i = 0; i < count; i++)
        found += is_reduction(&remarks[i]);
    return found;
}
