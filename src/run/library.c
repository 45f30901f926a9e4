/* A task as a library: one C file and its header.
 *
 * Each case is emitted once for each width of vectors, as a section of its own, compiled for the
 * instructions that it needs. A section is a kernel file, which stands alone and names things as it
 * likes; so its names are made its own by macros that end with it. */
#include "run/run_int.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const struct version {
    const char *name;
    unsigned bytes;          /* of a vector */
    const char *target;      /* of gcc; NULL: what every processor has */
    const char *supports[6]; /* what the processor is asked for */
} versions[] = {
    {"avx512",
     64,
     "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c",
     {"avx512f", "avx512bw", "avx512dq", "avx512vl", "fma"}},
    {"avx2", 32, "avx2,fma,f16c", {"avx2", "fma"}},
    {"any", 16, NULL, {NULL}},
};

enum { VERSIONS = sizeof versions / sizeof *versions };

struct names {
    struct arena *arena;
    const char **list;
    size_t count;
};

/* ---- the names of a section ---- */

static void
add_name(struct names *names, const char *start, size_t length)
{
    for (size_t i = 0; i < names->count; i++)
        if (strlen(names->list[i]) == length && !memcmp(names->list[i], start, length))
            return;
    names->list =
        arena_grow(names->arena, names->list, names->count, names->count + 1, sizeof *names->list);
    names->list[names->count++] = arena_strndup(names->arena, start, length);
}

/* Words of C and of its headers that may stand outside of functions. */
static bool
is_common(const char *start, size_t length)
{
    static const char *const words[] = {
        "static", "inline", "const",  "void",    "float",    "double",    "int",    "long",
        "char",   "short",  "signed", "typedef", "unsigned", "_Float16",  "enum",   "struct",
        "union",  "extern", "if",     "else",    "restrict", "_Noreturn", "kernel", "volatile"};
    if (length > 2 && (!memcmp(start + length - 2, "_t", 2) || !memcmp(start, "__", 2)))
        return true;
    if (length > 5 && !memcmp(start, "HONE_", 5))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !memcmp(words[i], start, length))
            return true;
    return false;
}

static bool
is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind a directive, whose lines a \ joins. */
static const char *
skip_directive(const char *at)
{
    while (*at && *at != '\n')
        at += *at == '\\' && at[1] ? 2 : 1;
    return at;
}

/* Behind a comment or a string; NULL: here is none. */
static const char *
skip_text(const char *at)
{
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (at[0] == '/' && at[1] == '/')
        return strchrnul(at, '\n');
    if (at[0] != '"' && at[0] != '\'')
        return NULL;
    char quote = *at++;
    while (*at && *at != quote)
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* What a text defines: its macros, and whatever stands outside of brackets. The lists of enums
 * define names too. */
static void
find_names(const char *text, struct names *macros, struct names *names)
{
    int depth = 0;
    bool in_enum = false;
    for (const char *at = text, *next; *at; at = next) {
        next = skip_text(at);
        if (next != NULL)
            continue;
        next = at + 1;
        if (*at == '#') {
            const char *word = at + 1 + strspn(at + 1, " \t");
            if (!strncmp(word, "define ", 7))
                add_name(macros, word + 7, strcspn(word + 7, " (\n"));
            next = skip_directive(at);
        } else if (is_letter(*at)) {
            size_t length = 1;
            while (is_letter(at[length]))
                length++;
            if (depth == 0 && !strncmp(at, "enum {", 6))
                in_enum = true;
            if ((depth == 0 || in_enum) && !isdigit((unsigned char)*at) && !is_common(at, length))
                add_name(names, at, length);
            next = at + length;
        } else if (strchr("({[", *at))
            depth++;
        else if (strchr(")}]", *at)) {
            depth--;
            in_enum = in_enum && depth > 0;
        }
    }
}

/* ---- sections ---- */

static const char entry_text[] = "\nvoid\nkernel(";

static void
put_section(struct buf *buf, struct arena *arena, const char *text, const char *function)
{
    struct names macros = {arena, NULL, 0}, names = {arena, NULL, 0};
    find_names(text, &macros, &names);
    buf_printf(buf, "#define kernel %s\n", function);
    for (size_t i = 0; i < names.count; i++)
        buf_printf(buf, "#define %s %s_%s\n", names.list[i], names.list[i], function);
    const char *entry = strstr(text, entry_text);
    assert(entry != NULL);
    buf_add(buf, text, (size_t)(entry - text));
    buf_printf(buf, "\nstatic %s", entry + 1);
    for (size_t i = 0; i < macros.count; i++)
        buf_printf(buf, "#undef %s\n", macros.list[i]);
    for (size_t i = 0; i < names.count; i++)
        buf_printf(buf, "#undef %s\n", names.list[i]);
    buf_puts(buf, "#undef kernel\n");
}

struct made { /* what was made of a case */
    const struct program *program;
    const char *function[VERSIONS]; /* NULL: its schedule does not suit that width */
    size_t count;
};

/* The kernel of a case for one width; NULL: the schedule is not legal there. */
static const char *
emit(struct arena *arena, const struct program *program, const char *lines, unsigned bytes)
{
    struct source source = {"schedule", lines, strlen(lines)};
    struct coder_options options = {.vector_bytes = bytes};
    struct diags *diags = diags_create(arena, 1);
    struct schedule *schedule = coder_read(arena, program, &source, &options, diags);
    struct buf text = buf_in(arena);
    if (schedule == NULL || !coder_emit(&text, arena, schedule, diags))
        return NULL;
    return text.data;
}

static void
put_versions(struct buf *buf, struct arena *arena, struct made *made, const char *lines)
{
    for (size_t v = 0; v < VERSIONS; v++) {
        const char *text = emit(arena, made->program, lines, versions[v].bytes);
        if (text == NULL)
            continue;
        made->count++;
        made->function[v] = arena_printf(arena, "hone_%s_%s_%s", made->program->name,
                                         made->program->case_name, versions[v].name);
        buf_puts(buf, "\n");
        if (versions[v].target != NULL)
            buf_printf(buf,
                       "#ifdef __x86_64__\n#pragma GCC push_options\n"
                       "#pragma GCC target(\"%s\")\n",
                       versions[v].target);
        put_section(buf, arena, text, made->function[v]);
        if (versions[v].target != NULL)
            buf_puts(buf, "#pragma GCC pop_options\n#endif\n");
    }
}

/* ---- the choice ---- */

static void
put_processor(struct buf *buf)
{
    buf_puts(buf, "\n/* The widest vectors that this processor has. */\n"
                  "static int\nwidest(void)\n{\n#ifdef __x86_64__\n    __builtin_cpu_init();\n");
    for (size_t v = 0; v < VERSIONS && versions[v].target != NULL; v++) {
        buf_puts(buf, "    if (");
        for (size_t i = 0; versions[v].supports[i] != NULL; i++)
            buf_printf(buf, "%s__builtin_cpu_supports(\"%s\")", i ? " && " : "",
                       versions[v].supports[i]);
        buf_printf(buf, ")\n        return %u;\n", versions[v].bytes);
    }
    buf_puts(buf, "#endif\n    return 16;\n}\n");
}

static void
put_call(struct buf *buf, const struct made *made, size_t v)
{
    if (made->function[v] == NULL)
        return;
    if (versions[v].target != NULL)
        buf_printf(buf, "#ifdef __x86_64__\n        if (hone_width >= %u) {\n", versions[v].bytes);
    else
        buf_puts(buf, "        {\n");
    buf_printf(buf, "            %s(", made->function[v]);
    run__put_arguments(buf, made->program, "out");
    buf_puts(buf, "            return;\n        }\n");
    if (versions[v].target != NULL)
        buf_puts(buf, "#endif\n");
}

static void
put_entry(struct buf *buf, const struct program *program, const struct made *made, size_t count)
{
    buf_printf(buf, "\nvoid\nhone_%s(", program->name);
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(buf, "int64_t %s, ", program->dims[i].name);
    run__put_parameters(buf, program);
    buf_puts(buf, "{\n    const int hone_width = widest();\n    (void)hone_width;\n");
    for (size_t i = 0; i < count; i++) {
        if (made[i].count == 0)
            continue;
        buf_puts(buf, "    if (");
        target_put_sizes(buf, made[i].program);
        buf_printf(buf, "%s) { /* case %s */\n", program->dim_count ? "" : "1",
                   made[i].program->case_name);
        for (size_t v = 0; v < VERSIONS; v++)
            put_call(buf, &made[i], v);
        buf_puts(buf, "    }\n");
    }
    buf_puts(buf, "    general(");
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(buf, "%s, ", program->dims[i].name);
    run__put_arguments(buf, program, "out");
    buf_puts(buf, "}\n");
}

/* ---- the header ---- */

/* The prototype with the names of the tensors. */
static void
put_header(struct buf *buf, const struct program *program, const struct target *target,
           const struct made *made, size_t count)
{
    struct buf signature = buf_in(buf->arena);
    target->signature(&signature, program);
    buf_printf(buf, "/* %s: kernels by hone. Any size is served; these are tuned:\n",
               program->name);
    for (size_t i = 0; i < count; i++) {
        if (made[i].count == 0)
            continue;
        buf_puts(buf, " *  ");
        for (size_t d = 0; d < program->dim_count; d++)
            buf_printf(buf, " %s=%" PRId64, made[i].program->dims[d].name,
                       made[i].program->dims[d].size);
        buf_putc(buf, '\n');
    }
    buf_printf(
        buf,
        " *\n"
        " * Build:  gcc -O2 -ftree-vectorize -fno-math-errno -fopenmp -c %s.c\n"
        " * Inputs and outputs begin at multiples of 64 bytes and never overlap; the rest of "
        "an\n"
        " * input's last 64-byte block may be read. One call at a time: scratch is static. "
        "*/\n",
        program->name);
    buf_printf(buf, "#ifndef HONE_LIBRARY_%s\n#define HONE_LIBRARY_%s\n\n", program->name,
               program->name);
    buf_puts(buf, "#include <stdint.h>\n\n");
    for (size_t i = 0; i < program->tensor_count; i++)
        if (program->tensors[i]->dtype == DTYPE_BF16 &&
            (program->tensors[i]->input >= 0 || program->tensors[i]->output >= 0)) {
            buf_puts(buf, "#ifndef HONE_LIBRARY_BF16\n#define HONE_LIBRARY_BF16\n"
                          "typedef uint16_t bf16; /* the upper half of a float */\n#endif\n\n");
            break;
        }
    buf_puts(buf, "#ifdef __cplusplus\n#define restrict\nextern \"C\" {\n#endif\n\n");
    buf_printf(buf, "void\nhone_%s(", program->name);
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(buf, "int64_t %s, ", program->dims[i].name);
    buf_printf(buf, "%s;\n\n", signature.data + strlen("void kernel("));
    buf_puts(buf, "#ifdef __cplusplus\n#undef restrict\n}\n#endif\n\n#endif\n");
}

/* ---- all of it ---- */

static const char *
lines_for(const struct run_start *start, const char *case_name)
{
    for (size_t i = 0; i < start->line_count; i++)
        if (!strcmp(start->lines[i].case_name, case_name))
            return start->lines[i].schedule;
    return NULL;
}

/* False, with a message: there is nothing to emit for it. */
static bool
can_be_library(struct arena *arena, const struct program *program, const struct target *target,
               struct diags *diags)
{
    const char *reason = program->foreign ? "it has a reference in C and no stages to schedule"
                                          : target_supports(arena, target, program);
    if (reason != NULL)
        diags_add(diags, DIAG_ERROR, (struct place){0}, "%s: no library can be made: %s",
                  program->name, reason);
    return reason == NULL;
}

static void
put_head(struct buf *buf, const char *name)
{
    buf_printf(buf, "/* %s.h says how to build and call this. */\n", name);
    buf_puts(buf, "#include <math.h>\n#include <omp.h>\n#include <stddef.h>\n"
                  "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\n");
    buf_printf(buf, "#include \"%s.h\"\n", name);
}

enum status
run_put_library(struct arena *arena, struct lang *lang, const struct target *target,
                const struct run_start *start, struct run_library *library, struct diags *diags)
{
    size_t count = lang_case_count(lang);
    struct made *made = arena_array(arena, count, sizeof *made);
    *library = (struct run_library){buf_in(arena), buf_in(arena), 0};
    struct buf *buf = &library->source;
    put_head(buf, lang_name(lang));
    for (size_t i = 0; i < count; i++) {
        const char *lines = lines_for(start, lang_case_name(lang, i));
        made[i].program = lang_program(lang, i, NULL, 0, diags);
        if (made[i].program == NULL || !can_be_library(arena, made[i].program, target, diags))
            return STATUS_INPUT;
        if (lines != NULL)
            put_versions(buf, arena, &made[i], lines);
        library->kernels += made[i].count;
    }
    if (library->kernels == 0 && strstr(start->text, RUN__PLAIN_TITLE) == NULL) {
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "%s: no schedule of it fits a case of %s; name the kernel that `hone optimize` "
                  "wrote for it",
                  start->file, lang_name(lang));
        return STATUS_INPUT;
    }
    buf_putc(buf, '\n');
    lang_emit(buf, made[0].program, &(struct emit_options){.form = EMIT_GENERAL});
    put_processor(buf);
    put_entry(buf, made[0].program, made, count);
    put_header(&library->header, made[0].program, target, made, count);
    return STATUS_OK;
}
