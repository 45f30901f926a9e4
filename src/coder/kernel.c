/* The kernel's file: what stands before it, storage, names, and the stages in their order. */
#include "coder/emit_int.h"

#include "lang/lang.h"
#include "target/target.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- printing ---- */

__attribute__((format(printf, 2, 0))) static void
put_line(struct emitter *em, const char *format, va_list args)
{
    if (format[0] != '#')
        for (unsigned i = 0; i < em->indent; i++)
            buf_puts(em->out, "    ");
    buf_vprintf(em->out, format, args);
    buf_putc(em->out, '\n');
    em->lines++;
}

void
code_line(struct emitter *em, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line(em, format, args);
    va_end(args);
}

void
code_open(struct emitter *em, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line(em, format, args);
    va_end(args);
    em->indent++;
}

void
code_close(struct emitter *em)
{
    em->indent--;
    code_line(em, "}");
}

void
code_remove(struct emitter *em, size_t start, size_t end)
{
    memmove(em->out->data + start, em->out->data + end, em->out->length + 1 - end);
    em->out->length -= end - start;
}

void
code_fail(struct emitter *em, struct place place, const char *format, ...)
{
    va_list args;
    struct buf buf = buf_in(em->arena);
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    if (!em->failed)
        diags_add(em->diags, DIAG_ERROR, place, "%s", buf.data);
    em->failed = true;
}

/* ---- names ---- */

static const char *
c_name(struct arena *arena, const char *name)
{
    char *text = arena_strdup(arena, name);
    for (char *c = text; *c; c++)
        if (*c == '.')
            *c = '_';
    return text;
}

static bool
is_size(const struct program *program, const char *name)
{
    for (size_t i = 0; i < program->dim_count; i++)
        if (strcmp(program->dims[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < program->const_count; i++)
        if (strcmp(program->const_names[i], name) == 0)
            return true;
    return false;
}

const char *
code_name(struct emitter *em, const char *base)
{
    base = c_name(em->arena, base);
    size_t length = strlen(base), slot = 0;
    if (length > 0 && isdigit((unsigned char)base[length - 1]))
        base = arena_printf(em->arena, "%s_", base); /* number 0 of r1 is not number 10 of r */
    while (slot < em->base_count && strcmp(em->bases[slot].base, base) != 0)
        slot++;
    if (slot == em->base_count) {
        em->bases =
            arena_grow(em->arena, em->bases, em->base_count, em->base_count + 1, sizeof *em->bases);
        em->bases[em->base_count++] = (struct name_base){base, 0};
    }
    const char *name;
    do
        name = arena_printf(em->arena, "%s%u", base, em->bases[slot].next++);
    while (is_size(em->schedule->program, name) || code_is_storage(em, name) ||
           (em->step != NULL && strcmp(em->step, name) == 0));
    return name;
}

bool
code_is_storage(const struct emitter *em, const char *name)
{
    for (size_t i = 0; i < em->schedule->program->tensor_count; i++)
        if (em->storage[i] != NULL && strcmp(em->storage[i], name) == 0)
            return true;
    return false;
}

/* A tensor's own name where C has no other meaning for it. */
static const char *
storage_name(struct emitter *em, const struct tensor *tensor)
{
    const char *name = c_name(em->arena, tensor->name);
    bool taken = is_size(em->schedule->program, name) || (name[0] >= 'a' && name[0] <= 'z');
    return taken || code_is_storage(em, name) ? arena_printf(em->arena, "%s_", name) : name;
}

/* ---- helpers ---- */

static void
add_helper(struct emitter *em, const char *name)
{
    for (size_t i = 0; i < em->helper_count; i++)
        if (strcmp(em->helpers[i], name) == 0)
            return;
    em->helpers = arena_grow(em->arena, em->helpers, em->helper_count, em->helper_count + 1,
                             sizeof *em->helpers);
    em->helpers[em->helper_count++] = name;
}

const char *
code_helper(struct emitter *em, const char *name)
{
    static const char *const types[] = {"vf32", "vi32", "vf64", "vi64"};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(name, types[i]) == 0) {
            add_helper(em, arena_printf(em->arena, "%s_all", name));
            return name;
        }
    add_helper(em, name);
    return name;
}

const char *
code_helper_if_any(struct emitter *em, const char *name)
{
    return target_hone_has(name) ? code_helper(em, name) : NULL;
}

const char *
code_vector(struct emitter *em, const char *element, unsigned lanes)
{
    static const struct {
        const char *element, *type;
        unsigned bytes;
    } rows[] = {
        {"f32", "float", 4}, {"f64", "double", 8}, {"i32", "int32_t", 4}, {"i64", "int64_t", 8}};
    const char *name = arena_printf(em->arena, "%sx%u", element, lanes);
    for (size_t i = 0; i < em->type_count; i++)
        if (strcmp(em->types[i], name) == 0)
            return name;
    em->types =
        arena_grow(em->arena, em->types, em->type_count, em->type_count + 1, sizeof *em->types);
    em->types[em->type_count++] = name;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].element, element) == 0)
            buf_printf(&em->globals,
                       "typedef %s %s __attribute__((vector_size(%u), aligned(%u), may_alias));\n",
                       rows[i].type, name, rows[i].bytes * lanes, rows[i].bytes);
    return name;
}

/* ---- storage ---- */

const char *
code_scratch(const struct nest *nest, const char *base, enum dtype dtype, int64_t count)
{
    struct emitter *em = nest->em;
    const char *name = code_name(em, arena_printf(em->arena, "%s_", base));
    const char *type = dtype_info[dtype].c_type;
    int64_t size = (int64_t)dtype_info[dtype].size, room = count + 64 / size + 16;
    if (dtype == DTYPE_BF16)
        code_helper(em, "bf16_of_f32");
    if (nest->parallel && room * size <= STACK_SCRATCH)
        code_line(em, "%s %s[%" PRId64 "] __attribute__((aligned(64), unused));", type, name, room);
    else if (!nest->parallel)
        code_line(em, "static %s %s[%" PRId64 "] __attribute__((aligned(64), unused));", type, name,
                  room);
    else {
        const char *own = code_name(em, name);
        code_line(em,
                  "static _Thread_local %s %s[%" PRId64 "] __attribute__((aligned(64), unused));",
                  type, own, room);
        code_line(em, "%s *const %s = %s;", type, name, own);
    }
    return name;
}

/* The whole tensor lies in memory. */
static bool
is_stored(const struct work *work)
{
    return work->fate == FATE_ROOT || (work_has_loops(work) && work->stored);
}

static void
name_storage(struct emitter *em)
{
    const struct program *program = em->schedule->program;
    em->storage = arena_array(em->arena, program->tensor_count + 1, sizeof *em->storage);
    for (size_t i = 0; i < program->tensor_count; i++)
        em->storage[i] = storage_name(em, program->tensors[i]);
    for (size_t i = 0; i < program->stage_count; i++) {
        const struct work *work = &em->schedule->works[i];
        const struct tensor *tensor = work->tensor;
        if (work_memory(em->schedule, tensor) != tensor) {
            em->storage[tensor->number] = em->storage[work_memory(em->schedule, tensor)->number];
            continue;
        }
        if (tensor->output >= 0 || !is_stored(work))
            continue;
        if (tensor->dtype == DTYPE_BF16)
            code_helper(em, "bf16_of_f32");
        buf_printf(&em->globals, "static %s %s[%" PRId64 "] __attribute__((aligned(64)));\n",
                   dtype_info[tensor->dtype].c_type, em->storage[tensor->number],
                   tensor->count + 32);
    }
}

/* ---- uses ---- */

static void
count_uses(uint8_t *uses, const struct expr *e)
{
    if (uses[e->id] < 2)
        uses[e->id]++;
    if (uses[e->id] > 1)
        return;
    for (unsigned i = 0; i < e->count; i++)
        count_uses(uses, e->args[i]);
}

const uint8_t *
code_uses(struct emitter *em, const struct work *work)
{
    if (em->uses[work->number] == NULL) {
        uint8_t *uses = arena_array(em->arena, ir_count(em->schedule->program->ir) + 256, 1);
        count_uses(uses, work->code);
        em->uses[work->number] = uses;
    }
    return em->uses[work->number];
}

/* ---- stages ---- */

static void
comment_stage(struct emitter *em, size_t stage)
{
    const struct line *line = &em->schedule->lines[stage];
    struct buf buf = buf_in(em->arena);
    for (size_t i = 0; i < line->count; i++)
        if (!line->tokens[i].hidden)
            buf_printf(&buf, " %s", line->tokens[i].text);
    code_line(em, "/* %s:%s */", em->schedule->program->stages[stage].tensor->name,
              buf.length ? buf.data : "");
}

/* ---- functions: stages that are equal up to names share one ---- */

struct function {
    const char *name, *text; /* the body with parameters p0, p1, ... */
};

struct touched { /* tensors that a root reads and writes */
    const struct tensor **tensors;
    size_t count;
};

static void
touch(struct emitter *em, struct touched *touched, const struct tensor *tensor)
{
    for (size_t i = 0; i < touched->count; i++)
        if (touched->tensors[i] == tensor)
            return;
    touched->tensors = arena_grow(em->arena, touched->tensors, touched->count, touched->count + 1,
                                  sizeof *touched->tensors);
    touched->tensors[touched->count++] = tensor;
}

static void
touch_expression(struct emitter *em, struct touched *touched, const struct expr *e, uint8_t *seen)
{
    if (!e->loads || seen[e->id])
        return;
    seen[e->id] = 1;
    if (e->op == OP_LOAD)
        touch(em, touched, e->tensor);
    for (unsigned i = 0; i < e->count; i++)
        touch_expression(em, touched, e->args[i], seen);
}

/* What a stage and all that is computed in its loops touch, in the order of its text. */
static void
touch_stage(struct emitter *em, struct touched *touched, size_t stage)
{
    const struct work *work = &em->schedule->works[stage];
    const struct line *line = &em->schedule->lines[stage];
    uint8_t *seen = arena_array(em->arena, ir_count(em->schedule->program->ir) + 256, 1);
    touch_expression(em, touched, work->code, seen);
    touch(em, touched, work->tensor);
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_DO || line->tokens[i].form == TOKEN_WITH)
            touch_stage(em, touched, line->tokens[i].stage);
}

/* Has it memory of its own that is more than scratch of these loops? */
static bool
has_storage(const struct emitter *em, const struct tensor *tensor)
{
    if (tensor->stage == NULL || tensor->output >= 0)
        return true;
    const struct work *work = &em->schedule->works[tensor->stage - em->schedule->program->stages];
    return work->fate == FATE_SAME || is_stored(work);
}

/* The body of a root under other names of its tensors; names inside begin anew. */
static const char *
body_of(struct emitter *em, size_t stage, const struct span *left, const struct touched *touched,
        const char *const *names)
{
    struct buf body = buf_in(em->arena), *out = em->out;
    struct name_base *bases = em->bases;
    size_t base_count = em->base_count;
    unsigned indent = em->indent;
    const char **own = arena_array(em->arena, touched->count + 1, sizeof *own);
    for (size_t i = 0; i < touched->count; i++) {
        own[i] = em->storage[touched->tensors[i]->number];
        if (names != NULL)
            em->storage[touched->tensors[i]->number] = names[i];
    }
    em->out = &body;
    em->bases = NULL;
    em->base_count = 0;
    em->indent = 1;
    em->step = left != NULL ? left[em->schedule->works[stage].stage->carried].var : NULL;
    nest_stage(em, stage, left, NULL);
    em->step = NULL;
    for (size_t i = 0; i < touched->count; i++)
        em->storage[touched->tensors[i]->number] = own[i];
    em->out = out;
    em->bases = bases;
    em->base_count = base_count;
    em->indent = indent;
    return body.data != NULL ? tidy_unused(em->arena, body.data) : "";
}

/* By the root itself, or by what is computed in its loops. */
static bool
is_written(const struct emitter *em, size_t stage, const struct tensor *tensor)
{
    if (tensor->stage == NULL)
        return false;
    size_t number = (size_t)(tensor->stage - em->schedule->program->stages);
    enum fate fate = em->schedule->works[number].fate;
    return number == stage || fate == FATE_DO || fate == FATE_WITH;
}

/* const float *restrict X, float *restrict Y: written ones are those whose stages run here. */
static void
put_parameters(struct buf *buf, struct emitter *em, size_t stage, const struct touched *touched,
               const char *const *names, const bool *used)
{
    bool first = true;
    for (size_t i = 0; i < touched->count; i++) {
        const struct tensor *tensor = touched->tensors[i];
        if (!used[i])
            continue;
        bool written = false; /* under any of the names that its memory has */
        for (size_t k = 0; k < touched->count; k++)
            written = written || (strcmp(names[k], names[i]) == 0 &&
                                  is_written(em, stage, touched->tensors[k]));
        buf_printf(buf, "%s%s%s *%s%s", first ? "" : ", ", written ? "" : "const ",
                   dtype_info[tensor->dtype].c_type,
                   em->schedule->works[stage].before != NULL ? "" : "restrict ", names[i]);
        first = false;
    }
}

static bool
is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void
code_root(struct emitter *em, size_t stage, const struct span *left)
{
    if (!em->functions) {
        comment_stage(em, stage);
        code_open(em, "{");
        nest_stage(em, stage, left, NULL);
        code_close(em);
        return;
    }
    struct touched touched = {0};
    touch_stage(em, &touched, stage);
    const char **plain = arena_array(em->arena, touched.count + 1, sizeof *plain);
    const char **names = arena_array(em->arena, touched.count + 1, sizeof *names);
    for (size_t i = 0; i < touched.count; i++) {
        /* equal functions have parameters of equal types */
        plain[i] = arena_printf(em->arena, "p%zu%s", i, dtype_info[touched.tensors[i]->dtype].name);
        names[i] = em->storage[touched.tensors[i]->number];
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[k], names[i]) == 0) {
                plain[i] = plain[k]; /* the same memory: one parameter */
                break;
            }
    }
    unsigned lines = em->lines;
    const char *key = body_of(em, stage, left, &touched, plain);
    bool *used = arena_array(em->arena, touched.count + 1, sizeof *used);
    for (size_t i = 0; i < touched.count; i++)
        used[i] = has_storage(em, touched.tensors[i]) && tidy_mentions(key, plain[i]) &&
                  !is_among(plain, i, plain[i]);
    const char *step = left != NULL ? left[em->schedule->works[stage].stage->carried].var : NULL;
    bool steps = step != NULL && tidy_mentions(key, step);
    size_t found = 0;
    while (found < em->function_count && strcmp(em->function[found].text, key) != 0)
        found++;
    if (found == em->function_count && !em->failed) {
        em->lines = lines;
        const char *name = arena_printf(em->arena, "stage%zu_%s", stage,
                                        c_name(em->arena, em->schedule->works[stage].tensor->name));
        const char *body = body_of(em, stage, left, &touched, NULL);
        struct buf *out = em->out;
        unsigned indent = em->indent;
        em->out = &em->bodies;
        em->indent = 0;
        comment_stage(em, stage);
        em->out = out;
        em->indent = indent;
        buf_printf(&em->bodies, "static void\n%s(", name);
        put_parameters(&em->bodies, em, stage, &touched, names, used);
        if (steps)
            buf_printf(&em->bodies, ", const long %s", step);
        buf_printf(&em->bodies, ")\n{\n%s}\n\n", body);
        em->function = arena_grow(em->arena, em->function, em->function_count,
                                  em->function_count + 1, sizeof *em->function);
        em->function[em->function_count++] = (struct function){name, key};
    } else
        em->lines = lines;
    if (em->failed)
        return;
    struct buf call = buf_in(em->arena);
    for (size_t i = 0; i < touched.count; i++)
        if (used[i])
            buf_printf(&call, "%s%s", call.length ? ", " : "", names[i]);
    if (steps)
        buf_printf(&call, ", %s", step);
    code_line(em, "%s(%s);", em->function[found].name, call.data ? call.data : "");
}

/* ---- blocks ---- */

struct block {
    const struct rec *rec;
    const char *step;                        /* the variable that counts steps */
    const struct token *loop[LANG_MAX_RANK]; /* around them */
    const char *var[LANG_MAX_RANK];
    struct span span[LANG_MAX_RANK];
    size_t loops;
};

/* Where the left indices of a stage are within the steps and the loops around them. */
static void
block_spans(const struct block *block, const struct work *work, struct span *left)
{
    for (unsigned l = 0; l < work->rank; l++)
        left[l] = (struct span){.extent = work->extent[l]};
    left[work->stage->carried] = (struct span){block->step, 0, 1, 0, block->rec->size - 1, 0};
    for (size_t i = 0; i < block->loops; i++)
        left[work_left_level(work, block->loop[i]->name)] = block->span[i];
}

static void
code_steps(struct emitter *em, const struct block *block)
{
    const struct rec *rec = block->rec;
    code_open(em, "for (long %s = 0; %s < %" PRId64 "; %s++) {", block->step, block->step,
              rec->size, block->step);
    for (size_t i = rec->first; i < rec->first + rec->count; i++) {
        struct span left[LANG_MAX_LEVELS];
        block_spans(block, &em->schedule->works[i], left);
        code_root(em, i, left);
    }
    code_close(em);
}

/* The last tile of a loop around the steps may be smaller: each has two cases. */
static void
code_tiles(struct emitter *em, struct block *block, size_t at)
{
    if (at == block->loops) {
        code_steps(em, block);
        return;
    }
    int64_t extent = block->span[at].extent, step = block->loop[at]->step;
    step = step < extent ? step : extent;
    int64_t full = extent / step, rest = extent % step;
    const struct span whole = block->span[at];
    const char *var = block->var[at];
    if (rest > 0)
        code_open(em, "if (%s < %" PRId64 ") {", var, full * step);
    block->span[at] = (struct span){var, 0, step, 0, (full - 1) * step, step};
    code_tiles(em, block, at + 1);
    if (rest > 0) {
        em->indent--;
        code_line(em, "} else {");
        em->indent++;
        block->span[at] = (struct span){NULL, full * step, rest, full * step, full * step, 0};
        code_tiles(em, block, at + 1);
        code_close(em);
    }
    block->span[at] = whole;
}

/* The stages of a block, step by step, perhaps each thread for its own part of an index. */
static void
code_rec(struct emitter *em, const struct rec *rec)
{
    const struct program *program = em->schedule->program;
    const struct stage *first = &program->stages[rec->first];
    const struct line *line = &em->schedule->recs[first->rec];
    struct block block = {.rec = rec, .step = code_name(em, first->index[first->carried])};
    bool functions = em->functions;
    em->functions = false; /* what is copied before the steps is seen by all of them */
    code_open(em, "{");
    for (size_t i = rec->first; i < rec->first + rec->count; i++) {
        struct span left[LANG_MAX_LEVELS];
        block_spans(&block, &em->schedule->works[i], left);
        nest_hoist(em, i, left);
    }
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_LOOP) {
            const struct token *token = block.loop[block.loops] = &line->tokens[i];
            block.var[block.loops] = code_name(em, token->name);
            block.span[block.loops++].extent = em->schedule->works[rec->first].extent[token->level];
        }
    if (block.loops > 0)
        code_line(em, "#pragma omp parallel for collapse(%zu)", block.loops);
    for (size_t i = 0; i < block.loops; i++)
        code_open(em, "for (long %s = 0; %s < %" PRId64 "; %s += %" PRId64 ")%s", block.var[i],
                  block.var[i], block.span[i].extent, block.var[i], block.loop[i]->step,
                  i + 1 < block.loops ? "" : " {");
    em->parallel = block.loops > 0;
    code_tiles(em, &block, 0);
    em->parallel = false;
    if (block.loops > 0) {
        em->indent -= (unsigned)(block.loops - 1);
        code_close(em);
    }
    code_close(em);
    em->functions = functions;
}

#define FEW_ROOTS 3 /* more become functions of their own */

static bool
is_root(const struct work *work)
{
    return work->fate == FATE_ROOT || (work->fate == FATE_DO && work->stored && !work->in_place);
}

static size_t
count_roots(const struct schedule *schedule)
{
    size_t count = 0;
    for (size_t i = 0; i < schedule->program->stage_count; i++)
        count += is_root(&schedule->works[i]);
    return count;
}

static void
code_stages(struct emitter *em)
{
    const struct program *program = em->schedule->program;
    for (size_t i = 0; i < program->stage_count && !em->failed; i++) {
        const struct work *work = &em->schedule->works[i];
        if (work->stage->rec >= 0 && !work_runs_scan(em->schedule, work)) {
            if (program->recs[work->stage->rec].first == i)
                code_rec(em, &program->recs[work->stage->rec]);
        } else if (is_root(work))
            code_root(em, i, NULL);
    }
}

/* ---- the file ---- */

static void
put_signature(struct buf *buf, struct emitter *em)
{
    const struct program *program = em->schedule->program;
    buf_puts(buf, "void\nkernel(");
    for (size_t i = 0; i < program->input_count; i++)
        buf_printf(buf, "%sconst %s *restrict %s", i ? ", " : "",
                   dtype_info[program->tensors[i]->dtype].c_type, em->storage[i]);
    for (size_t i = 0; i < program->output_count; i++) {
        const struct tensor *tensor = program->outputs[i];
        buf_printf(buf, "%s%s *restrict %s", i || program->input_count ? ", " : "",
                   dtype_info[tensor->dtype].c_type, em->storage[tensor->number]);
    }
    buf_puts(buf, ")\n");
}

/* The prelude of a judged kernel has bf16 already. */
static void
put_bf16(struct buf *buf)
{
    buf_puts(buf, "#ifndef HONE\n");
    lang_put_bf16(buf);
    buf_puts(buf, "#endif\n");
}

/* Vector functions are of hone.h, scalar ones the language's own. */
static void
put_helpers(struct buf *buf, struct emitter *em, bool include)
{
    const char **of_header = arena_array(em->arena, em->helper_count + 1, sizeof *of_header);
    size_t count = 0;
    bool bf16 = false;
    for (size_t i = 0; i < em->helper_count; i++)
        if (target_hone_has(em->helpers[i]))
            of_header[count++] = em->helpers[i];
        else
            bf16 = bf16 || strstr(em->helpers[i], "bf16") != NULL;
    for (size_t i = 0; i < em->schedule->program->tensor_count; i++)
        bf16 = bf16 || em->schedule->program->tensors[i]->dtype == DTYPE_BF16;
    if (count > 0) {
        buf_printf(buf, "#define HONE_VECTOR_BYTES %u\n", em->schedule->vector_bytes);
        if (include)
            buf_puts(buf, "#include \"hone.h\"\n");
        else
            target_hone_text(buf, of_header, count);
    }
    if (bf16)
        put_bf16(buf);
    for (size_t i = 0; i < em->helper_count; i++)
        if (!target_hone_has(em->helpers[i]))
            lang_put_helper(buf, em->helpers[i]);
    buf_putc(buf, '\n');
}

static void
put_title(struct buf *buf, const struct schedule *schedule)
{
    struct buf text = buf_in(buf->arena);
    coder_write(&text, schedule);
    buf_printf(buf, "/* %s, case %s\n *\n", schedule->program->name, schedule->program->case_name);
    for (const char *at = text.data; at != NULL && *at;) {
        const char *end = strchr(at, '\n');
        buf_printf(buf, " *   %.*s\n", (int)(end - at), at);
        at = end + 1;
    }
    buf_puts(buf, " */\n");
}

/* An input that no stage reads any more is named all the same, which the compiler would remark. */
static void
mention_unused(struct buf *buf, const struct emitter *em, const char *body)
{
    for (size_t i = 0; i < em->schedule->program->input_count; i++)
        if (!tidy_mentions(body, em->storage[i]))
            buf_printf(buf, "    (void)%s;\n", em->storage[i]);
}

static bool
make_parts(struct code_parts *parts, struct arena *arena, const struct schedule *schedule,
           bool include, struct diags *diags)
{
    struct emitter em = {.arena = arena, .schedule = schedule, .diags = diags, .indent = 1};
    *parts = (struct code_parts){buf_in(arena), buf_in(arena), buf_in(arena), buf_in(arena)};
    em.out = &parts->body;
    em.globals = buf_in(arena);
    em.uses = arena_array(arena, schedule->program->stage_count + 1, sizeof *em.uses);
    em.bodies = buf_in(arena);
    em.functions = count_roots(schedule) > FEW_ROOTS;
    name_storage(&em);
    code_stages(&em);
    if (em.failed)
        return false;
    buf_add(&em.globals, em.bodies.data, em.bodies.length);
    put_helpers(&parts->helpers, &em, include);
    put_signature(&parts->signature, &em);
    const char *body =
        parts->body.length > 0 ? tidy_unused(arena, arena_strdup(arena, parts->body.data)) : "";
    parts->body = buf_in(arena);
    buf_puts(&parts->body, body);
    mention_unused(&parts->body, &em, body);
    parts->globals = em.globals;
    return true;
}

bool
code_parts(struct code_parts *parts, struct arena *arena, const struct schedule *schedule,
           struct diags *diags)
{
    return make_parts(parts, arena, schedule, false, diags);
}

void
code_scalars(struct buf *buf)
{
    put_bf16(buf);
    for (size_t i = 0; lang_helpers[i] != NULL; i++)
        lang_put_helper(buf, lang_helpers[i]);
}

static bool
emit(struct buf *buf, struct arena *arena, const struct schedule *schedule, bool include,
     struct diags *diags)
{
    struct code_parts parts;
    if (!make_parts(&parts, arena, schedule, include, diags))
        return false;
    put_title(buf, schedule);
    buf_puts(buf, "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n\n");
    buf_add(buf, parts.helpers.data, parts.helpers.length);
    buf_add(buf, parts.globals.data, parts.globals.length);
    buf_putc(buf, '\n');
    buf_add(buf, parts.signature.data, parts.signature.length);
    buf_puts(buf, "{\n");
    buf_add(buf, parts.body.data, parts.body.length);
    buf_puts(buf, "}\n");
    return true;
}

bool
coder_emit(struct buf *buf, struct arena *arena, const struct schedule *schedule,
           struct diags *diags)
{
    return emit(buf, arena, schedule, false, diags);
}

bool
coder_emit_short(struct buf *buf, struct arena *arena, const struct schedule *schedule,
                 struct diags *diags)
{
    return emit(buf, arena, schedule, true, diags);
}
