/* The kernel's file: what stands before it, and the stages and blocks in their order. */
#include "coder/emit_int.h"

#include "lang/lang.h"
#include "target/target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    size_t began = block.loops > 0 ? code_parallel(em, block.loops, "") : 0;
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
        code_parallel_end(em, began);
    }
    code_close(em);
    em->functions = functions;
}

#define FEW_ROOTS 3 /* more become functions of their own */

static size_t
count_roots(const struct schedule *schedule)
{
    size_t count = 0;
    for (size_t i = 0; i < schedule->program->stage_count; i++)
        count += work_is_root(&schedule->works[i]);
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
        } else if (work_is_root(work))
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
    code_name_storage(&em);
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
