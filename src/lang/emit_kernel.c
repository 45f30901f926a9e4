/* A kernel that stands alone: names that C allows, the prelude, the signature, small helpers. */
#include "lang/emit_int.h"

#include "lang/emitted_int.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* What a kernel's text may not call its own. */
static const char *const taken[] = {
    "abort",     "alignas",   "alignof",   "asm",       "auto",     "bf16",     "bf16_of_f32",
    "bool",      "break",     "case",      "char",      "const",    "continue", "default",
    "do",        "double",    "else",      "enum",      "errno",    "extern",   "f32_of_bf16",
    "false",     "float",     "floor_div", "floor_mod", "for",      "free",     "goto",
    "if",        "inline",    "int",       "int16_t",   "int32_t",  "int64_t",  "int8_t",
    "kernel",    "linux",     "long",      "malloc",    "memcpy",   "memset",   "register",
    "restrict",  "return",    "short",     "signed",    "size_t",   "sizeof",   "static",
    "step",      "struct",    "switch",    "true",      "typedef",  "typeof",   "uint16_t",
    "uint32_t",  "uint64_t",  "uint8_t",   "union",     "unix",     "unsigned", "void",
    "volatile",  "while",     "HONE",      "HUGE_VAL",  "INFINITY", "NAN",      "NULL",
    "INT32_MAX", "INT32_MIN", "INT64_MAX", "INT64_MIN", "RAND_MAX", "INT64_C",  "M_PI",
    "at",        "main",      "general",
};

static bool
is_taken(struct emitter *em, const char *name)
{
    const struct program *program = em->program;

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return true;
    for (size_t i = 0; i < program->dim_count; i++)
        if (strcmp(name, program->dims[i].name) == 0 ||
            (em->general && strcmp(name, emit_text(em, "%s_size", program->dims[i].name)) == 0))
            return true;
    for (size_t i = 0; i < program->const_count; i++)
        if (strcmp(name, program->const_names[i]) == 0)
            return true;
    return false;
}

/* Functions of <math.h> that kernels call, f32 with an f at the end. */
static const char *const called[] = {
    "atan",  "ceil", "cos", "cosh", "erf", "exp",  "exp2", "expm1", "fabs", "floor", "log",
    "log1p", "log2", "pow", "rint", "sin", "sinh", "sqrt", "tan",   "tanh", "trunc",
};

/* Called functions, helpers, and what temporaries look like: t12, s12, x12_. */
static bool
looks_like_ours(const char *name)
{
    size_t length = strlen(name), digits = strspn(name + 1, "0123456789");

    for (size_t i = 0; i < sizeof called / sizeof *called; i++) {
        size_t base = strlen(called[i]);
        if (strncmp(name, called[i], base) == 0 &&
            (length == base || (length == base + 1 && name[base] == 'f')))
            return true;
    }
    if (length > 4 &&
        (strcmp(name + length - 4, "_f32") == 0 || strcmp(name + length - 4, "_f64") == 0 ||
         strcmp(name + length - 4, "_i64") == 0))
        return true;
    return strchr("tsknqox", name[0]) && digits > 0 && digits + 2 >= length;
}

static const char *
c_name(struct emitter *em, const char *name)
{
    char *text = arena_printf(em->arena, "%s", name);

    for (char *c = text; *c; c++)
        if (*c == '.')
            *c = '_';
    while (is_taken(em, text) || looks_like_ours(text))
        text = arena_printf(em->arena, "%s_", text);
    return text;
}

static bool
is_array(const struct emitter *em, const char *name)
{
    for (size_t t = 0; t < em->program->tensor_count; t++)
        if (em->name[t] && strcmp(em->name[t], name) == 0)
            return true;
    return false;
}

/* Stage names are joined by dots, indices come from other operators: two may look the same in C. */
void
emit_kernel_names(struct emitter *em)
{
    const struct program *program = em->program;

    if (!em->single)
        return;
    memset(em->name, 0, program->tensor_count * sizeof *em->name);
    for (size_t t = 0; t < program->tensor_count; t++) {
        const char *name = c_name(em, program->tensors[t]->name);
        if (is_array(em, name))
            name = emit_text(em, "%s_%zu", name, t);
        em->name[t] = name;
    }
}

const char *
emit_index_name(struct emitter *em, const char *name, unsigned level)
{
    const char *text = name ? c_name(em, name) : emit_text(em, "i%u", level);

    while (is_array(em, text))
        text = emit_text(em, "%s_", text);
    for (unsigned l = 0; l < level; l++) /* an operator's index may meet its caller's */
        if (strcmp(em->index[l], text) == 0)
            return emit_text(em, "%s_%u", text, level);
    return text;
}

/* ---- prelude ---- */

static void
print_macros(struct emitter *em)
{
    const struct program *program = em->program;

    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(em->out, "#define %s %lld\n", program->dims[i].name,
                   (long long)program->dims[i].size);
    for (size_t i = 0; i < program->const_count; i++)
        buf_printf(em->out, "#define %s %lld\n", program->const_names[i],
                   (long long)program->const_values[i]);
}

void
emit_kernel_prelude(struct emitter *em, const char *body)
{
    if (em->general)
        buf_printf(em->out, "/* %s, every size */\n", em->program->name);
    else
        buf_printf(em->out, "/* %s, case %s */\n", em->program->name, em->program->case_name);
    buf_puts(em->out, "#ifndef HONE\n"
                      "#include <math.h>\n"
                      "#include <omp.h>\n"
                      "#include <stddef.h>\n"
                      "#include <stdint.h>\n"
                      "#include <stdlib.h>\n"
                      "#include <string.h>\n");
    if (em->options.form == EMIT_NAIVE)
        print_macros(em);
    if (strstr(body, "bf16"))
        buf_puts(em->out, emitted_bf16);
    if (!em->general) {
        emit_signature(em);
        buf_puts(em->out, ";\n");
    }
    buf_puts(em->out, "#endif\n\n");
}

void
emit_signature(struct emitter *em)
{
    const struct program *program = em->program;
    struct buf *out = em->out;

    buf_puts(out, em->general ? "static void\ngeneral(" : "void\nkernel(");
    for (size_t i = 0; i < program->dim_count && em->general; i++)
        buf_printf(out, "const int64_t %s, ", emit_dim(em, &program->dims[i]));
    for (size_t t = 0; t < program->input_count; t++)
        buf_printf(out, "%sconst %s *restrict %s", t ? ", " : "",
                   dtype_info[program->tensors[t]->dtype].c_type, em->name[t]);
    for (size_t o = 0; o < program->output_count; o++)
        buf_printf(out, "%s%s *restrict %s", o + program->input_count ? ", " : "",
                   dtype_info[program->outputs[o]->dtype].c_type,
                   em->name[program->outputs[o]->number]);
    buf_putc(out, ')');
}

/* ---- helpers ---- */

struct helper {
    const char *name, *type, *arguments, *body;
};

/*    name, type, arguments, body */
#define HELPERS(X)                                                                \
    X("max_f32", "float", "float a, float b", "return a > b ? a : b;")            \
    X("max_f64", "double", "double a, double b", "return a > b ? a : b;")         \
    X("max_i64", "int64_t", "int64_t a, int64_t b", "return a > b ? a : b;")      \
    X("min_f32", "float", "float a, float b", "return a < b ? a : b;")            \
    X("min_f64", "double", "double a, double b", "return a < b ? a : b;")         \
    X("min_i64", "int64_t", "int64_t a, int64_t b", "return a < b ? a : b;")      \
    X("abs_i64", "int64_t", "int64_t a", "return a < 0 ? -a : a;")                \
    X("sign_f32", "float", "float a", "return (float)((a > 0) - (a < 0));")       \
    X("sign_f64", "double", "double a", "return (a > 0) - (a < 0);")              \
    X("sign_i64", "int64_t", "int64_t a", "return (a > 0) - (a < 0);")            \
    X("rsqrt_f32", "float", "float x", "return 1.0f / sqrtf(x);")                 \
    X("rsqrt_f64", "double", "double x", "return 1.0 / sqrt(x);")                 \
    X("sigmoid_f32", "float", "float x", "return 1.0f / (1.0f + expf(-x));")      \
    X("sigmoid_f64", "double", "double x", "return 1.0 / (1.0 + exp(-x));")       \
    X("softplus_f32", "float", "float x", "return x > 20 ? x : log1pf(expf(x));") \
    X("softplus_f64", "double", "double x", "return x > 20 ? x : log1p(exp(x));") \
    X("floor_div", "int64_t", "int64_t a, int64_t b",                             \
      "if (b == 0 || b == -1)\n        return -a * -b;\n"                         \
      "    return a / b - (a % b != 0 && (a < 0) != (b < 0));")                   \
    X("floor_mod", "int64_t", "int64_t a, int64_t b",                             \
      "if (b == 0 || b == -1)\n        return 0;\n"                               \
      "    return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);")

static const struct helper helpers[] = {
#define X(...) {__VA_ARGS__},
    HELPERS(X)
#undef X
};

const char *const lang_helpers[] = {
#define X(name, ...) name,
    HELPERS(X)
#undef X
        NULL};

/* Walks a permutation of the next power of two until it is below `terms`. */
static void
print_shuffled(struct emitter *em)
{
    uint64_t seed = em->options.seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;

    buf_printf(em->out,
               "static inline int64_t\n"
               "shuffled(int64_t q, int64_t terms)\n"
               "{\n"
               "    const int bits = terms > 1 ? 64 - __builtin_clzll((uint64_t)terms - 1) : 1;\n"
               "    const uint64_t mask = (UINT64_C(1) << bits) - 1;\n"
               "    uint64_t x = (uint64_t)q;\n"
               "    do {\n"
               "        x = (x * UINT64_C(0x%llx) + UINT64_C(0x%llx)) & mask;\n"
               "        x ^= x >> (bits + 1) / 2;\n"
               "        x = x * UINT64_C(0x%llx) & mask;\n"
               "    } while (x >= (uint64_t)terms);\n"
               "    return (int64_t)x;\n"
               "}\n\n",
               (unsigned long long)(seed | 1), (unsigned long long)(seed >> 17),
               (unsigned long long)(seed >> 7 | 1));
}

static void
print_helper(struct buf *out, const struct helper *helper)
{
    buf_printf(out, "static inline %s\n%s(%s)\n{\n    %s\n}\n\n", helper->type, helper->name,
               helper->arguments, helper->body);
}

void
emit_kernel_helpers(struct emitter *em, const char *body)
{
    if (strstr(body, "INDEX "))
        buf_puts(em->out, "#define INDEX __attribute__((unused)) const int64_t\n\n");
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        if (strstr(body, helpers[i].name))
            print_helper(em->out, &helpers[i]);
    if (strstr(body, "shuffled("))
        print_shuffled(em);
}

bool
lang_put_helper(struct buf *buf, const char *name)
{
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        if (strcmp(helpers[i].name, name) == 0) {
            print_helper(buf, &helpers[i]);
            return true;
        }
    return false;
}

void
lang_put_bf16(struct buf *buf)
{
    buf_puts(buf, emitted_bf16);
}
