/* What can be said against a kernel before anything is built: cheap, certain, and in words that its
 * author can act on. Everything else is for the judge. */
#include "agent/reply_int.h"
#include "base/text.h"

#include <string.h>

/* For each stage of the program: kernels that a model began with have them all. */
enum { MOST_LINES = 800, MOST_KB = 64 };

/* ---- headers ---- */

static bool
is_allowed_header(const char *name)
{
    static const char *const names[] = {
        "assert.h",  "complex.h", "errno.h",     "fenv.h",     "float.h",    "inttypes.h",
        "iso646.h",  "limits.h",  "math.h",      "omp.h",      "stdalign.h", "stdarg.h",
        "stdbool.h", "stddef.h",  "stdint.h",    "stdio.h",    "stdlib.h",   "stdnoreturn.h",
        "string.h",  "tgmath.h",  "x86intrin.h", "arm_neon.h", "stdatomic.h"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return text_ends(name, "mmintrin.h") && strchr(name, '/') == NULL;
}

static bool
is_file_of(const struct target *target, const char *name)
{
    for (const struct target_file *file = target->files; file && file->name; file++)
        if (strcmp(file->name, name) == 0)
            return true;
    return false;
}

/* What stands behind #include, up to the end of its line. */
static const char *
header_objection(struct arena *arena, const struct target *target, const struct c_token *word)
{
    const char *at = word->start + word->length;
    at += strspn(at, " \t");
    char close = *at == '<' ? '>' : *at == '"' ? '"' : '\0';
    size_t length = close != '\0' ? strcspn(at + 1, close == '>' ? ">\n" : "\"\n") : 0;
    if (length == 0)
        return arena_printf(arena, "line %u: #include without a name; write it out", word->line);
    const char *name = arena_strndup(arena, at + 1, length);
    if (is_allowed_header(name) || (close == '"' && is_file_of(target, name)))
        return NULL;
    return arena_printf(arena,
                        "line %u: #include of %s: a kernel may include \"hone.h\", <immintrin.h> "
                        "and headers of the C language, no others",
                        word->line, name);
}

/* ---- precision ---- */

static bool
has_type(const struct program *program, enum dtype dtype)
{
    for (size_t i = 0; i < program->tensor_count; i++)
        if (program->tensors[i]->dtype == dtype)
            return true;
    return false;
}

static const char *
precision_objection(struct arena *arena, const struct program *program, const struct c_token *word)
{
    static const struct {
        const char *name;
        enum dtype dtype;
    } types[] = {
        {"_Float16", DTYPE_F16},  {"__fp16", DTYPE_F16},    {"bf16", DTYPE_BF16},
        {"__bf16", DTYPE_BF16},   {"__m128bh", DTYPE_BF16}, {"__m256bh", DTYPE_BF16},
        {"__m512bh", DTYPE_BF16}, {"__m256h", DTYPE_F16},   {"__m512h", DTYPE_F16},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (c_is(word, types[i].name) && !has_type(program, types[i].dtype))
            return arena_printf(arena,
                                "line %u: %s: the task has no %s; compute in its own types, lower "
                                "precision is found",
                                word->line, types[i].name, dtype_info[types[i].dtype].name);
    return NULL;
}

/* ---- parts that were left out ---- */

/* "// ... rest of the code ...": a comment that stands for code. */
static const char *
gap_objection(struct arena *arena, const struct c_token *comment)
{
    static const char *const words[] = {"rest",      "unchanged", "existing", "same as",
                                        "as before", "remain",    "omitted",  "previous"};
    const char *text = arena_strndup(arena, comment->start, comment->length);
    const char *at = text + strspn(text, "/* \t");
    bool dots = text_starts(at, "...") || text_starts(at, "\xe2\x80\xa6");
    for (size_t i = 0; dots && i < sizeof words / sizeof *words; i++)
        if (strcasestr(at, words[i]) != NULL)
            return arena_printf(arena,
                                "line %u: `%.50s` stands for code; write all of it, or give "
                                "edits",
                                comment->line,
                                text_trim(arena_strndup(arena, text, strcspn(text, "\n"))));
    return NULL;
}

/* ---- the text ---- */

struct look {
    struct arena *arena;
    const struct target *target;
    const struct program *program;
    unsigned depth, conditions; /* of brackets; of #if */
    unsigned kernels;           /* defined outside of all of them */
    struct c_token last;
};

static const char *
directive_objection(struct look *look, const struct c_token *token)
{
    if (c_is(token, "if") || c_is(token, "ifdef") || c_is(token, "ifndef"))
        look->conditions++;
    else if (c_is(token, "endif") && look->conditions > 0)
        look->conditions--;
    else if (c_is(token, "include"))
        return header_objection(look->arena, look->target, token);
    return NULL;
}

static const char *
token_objection(struct look *look, const struct c_reader *reader, const struct c_token *token)
{
    if (token->kind == C_LINE_COMMENT || token->kind == C_BLOCK_COMMENT)
        return gap_objection(look->arena, token);
    look->depth += c_is(token, "{");
    look->depth -= c_is(token, "}") && look->depth > 0;
    if (token->kind != C_WORD)
        return NULL;
    if (c_is(&look->last, "#"))
        return directive_objection(look, token);
    if (look->depth == 0 && look->conditions == 0 && c_is(token, look->target->entry) &&
        agent__is_definition(*reader) && ++look->kernels > 1)
        return arena_printf(look->arena, "line %u: a second function %s; give one", token->line,
                            look->target->entry);
    return precision_objection(look->arena, look->program, token);
}

static const char *
text_objection(struct look *look, const char *kernel)
{
    struct c_reader reader = c_reader_of(kernel, strlen(kernel));
    for (struct c_token token = c_next(&reader); token.kind != C_END; token = c_next(&reader)) {
        const char *objection = token_objection(look, &reader, &token);
        if (objection != NULL)
            return objection;
        look->last = token;
    }
    return NULL;
}

static size_t
count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

const char *
agent_objection(struct arena *arena, const char *kernel, const struct target *target,
                const struct program *program)
{
    struct look look = {.arena = arena, .target = target, .program = program};
    struct target_kernel read;
    struct target_fault fault;
    size_t length = strlen(kernel), lines = count_lines(kernel);
    size_t stages = program->stage_count > 1 ? program->stage_count : 1;
    if (length >> 10 >= MOST_KB * stages || lines > MOST_LINES * stages)
        return arena_printf(arena,
                            "the kernel has %zu lines and %zu kB; at most %zu and %zu, so use "
                            "loops and hone.h instead of copies",
                            lines, length >> 10, MOST_LINES * stages, MOST_KB * stages);
    if (!target_read(arena, target, program, kernel, length, &read, &fault))
        return fault.line > 0 ? arena_printf(arena, "line %u: %s", fault.line, fault.message)
                              : fault.message;
    const char *objection = text_objection(&look, kernel);
    if (objection != NULL)
        return objection;
    if (agent__defines(kernel, length, target->entry))
        return NULL;
    return arena_printf(arena,
                        "no function %s is defined; write `void %s(...) { ... }` with the "
                        "task's parameters",
                        target->entry, target->entry);
}
