/* The texts that the judge reads, and the kernel file that a person gets: every case, and a main
 * that tests and times it. */
#include "run/run_int.h"

#include "base/text.h"
#include "lang/lang.h"

#include <inttypes.h>
#include <string.h>

/* Sizes for a compiler that was given none: those of the first case. */
static void
put_defaults(struct buf *buf, const struct program *program)
{
    if (program->dim_count == 0)
        return;
    buf_puts(buf, "#ifndef HONE /* compiled alone: the sizes of one case, or -D them all */\n");
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(buf, "#ifndef %s\n#define %s %" PRId64 "\n#endif\n", program->dims[i].name,
                   program->dims[i].name, program->dims[i].size);
    buf_puts(buf, "#endif\n\n");
}

/* Scratch has a part for each thread: as many as it was made for, unless the compiler is told. */
static void
put_threads(struct buf *buf, const struct loop *loop)
{
    const struct run_result *result = loop->result;
    for (size_t i = 0; i < result->case_count; i++)
        if (result->cases[i].best != NULL &&
            strstr(result->cases[i].best->kernel, "HONE_THREADS")) {
            buf_printf(buf, "#ifndef HONE_THREADS\n#define HONE_THREADS %u\n#endif\n\n",
                       loop->options->machine.threads);
            return;
        }
}

/* ---- a main ---- */

void
run__put_parameters(struct buf *buf, const struct program *program)
{
    for (size_t i = 0; i < program->input_count; i++)
        buf_printf(buf, "%sconst %s *restrict in%zu", i ? ", " : "",
                   dtype_info[program->tensors[i]->dtype].c_type, i);
    for (size_t i = 0; i < program->output_count; i++)
        buf_printf(buf, "%s%s *restrict out%zu", i || program->input_count ? ", " : "",
                   dtype_info[program->outputs[i]->dtype].c_type, i);
    buf_puts(buf, ")\n");
}

void
run__put_arguments(struct buf *buf, const struct program *program, const char *outputs)
{
    for (size_t i = 0; i < program->input_count; i++)
        buf_printf(buf, "%sin%zu", i ? ", " : "", i);
    for (size_t i = 0; i < program->output_count; i++)
        buf_printf(buf, "%s%s%zu", i || program->input_count ? ", " : "", outputs, i);
    buf_puts(buf, ");\n");
}

static void
put_allocation(struct buf *buf, const struct tensor *tensor, const char *name, size_t number)
{
    const struct dtype_info *type = &dtype_info[tensor->dtype];
    buf_printf(buf, "    %s *%s%zu = aligned_alloc(64, %zu);\n", type->c_type, name, number,
               ((size_t)tensor->count * type->size + 127) / 64 * 64);
}

/* Numbers of the sizes that tests are made of: floats around 0, integers that subscripts may be. */
static void
put_filling(struct buf *buf, const struct tensor *tensor, size_t number)
{
    const struct dtype_info *type = &dtype_info[tensor->dtype];
    buf_printf(buf, "    for (long i = 0; i < %" PRId64 "; i++) {\n", tensor->count);
    buf_puts(buf, "        state = state * 6364136223846793005u + 1442695040888963407u;\n");
    buf_puts(buf, "        const double x = (double)(state >> 40) / (1 << 23) - 1;\n");
    if (tensor->dtype == DTYPE_BF16)
        buf_printf(buf, "        in%zu[i] = bf16_of_f32((float)x);\n", number);
    else if (dtype_is_float(tensor->dtype))
        buf_printf(buf, "        in%zu[i] = (%s)x;\n", number, type->c_type);
    else {
        int64_t low = tensor->low < -100 ? -100 : tensor->low;
        int64_t high = tensor->high > 100 && tensor->low < -100 ? 100 : tensor->high;
        buf_printf(buf,
                   "        in%zu[i] = (%s)(%" PRId64 " + (long)((x + 1) / 2 * %" PRId64 "));\n",
                   number, type->c_type, low, high - low + 1);
    }
    buf_puts(buf, "    }\n");
}

static void
put_main(struct buf *buf, struct arena *arena, const struct program *program)
{
    struct buf plain = buf_in(arena);
    lang_emit(&plain, program, &(struct emit_options){.form = EMIT_NAIVE});
    buf_puts(buf, "\n#ifdef HONE_MAIN /* the plain C of the operator, to compare with */\n"
                  "#define kernel plain\n");
    for (size_t i = 0; lang_helpers[i] != NULL; i++) /* the kernel may have its own */
        if (strstr(plain.data, lang_helpers[i]))
            buf_printf(buf, "#define %s plain_%s\n", lang_helpers[i], lang_helpers[i]);
    for (size_t i = 0; i < program->stage_count; i++) { /* and its own memory between stages */
        const char *name = lang_part_name(arena, program->stages[i].tensor);
        if (program->stages[i].tensor->output < 0)
            buf_printf(buf, "#define %s plain_%s\n", name, name);
    }
    buf_add(buf, plain.data, plain.length);
    buf_puts(buf,
             "#undef kernel\n#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n"
             "int\nmain(void)\n{\n    uint64_t state = 1;\n    double worst = 0, best = 1e30;\n");
    for (size_t i = 0; i < program->input_count; i++)
        put_allocation(buf, program->tensors[i], "in", i);
    for (size_t i = 0; i < program->output_count; i++) {
        put_allocation(buf, program->outputs[i], "out", i);
        put_allocation(buf, program->outputs[i], "expected", i);
    }
    for (size_t i = 0; i < program->input_count; i++)
        put_filling(buf, program->tensors[i], i);
    buf_puts(buf, "    plain(");
    run__put_arguments(buf, program, "expected");
    buf_puts(buf, "    for (int run = 0; run < 20; run++) {\n        struct timespec a, b;\n"
                  "        clock_gettime(CLOCK_MONOTONIC, &a);\n        kernel(");
    run__put_arguments(buf, program, "out");
    buf_puts(buf,
             "        clock_gettime(CLOCK_MONOTONIC, &b);\n"
             "        const double s = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec "
             "- a.tv_nsec);\n        best = s < best ? s : best;\n    }\n");
    for (size_t i = 0; i < program->output_count; i++) {
        const struct tensor *tensor = program->outputs[i];
        const char *open = tensor->dtype == DTYPE_BF16 ? "f32_of_bf16(" : "(";
        buf_printf(buf, "    for (long i = 0; i < %" PRId64 "; i++) {\n", tensor->count);
        buf_printf(
            buf, "        const double x = (double)%sout%zu[i]), y = (double)%sexpected%zu[i]);\n",
            open, i, open, i);
        buf_puts(buf, "        const double e = (x > y ? x - y : y - x) / (1 + (y < 0 ? -y : y));\n"
                      "        worst = x == y || e <= worst ? worst : e;\n    }\n");
    }
    buf_printf(
        buf,
        "    printf(\"%s, case %s: %%.3f us; largest difference from the plain C %%.3g\\n\", "
        "best * 1e6, worst);\n    return worst < 1e-2 ? 0 : 1;\n}\n#endif\n",
        program->name, program->case_name);
}

/* ---- every size ---- */

static bool
has_any(const struct program *program)
{
    for (size_t i = 0; i < program->dim_count; i++)
        if (program->dims[i].any)
            return true;
    return false;
}

/* A kernel that hands its sizes on as arguments. */
const char *
run__general(struct arena *arena, const struct program *program)
{
    struct buf text = buf_in(arena);
    if (!has_any(program))
        return NULL;
    lang_emit(&text, program, &(struct emit_options){.form = EMIT_GENERAL});
    buf_puts(&text, "\nvoid\nkernel(");
    run__put_parameters(&text, program);
    buf_puts(&text, "{\n    general(");
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(&text, "%s, ", program->dims[i].name);
    run__put_arguments(&text, program, "out");
    buf_puts(&text, "}\n");
    return text.data;
}

static void
put_flags(struct buf *buf, const struct loop *loop)
{
    if (loop->options->flags != NULL)
        buf_printf(buf, "//! flags %s\n", loop->options->flags);
}

const char *
run__judged_text(const struct loop *loop, const struct run_case *of, const char *kernel, bool ours)
{
    struct buf text = buf_in(loop->arena);
    bool wrapped = ours && loop->general != NULL;
    put_flags(&text, loop);
    if (wrapped) {
        buf_puts(&text, "#if ");
        target_put_sizes(&text, of->program);
        buf_putc(&text, '\n');
    }
    buf_puts(&text, kernel);
    if (wrapped)
        buf_printf(&text, "#else\n%s#endif\n", loop->general);
    return text.data;
}

/* ---- a kernel that somebody wrote, among others ---- */

static bool
is_declaration(const char *line)
{
    line += strspn(line, " \t");
    return text_starts(line, "//! flags") || text_starts(line, "//! tune");
}

static bool
is_hone_h(const char *line)
{
    size_t length = strcspn(line, "\n");
    return line[strspn(line, " \t")] == '#' && memmem(line, length, "include", 7) != NULL &&
           memmem(line, length, "\"hone.h\"", 8) != NULL;
}

/* What the text uses of hone.h, so that a file stands alone. */
static void
put_hone_h(struct buf *buf, const char *text)
{
    const char *names[256];
    size_t count = 0;
    for (const char *at = text; *at;) {
        size_t length =
            strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        const char *name = length > 0 ? arena_strndup(buf->arena, at, length) : "";
        bool known = false;
        for (size_t i = 0; i < count && !known; i++)
            known = strcmp(names[i], name) == 0;
        if (!known && length > 3 && name[0] == 'v' && count < 256 && target_hone_has(name))
            names[count++] = name;
        at += length > 0 ? length : 1;
    }
    if (count == 0)
        names[count++] = "vf32_load"; /* the types alone are wanted */
    target_hone_text(buf, names, count);
}

static bool
includes_again(const char *text)
{
    size_t count = 0;
    for (; *text && count < 2; text += strcspn(text, "\n"), text += *text == '\n')
        count += is_hone_h(text);
    return count > 1;
}

/* In the place of each #include; the compiler reads one of them, as it does with the header. */
static void
put_included(struct buf *buf, const char *text)
{
    bool again = includes_again(text);
    if (again)
        buf_puts(buf, "#ifndef HONE_H_IS_HERE\n#define HONE_H_IS_HERE\n");
    put_hone_h(buf, text);
    if (again)
        buf_puts(buf, "#endif\n");
}

/* Its declarations, which count only on top of a file; or all the rest of it, with what it includes
 * of hone.h in its place. */
static void
put_lines(struct buf *buf, const char *whole, bool declarations)
{
    for (const char *text = whole; *text;) {
        size_t length = (size_t)(strchrnul(text, '\n') - text);
        if (!declarations && is_hone_h(text))
            put_included(buf, whole);
        else if (is_declaration(text) == declarations)
            buf_printf(buf, "%.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static void
put_foreign(struct buf *buf, const struct loop *loop, const struct run_candidate *candidate)
{
    const struct run_start *start = loop->options->start;
    const char *origin = "written by a model";
    if (start != NULL && !strcmp(start->text, candidate->kernel))
        origin = arena_printf(loop->arena, "from %s", start->file);
    else if (strcmp(candidate->proposer, RUN_PLAIN) == 0)
        origin = RUN__PLAIN_TITLE;
    buf_printf(buf, "/* %s */\n#ifndef HONE\n%s#endif\n", origin, loop->options->target->headers);
    put_lines(buf, candidate->kernel, false);
}

/* ---- the file ---- */

/* All cases have the kernel that was given: it is given back as it came. */
static const char *
only_kernel(const struct run_result *result)
{
    for (size_t i = 0; i < result->case_count; i++)
        if (result->cases[i].best->schedule != NULL ||
            strcmp(result->cases[i].best->proposer, "start") != 0 ||
            strcmp(result->cases[i].best->kernel, result->cases[0].best->kernel) != 0)
            return NULL;
    return result->cases[0].best->kernel;
}

static void
put_declarations(struct buf *buf, const struct loop *loop)
{
    const struct run_result *result = loop->result;
    put_flags(buf, loop);
    for (size_t i = 0; i < result->case_count; i++)
        if (result->cases[i].best->schedule == NULL) {
            put_lines(buf, result->cases[i].best->kernel, true);
            return;
        }
}

/* Each case where its sizes are set; other sizes have the general kernel, or none. */
static void
put_branches(struct buf *buf, const struct loop *loop,
             void (*put)(struct buf *buf, const struct loop *loop, size_t number, const void *of),
             const void *of)
{
    const struct run_result *result = loop->result;
    bool branches = result->cases[0].program->dim_count > 0;
    for (size_t i = 0; i < result->case_count; i++) {
        if (branches) {
            buf_puts(buf, i ? "#elif " : "#if ");
            target_put_sizes(buf, result->cases[i].program);
            buf_putc(buf, '\n');
        }
        put(buf, loop, i, of);
    }
    if (branches && loop->general != NULL)
        buf_printf(buf, "#else\n%s#endif\n", loop->general);
    else if (branches)
        buf_puts(buf, "#else\n#error \"no kernel was made for these sizes\"\n#endif\n");
}

static void
put_case(struct buf *buf, const struct loop *loop, size_t number, const void *cases)
{
    const struct run_case *of = (const struct run_case *)cases + number;
    if (of->best->schedule == NULL)
        put_foreign(buf, loop, of->best);
    else
        buf_puts(buf, of->best->kernel);
    put_main(buf, loop->arena, of->program);
}

const char *
run__file(const struct loop *loop)
{
    const struct run_result *result = loop->result;
    struct buf file = buf_in(loop->arena), *buf = &file;
    const char *only = only_kernel(result);
    if (only != NULL) {
        put_flags(buf, loop);
        buf_puts(buf, only);
        return file.data;
    }
    put_declarations(buf, loop);
    put_defaults(buf, result->cases[0].program);
    put_threads(buf, loop);
    put_branches(buf, loop, put_case, result->cases);
    return file.data;
}

static void
put_part(struct buf *buf, const struct loop *loop, size_t number, const void *parts)
{
    (void)loop;
    buf_puts(buf, ((const char *const *)parts)[number]);
}

const char *
run__joined(const struct loop *loop, const char *const *parts)
{
    struct buf text = buf_in(loop->arena);
    put_flags(&text, loop);
    put_branches(&text, loop, put_part, parts);
    return text.data;
}
