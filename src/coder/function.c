/* Roots: each in its own block or, where there are many, in a function; those that are equal up to
 * the names of their tensors share one. */
#include "coder/emit_int.h"

#include <inttypes.h>
#include <string.h>

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

struct function {
    const char *name, *text; /* the body with parameters p0, p1, ... */
};

struct touched { /* tensors that a root reads and writes */
    const struct tensor **tensors;
    size_t count;
    int64_t *ahead; /* elements before what the parameter points to */
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
    return work->fate == FATE_SAME || work_is_stored(work);
}

/* ---- layers: a network's weights may lie in one tensor, of which each stage reads a part ---- */

struct lead { /* the numbers that all reads of a tensor begin with */
    bool any;
    unsigned count;
    int64_t number[LANG_MAX_RANK];
};

static void
add_lead(struct lead *lead, const struct expr *load)
{
    unsigned count = 0;
    while (count < load->tensor->rank && (!lead->any || count < lead->count)) {
        const struct expr *e = load->args[count];
        if (e->op != OP_INT || e->integer < 0 || e->integer >= load->tensor->size[count] ||
            (lead->any && e->integer != lead->number[count]))
            break;
        lead->number[count++] = e->integer;
    }
    lead->count = count;
    lead->any = true;
}

static void
find_lead(const struct emitter *em, size_t stage, const struct tensor *tensor, struct lead *lead)
{
    enum { MOST = 64 };
    const struct line *line = &em->schedule->lines[stage];
    const struct expr *loads[MOST];
    size_t count = work_loads(em->schedule->works[stage].code, tensor, loads, MOST);
    for (size_t i = 0; i < count && i < MOST; i++)
        add_lead(lead, loads[i]);
    for (size_t i = 0; i < line->count; i++)
        if (line->tokens[i].form == TOKEN_DO || line->tokens[i].form == TOKEN_WITH)
            find_lead(em, line->tokens[i].stage, tensor, lead);
    if (count > MOST || em->schedule->works[stage].online != NULL)
        *lead = (struct lead){.any = true};
}

/* How far behind the start of an input the part begins that a root reads: its parameter points
 * there, so that stages which read other parts are equal. */
static int64_t
part_of(const struct emitter *em, size_t stage, const struct tensor *tensor)
{
    struct lead lead = {0};
    int64_t ahead = 0, stride = tensor->count;
    if (tensor->stage != NULL)
        return 0;
    find_lead(em, stage, tensor, &lead);
    for (unsigned d = 0; d < lead.count; d++) {
        stride /= tensor->size[d];
        ahead += lead.number[d] * stride;
    }
    return ahead;
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
        em->ahead[touched->tensors[i]->number] = touched->ahead[i];
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
    for (size_t i = 0; i < touched->count; i++) {
        em->storage[touched->tensors[i]->number] = own[i];
        em->ahead[touched->tensors[i]->number] = 0;
    }
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

/* ---- a root ---- */

struct root {
    size_t stage;
    const struct span *left;
    struct touched touched;
    const char **plain, **names; /* of what is touched: p0, p1, ..., and the kernel's own */
    bool *used;                  /* it is a parameter */
    const char *step;            /* of the block around it, if its text speaks of it; or NULL */
    const char *key;             /* its text under plain names: equal functions have equal ones */
};

/* Has another tensor the same memory? */
static bool
is_shared(const struct root *root, size_t number)
{
    for (size_t i = 0; i < root->touched.count; i++)
        if (i != number && strcmp(root->names[i], root->names[number]) == 0)
            return true;
    return false;
}

static struct root
look_at(struct emitter *em, size_t stage, const struct span *left)
{
    struct root root = {.stage = stage, .left = left};
    struct touched *touched = &root.touched;
    touch_stage(em, touched, stage);
    root.plain = arena_array(em->arena, touched->count + 1, sizeof *root.plain);
    root.names = arena_array(em->arena, touched->count + 1, sizeof *root.names);
    root.used = arena_array(em->arena, touched->count + 1, sizeof *root.used);
    for (size_t i = 0; i < touched->count; i++) {
        const struct tensor *tensor = touched->tensors[i];
        size_t same = 0;
        root.names[i] = em->storage[tensor->number];
        while (strcmp(root.names[same], root.names[i]) != 0)
            same++;
        /* equal functions have parameters of equal types; the same memory is one parameter */
        root.plain[i] = same < i
                            ? root.plain[same]
                            : arena_printf(em->arena, "p%zu%s", i, dtype_info[tensor->dtype].name);
    }
    touched->ahead = arena_array(em->arena, touched->count + 1, sizeof *touched->ahead);
    for (size_t i = 0; i < touched->count; i++)
        if (!is_shared(&root, i))
            touched->ahead[i] = part_of(em, stage, touched->tensors[i]);
    root.key = body_of(em, stage, left, touched, root.plain);
    for (size_t i = 0; i < touched->count; i++)
        root.used[i] = has_storage(em, touched->tensors[i]) &&
                       tidy_mentions(root.key, root.plain[i]) &&
                       !is_among(root.plain, i, root.plain[i]);
    const char *step = left != NULL ? left[em->schedule->works[stage].stage->carried].var : NULL;
    if (step != NULL && tidy_mentions(root.key, step))
        root.step = step;
    return root;
}

static void
add_function(struct emitter *em, const struct root *root)
{
    const char *tensor = em->schedule->works[root->stage].tensor->name;
    const char *name =
        arena_printf(em->arena, "stage%zu_%s", root->stage, code_c_name(em->arena, tensor));
    const char *body = body_of(em, root->stage, root->left, &root->touched, NULL);
    struct buf *out = em->out;
    unsigned indent = em->indent;
    em->out = &em->bodies;
    em->indent = 0;
    comment_stage(em, root->stage);
    em->out = out;
    em->indent = indent;
    buf_printf(&em->bodies, "static void\n%s(", name);
    put_parameters(&em->bodies, em, root->stage, &root->touched, root->names, root->used);
    if (root->step != NULL)
        buf_printf(&em->bodies, ", const long %s", root->step);
    buf_printf(&em->bodies, ")\n{\n%s}\n\n", body);
    em->function = arena_grow(em->arena, em->function, em->function_count, em->function_count + 1,
                              sizeof *em->function);
    em->function[em->function_count++] = (struct function){name, root->key};
}

static void
call_function(struct emitter *em, const struct root *root, const char *name)
{
    struct buf call = buf_in(em->arena);
    for (size_t i = 0; i < root->touched.count; i++) {
        if (!root->used[i])
            continue;
        buf_printf(&call, "%s%s", call.length ? ", " : "", root->names[i]);
        if (root->touched.ahead[i] > 0)
            buf_printf(&call, " + %" PRId64, root->touched.ahead[i]);
    }
    if (root->step != NULL)
        buf_printf(&call, ", %s", root->step);
    code_line(em, "%s(%s);", name, call.data ? call.data : "");
}

void
code_root(struct emitter *em, size_t stage, const struct span *left)
{
    if (!em->functions) {
        comment_stage(em, stage);
        code_open(em, "{");
        nest_stage(em, stage, left, NULL);
        code_close(em);
        return;
    }
    unsigned lines = em->lines;
    const struct root root = look_at(em, stage, left);
    size_t found = 0;
    em->lines = lines; /* what was printed for comparison is in no file */
    while (found < em->function_count && strcmp(em->function[found].text, root.key) != 0)
        found++;
    if (found == em->function_count && !em->failed)
        add_function(em, &root);
    if (!em->failed)
        call_function(em, &root, em->function[found].name);
}
