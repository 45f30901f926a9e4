/* The kernel file that a person gets: every case, and a main that tests and times it. */
#include "run/run_int.h"

#include "lang/lang.h"

#include <inttypes.h>
#include <string.h>

/* "R == 1024 && N == 4096": the sizes that tell the cases apart. */
static void
put_sizes(struct buf *buf, const struct program *program)
{
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(buf, "%s%s == %" PRId64, i ? " && " : "", program->dims[i].name,
                   program->dims[i].size);
}

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

/* ---- a main ---- */

static void
put_call(struct buf *buf, const struct program *program, const char *function, const char *outputs)
{
    buf_printf(buf, "%s(", function);
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
    buf_puts(buf, "    ");
    put_call(buf, program, "plain", "expected");
    buf_puts(buf, "    for (int run = 0; run < 20; run++) {\n        struct timespec a, b;\n"
                  "        clock_gettime(CLOCK_MONOTONIC, &a);\n        ");
    put_call(buf, program, "kernel", "out");
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

void
run_put_file(struct buf *buf, struct arena *arena, const struct run_case *cases, size_t count)
{
    bool branches = cases[0].program->dim_count > 0;
    put_defaults(buf, cases[0].program);
    for (size_t i = 0; i < count; i++) {
        if (branches) {
            buf_puts(buf, i ? "#elif " : "#if ");
            put_sizes(buf, cases[i].program);
            buf_putc(buf, '\n');
        }
        buf_puts(buf, cases[i].kernel);
        put_main(buf, arena, cases[i].program);
    }
    if (branches)
        buf_puts(buf, "#else\n#error \"no kernel was made for these sizes\"\n#endif\n");
}
