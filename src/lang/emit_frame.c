/* What stands around the stages: one function each, their order, memory, the entry. */
#include "lang/emit_int.h"

#include "base/hash.h"
#include "base/text.h"

#include <string.h>

/* ---- stages ---- */

/* "*" "/" in a name cannot occur, so a stage's text never ends its comment. */
static void
print_comment(struct emitter *em)
{
    struct buf text = buf_in(em->arena);

    lang_expand_stage(&text, em->program, em->stage);
    if (text.length > 2000)
        text.data[2000] = '\0';
    emit_line(em, "/* %s */", text.data);
}

static void
print_nest(struct emitter *em)
{
    if (em->plain || !emit_panel(em))
        emit_plain(em);
}

/* Whether a name stands in a text, as a whole word. */
static bool
has_word(const char *text, const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t length = strlen(word);

    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || !strchr(letters, at[-1])) &&
            (!at[length] || !strchr(letters, at[length])))
            return true;
    return false;
}

static const char *
element_type(const struct tensor *tensor)
{
    return tensor->dtype == DTYPE_BF16 ? "uint16_t" : dtype_info[tensor->dtype].c_type;
}

/* The arrays of a stage as locals of its function; t[] says where they are. */
static void
print_local(struct emitter *em, unsigned n)
{
    const struct tensor *tensor = em->reads[n].tensor;
    const char *constant = n ? "const " : "", *type = element_type(tensor);

    if (!em->bounds)
        emit_line(em, "%s%s *const x%u = (%s%s *)m->x[t[%u].tensor] + t[%u].offset;", constant,
                  type, n, constant, type, n, n);
    else if (!tensor->stage)
        emit_line(em, "const %s *const in%u = (const %s *)m->in[t[%u].tensor] + t[%u].offset;",
                  type, n, type, n, n);
    else
        emit_line(em, "%sdouble *const v%u = m->v[t[%u].tensor] + t[%u].offset;", constant, n, n,
                  n);
    if (!em->bounds || !tensor->stage || em->exact[tensor->number])
        return;
    emit_line(em, "%sdouble *const g%u = m->g[t[%u].tensor] + t[%u].offset;", constant, n, n, n);
    emit_line(em, "%sdouble *const c%u = m->c[t[%u].tensor] + t[%u].offset;", constant, n, n, n);
}

/* All of a stage's function but its name. */
static struct buf
stage_text(struct emitter *em)
{
    struct buf *out = em->out, text = buf_in(em->arena), body = buf_in(em->arena);

    em->out = &body;
    em->indent++;
    print_nest(em);
    em->out = &text;
    buf_puts(&text, "(const struct memory *m, const struct place *t");
    if (em->stage->rec >= 0)
        buf_printf(&text, ", int64_t i%u", em->stage->carried);
    buf_puts(&text, ")\n{\n");
    for (unsigned n = 0; n < em->read_count; n++)
        if (has_word(body.data, emit_array(em, n)))
            print_local(em, n);
    if (has_word(body.data, "output"))
        emit_line(em, "const int output = t[%u].tensor;", em->read_count);
    buf_add(&text, body.data, body.length);
    emit_close(em);
    em->out = out;
    return text;
}

/* Stages whose functions are the same but for the tensors they name share one: deep networks then
 * take gcc seconds, not minutes. */
struct functions {
    struct {
        uint64_t hash;
        struct buf text;
        size_t stage;
    } * items;
    size_t count;
    const char **calls; /* by stage: "stage_3(m, (const struct place[]){{7, 0}, {1, 64}}" */
};

static size_t
find_function(struct functions *functions, const struct buf *text, size_t s)
{
    uint64_t hash = hash_mix(0, text->data, text->length);

    for (size_t i = 0; i < functions->count; i++)
        if (functions->items[i].hash == hash && functions->items[i].text.length == text->length &&
            memcmp(functions->items[i].text.data, text->data, text->length) == 0)
            return functions->items[i].stage;
    functions->items[functions->count].hash = hash;
    functions->items[functions->count].text = *text;
    functions->items[functions->count++].stage = s;
    return s;
}

static const char *
call_text(struct emitter *em, size_t function)
{
    struct buf call = buf_in(em->arena);

    buf_printf(&call, "stage_%zu(m, (const struct place[]){", function);
    for (unsigned n = 0; n < em->read_count; n++) {
        const struct tensor *tensor = em->reads[n].tensor;
        bool input = em->bounds && !tensor->stage;
        buf_printf(&call, "%s{%d, %lld}", n ? ", " : "",
                   input ? tensor->input : (int)tensor->number, (long long)em->reads[n].offset);
    }
    if (em->bounds && emit_shows_terms(em->stage->tensor))
        buf_printf(&call, ", {%d, 0}", em->stage->tensor->output);
    buf_putc(&call, '}');
    return call.data;
}

static void
print_stage_function(struct emitter *em, struct functions *functions, size_t s)
{
    emit_enter(em, s);
    struct buf text = stage_text(em);
    size_t function = find_function(functions, &text, s);

    functions->calls[s] = call_text(em, function);
    if (function != s)
        return;
    print_comment(em);
    buf_printf(em->out, "static void\nstage_%zu%s\n", s, text.data);
}

/* ---- the order of stages ---- */

/* A step is a stage, or a rec block. */
static void
print_step(struct emitter *em, const struct functions *functions, size_t first, size_t end)
{
    const struct program *program = em->program;
    const struct stage *stage = &program->stages[first];

    if (stage->rec < 0) {
        emit_line(em, "%s);", functions->calls[first]);
        return;
    }
    emit_open(em, "for (int64_t step = 0; step < %lld; step++)",
              (long long)program->recs[stage->rec].size);
    for (size_t s = first; s <= end; s++)
        emit_line(em, "%s, step);", functions->calls[s]);
    emit_close(em);
}

static void
print_make(struct emitter *em, const struct tensor *tensor)
{
    if (tensor->output >= 0)
        return;
    if (em->bounds)
        emit_line(em, "if (!make(m, %u, %lld, %d))", tensor->number, (long long)tensor->count,
                  !em->exact[tensor->number]);
    else
        emit_line(em, "if (!(m->x[%u] = malloc(%lld * sizeof(%s))))", tensor->number,
                  (long long)tensor->count, element_type(tensor));
    emit_line(em, "    return 1;");
}

/* Tensors that nobody reads after this step. */
static void
print_drops(struct emitter *em, size_t end)
{
    const struct program *program = em->program;

    for (size_t t = program->input_count; t < program->tensor_count; t++)
        if (program->tensors[t]->output < 0 && em->last[t] == end)
            emit_line(em, "drop(m, %zu);", t);
}

static void
print_run(struct emitter *em, const struct functions *functions)
{
    const struct program *program = em->program;

    emit_line(em, "static int");
    emit_line(em, "run(struct memory *m)");
    emit_line(em, "{");
    em->indent++;
    for (size_t s = 0; s < program->stage_count; s++) {
        size_t end = emit_step_end(program, s);
        for (size_t i = s; i <= end; i++)
            print_make(em, program->stages[i].tensor);
        print_step(em, functions, s, end);
        print_drops(em, end);
        s = end;
    }
    emit_line(em, "return 0;");
    emit_close(em);
    emit_line(em, "%s", "");
}

/* ---- the reference's frame ---- */

static const char place_type[] = "struct place { /* an array: a tensor from some element on */\n"
                                 "    int tensor;\n"
                                 "    int64_t offset;\n"
                                 "};\n"
                                 "\n";

static const char reference_memory[] =
    "struct memory {\n"
    "    const void *const *in;\n"
    "    double *v[TENSORS], *g[TENSORS], *c[TENSORS];\n"
    "    double *const *term_v, *const *term_g, *const *term_c;\n"
    "};\n"
    "\n"
    "static inline int\n"
    "make(struct memory *m, int tensor, int64_t count, int bounds)\n"
    "{\n"
    "    m->v[tensor] = malloc((size_t)count * sizeof(double));\n"
    "    if (bounds) {\n"
    "        m->g[tensor] = malloc((size_t)count * sizeof(double));\n"
    "        m->c[tensor] = malloc((size_t)count * sizeof(double));\n"
    "    }\n"
    "    return m->v[tensor] && (!bounds || (m->g[tensor] && m->c[tensor]));\n"
    "}\n"
    "\n"
    "static inline void\n"
    "drop(struct memory *m, int tensor)\n"
    "{\n"
    "    free(m->v[tensor]);\n"
    "    free(m->g[tensor]);\n"
    "    free(m->c[tensor]);\n"
    "    m->v[tensor] = m->g[tensor] = m->c[tensor] = NULL;\n"
    "}\n"
    "\n";

static void
print_reference_entry(struct emitter *em)
{
    const struct program *program = em->program;

    emit_line(em, "/* Outputs of which only v is written: g and c are zero. */");
    buf_printf(em->out, "const int hone_exact[%zu] = {", program->output_count + 1);
    for (size_t o = 0; o < program->output_count; o++)
        buf_printf(em->out, "%d, ", em->exact[program->outputs[o]->number]);
    buf_puts(em->out, "0};\n\n");
    buf_puts(em->out,
             "int\n"
             "hone_reference(const void *const *in, double *const *v, double *const *g,\n"
             "               double *const *c, double *const *term_v, double *const *term_g,\n"
             "               double *const *term_c)\n"
             "{\n"
             "    struct memory *m = calloc(1, sizeof *m);\n"
             "    if (!m)\n"
             "        return 1;\n"
             "    m->in = in;\n"
             "    m->term_v = term_v;\n"
             "    m->term_g = term_g;\n"
             "    m->term_c = term_c;\n");
    em->indent++;
    for (size_t o = 0; o < program->output_count; o++) {
        unsigned n = program->outputs[o]->number;
        emit_line(em, "m->v[%u] = v[%zu];", n, o);
        emit_line(em, "m->g[%u] = g[%zu];", n, o);
        emit_line(em, "m->c[%u] = c[%zu];", n, o);
    }
    emit_line(em, "const int failed = run(m);");
    for (size_t o = 0; o < program->output_count; o++) {
        unsigned n = program->outputs[o]->number;
        emit_line(em, "m->v[%u] = m->g[%u] = m->c[%u] = NULL;", n, n, n);
    }
    em->indent--;
    buf_puts(em->out, "    for (int t = 0; t < TENSORS; t++)\n"
                      "        drop(m, t);\n"
                      "    free(m);\n"
                      "    return failed;\n"
                      "}\n");
}

/* ---- kernels ---- */

static const char kernel_memory[] = "struct memory {\n"
                                    "    void *x[TENSORS];\n"
                                    "};\n"
                                    "\n"
                                    "static inline void\n"
                                    "drop(struct memory *m, int tensor)\n"
                                    "{\n"
                                    "    free(m->x[tensor]);\n"
                                    "    m->x[tensor] = NULL;\n"
                                    "}\n"
                                    "\n";

static void
print_kernel_entry(struct emitter *em)
{
    const struct program *program = em->program;

    emit_signature(em);
    buf_puts(em->out, "\n{\n");
    em->indent++;
    emit_line(em, "struct memory *m = calloc(1, sizeof *m);");
    emit_line(em, "if (!m)");
    emit_line(em, "    abort();");
    for (size_t t = 0; t < program->input_count; t++)
        emit_line(em, "m->x[%zu] = (void *)x%zu;", t, t);
    for (size_t o = 0; o < program->output_count; o++)
        emit_line(em, "m->x[%u] = x%u;", program->outputs[o]->number, program->outputs[o]->number);
    emit_line(em, "if (run(m)) /* an evaluator needs less than the reference, which ran */");
    emit_line(em, "    abort();");
    emit_line(em, "free(m);");
    emit_close(em);
}

static void
print_functions(struct emitter *em)
{
    size_t count = em->program->stage_count;
    struct functions functions = {.count = 0};

    functions.items = arena_array(em->arena, count, sizeof *functions.items);
    functions.calls = arena_array(em->arena, count, sizeof *functions.calls);
    for (size_t s = 0; s < count; s++)
        print_stage_function(em, &functions, s);
    print_run(em, &functions);
}

/* ---- the naive kernel: one function, scratch in static arrays ---- */

static void
name_indices(struct emitter *em)
{
    const struct stage *stage = em->stage;

    for (unsigned l = 0; l < LANG_MAX_LEVELS; l++)
        em->index[l] = emit_text(em, "i%u", l);
    for (unsigned l = 0; l < stage->tensor->rank; l++)
        em->index[l] = emit_index_name(em, stage->index[l], l);
    for (unsigned i = 0; em->reduce && i < em->reduce->binder->count; i++) {
        unsigned l = em->reduce->binder->level + i;
        em->index[l] = emit_index_name(em, em->reduce->binder->names[i], l);
    }
}

/* What stands outside of a stage's loops needs a block of its own. */
static void
print_naive_stage(struct emitter *em, size_t s)
{
    struct buf *out = em->out, text = buf_in(em->arena);

    emit_enter(em, s);
    name_indices(em);
    print_comment(em);
    em->out = &text;
    print_nest(em);
    em->out = out;
    const char *start = text.data + strspn(text.data, " ");
    if (text_starts(start, "for (") || text_starts(start, "#pragma")) {
        buf_add(em->out, text.data, text.length);
        return;
    }
    emit_open(em, "%s", "");
    print_nest(em);
    emit_close(em);
}

/* Stages of a block may call the carried index by different names: each has its own. */
static void
print_naive_block(struct emitter *em, size_t first, size_t end)
{
    const struct program *program = em->program;
    const char *size = emit_size(em, program->recs[program->stages[first].rec].extent);

    emit_open(em, "for (int64_t step = 0; step < %s; step++)", size);
    for (size_t s = first; s <= end; s++) {
        const struct stage *stage = &program->stages[s];
        emit_enter(em, s);
        name_indices(em);
        emit_open(em, "%s", "");
        emit_line(em, "const int64_t %s = step;", em->index[stage->carried]);
        print_naive_stage(em, s);
        emit_close(em);
    }
    emit_close(em);
}

/* Where sizes are arguments scratch is allocated by each call. */
static void
print_scratch(struct emitter *em, const struct tensor *tensor)
{
    const char *type = dtype_info[tensor->dtype].c_type, *name = em->name[tensor->number];

    if (!em->general) {
        emit_line(em, "static %s %s[%s];", type, name, emit_count(em, tensor));
        return;
    }
    emit_line(em, "%s *const %s = malloc(%s * sizeof *%s);", type, name, emit_count(em, tensor),
              name);
    emit_line(em, "if (%s == NULL)", name);
    emit_line(em, "    abort();");
}

static void
each_scratch(struct emitter *em, void (*print)(struct emitter *em, const struct tensor *tensor))
{
    const struct program *program = em->program;

    for (size_t s = 0; s < program->stage_count; s++)
        if (program->stages[s].tensor->output < 0)
            print(em, program->stages[s].tensor);
}

static void
print_free(struct emitter *em, const struct tensor *tensor)
{
    emit_line(em, "free(%s);", em->name[tensor->number]);
}

static void
print_naive(struct emitter *em)
{
    const struct program *program = em->program;

    if (!em->general)
        each_scratch(em, print_scratch);
    if (em->out->length > 0)
        buf_putc(em->out, '\n');
    emit_signature(em);
    buf_puts(em->out, "\n{\n");
    em->indent++;
    if (em->general)
        each_scratch(em, print_scratch);
    for (size_t s = 0; s < program->stage_count; s++) {
        size_t end = emit_step_end(program, s);
        if (program->stages[s].rec >= 0)
            print_naive_block(em, s, end);
        else
            print_naive_stage(em, s);
        s = end;
    }
    if (em->general)
        each_scratch(em, print_free);
    emit_close(em);
}

/* ---- all of it ---- */

void
emit_reference(struct emitter *em)
{
    struct buf *out = em->out, body = buf_in(em->arena);

    em->out = &body;
    print_functions(em);
    em->out = out;
    emit_reference_rules(em);
    emit_tile_helpers(em, body.data);
    buf_printf(em->out, "enum { TENSORS = %zu };\n\n", em->program->tensor_count);
    buf_puts(em->out, place_type);
    buf_puts(em->out, reference_memory);
    buf_add(em->out, body.data, body.length);
    print_reference_entry(em);
}

/* The body is printed first, so that only the helpers it calls stand before it. */
void
emit_kernel(struct emitter *em)
{
    struct buf *out = em->out, body = buf_in(em->arena);

    emit_kernel_names(em);
    em->out = &body;
    if (em->single) {
        print_naive(em);
    } else {
        buf_printf(em->out, "enum { TENSORS = %zu };\n\n", em->program->tensor_count);
        buf_puts(em->out, place_type);
        buf_puts(em->out, kernel_memory);
        print_functions(em);
        print_kernel_entry(em);
    }
    em->out = out;
    emit_kernel_prelude(em, body.data);
    emit_kernel_helpers(em, body.data);
    emit_tile_helpers(em, body.data);
    buf_add(em->out, body.data, body.length);
}
