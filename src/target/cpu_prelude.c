/* What stands before a kernel's text: headers, sizes as macros, bf16, the prototype. */
#include "target/target_int.h"

#include <stdint.h>

/* Before every kernel the same, so that it can be precompiled. */
const char target__cpu_headers[] = "#define HONE 1\n"
                                   "#include <math.h>\n"
                                   "#include <omp.h>\n"
                                   "#include <stddef.h>\n"
                                   "#include <stdint.h>\n"
                                   "#include <stdlib.h>\n"
                                   "#include <string.h>\n"
                                   "typedef uint16_t bf16; /* the upper half of a float */\n"
                                   "static inline float\n"
                                   "f32_of_bf16(bf16 x)\n"
                                   "{\n"
                                   "    const uint32_t bits = (uint32_t)x << 16;\n"
                                   "    float f;\n"
                                   "    memcpy(&f, &bits, sizeof f);\n"
                                   "    return f;\n"
                                   "}\n"
                                   "static inline bf16 /* to nearest, ties to even */\n"
                                   "bf16_of_f32(float f)\n"
                                   "{\n"
                                   "    uint32_t bits;\n"
                                   "    memcpy(&bits, &f, sizeof bits);\n"
                                   "    if ((bits & 0x7fffffff) > 0x7f800000)\n"
                                   "        return (bf16)(bits >> 16 | 64);\n"
                                   "    return (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);\n"
                                   "}\n";

static void
put_macro(struct buf *buf, const char *name, int64_t value)
{
    buf_printf(buf,
               "#ifdef %s\n"
               "#error \"%s is a size of the task and a macro already\"\n"
               "#endif\n"
               "#define %s ",
               name, name, name);
    if (value == INT64_MIN) /* its digits alone would be too large a number */
        buf_puts(buf, "(-INT64_C(9223372036854775807) - 1)\n");
    else
        buf_printf(buf, value < 0 ? "(%lld)\n" : "%lld\n", (long long)value);
}

/* A parameter's name is only for the reader; one that C would take amiss gets a _ behind it. */
static void
put_parameter(struct buf *buf, const struct tensor *tensor, bool input)
{
    buf_printf(buf, "%s%s *restrict %s%s", input ? "const " : "", dtype_info[tensor->dtype].c_type,
               tensor->name, target__c_taken(tensor->name) ? "_" : "");
}

void
target__cpu_signature(struct buf *buf, const struct program *program)
{
    struct filler filler = {.buf = buf};
    size_t count = program->input_count + program->output_count;

    for (size_t i = 0; i < count; i++) {
        bool input = i < program->input_count;
        struct buf word = buf_in(buf->arena);
        buf_puts(&word, i ? "" : "void kernel(");
        put_parameter(
            &word, input ? program->tensors[i] : program->outputs[i - program->input_count], input);
        buf_puts(&word, i + 1 < count ? "," : ")");
        target__fill(&filler, word.data);
        filler.indent = 12;
    }
}

void
target__cpu_prelude(struct buf *buf, const struct program *program)
{
    buf_printf(buf, "/* %s, case %s */\n", program->name, program->case_name);
    for (size_t i = 0; i < program->dim_count; i++)
        put_macro(buf, program->dims[i].name, program->dims[i].size);
    for (size_t i = 0; i < program->const_count; i++)
        put_macro(buf, program->const_names[i], program->const_values[i]);
    target__cpu_signature(buf, program);
    buf_puts(buf, ";\n");
}
