/* Tensors and stages in a few words, for the screen of `hone task`. */
#include "app/task.h"

#include "base/num.h"

#include <string.h>

#define LONGEST 40 /* of a stage's short form */

void
put_plural(struct buf *buf, size_t count, const char *noun)
{
    buf_printf(buf, "%zu %s%s", count, noun, count == 1 ? "" : "s");
}

/* ---- expressions ---- */

enum { LOOSE = 0, SUM = 3, PRODUCT = 4, TIGHT = 5 };

static int
strength(enum op op)
{
    switch (op) {
    case OP_OR:
    case OP_AND:
        return 1;
    case OP_ADD:
    case OP_SUB:
        return SUM;
    case OP_MUL:
    case OP_DIV:
    case OP_MOD:
        return PRODUCT;
    default:
        return 2;
    }
}

struct words {
    struct buf *buf;
    const bool *split;         /* by tensor: shown inside its reader */
    const struct stage *stage; /* NULL: a type; nothing but dims and numbers */
};

static void
put_words(const struct words *words, const struct expr *e, int outside);

static void
put_infix(const struct words *words, const struct expr *e, int outside)
{
    int own = strength(e->op);
    const char *gap = words->stage ? " " : "";
    if (own < outside)
        buf_putc(words->buf, '(');
    put_words(words, e->args[0], own);
    buf_printf(words->buf, "%s%s%s", gap, op_info[e->op].spelling, gap);
    put_words(words, e->args[1], own + 1);
    if (own < outside)
        buf_putc(words->buf, ')');
}

static void
put_load(const struct words *words, const struct tensor *tensor, int outside)
{
    const struct stage *stage = tensor->stage;
    if (stage == NULL || !words->split[tensor->number]) {
        buf_puts(words->buf, tensor->name);
        return;
    }
    struct words inner = *words;
    inner.stage = stage;
    put_words(&inner, stage->value, outside);
}

static void
put_index(const struct words *words, unsigned level)
{
    bool left = words->stage != NULL && level < words->stage->tensor->rank;
    buf_puts(words->buf, left ? words->stage->index[level] : "index");
}

static void
put_words(const struct words *words, const struct expr *e, int outside)
{
    if (words->buf->length > 4 * LONGEST)
        return;
    switch (e->op) {
    case OP_INT:
        buf_printf(words->buf, "%lld", (long long)e->integer);
        break;
    case OP_REAL:
        buf_printf(words->buf, "%.6g", e->real);
        break;
    case OP_INDEX:
        put_index(words, e->level);
        break;
    case OP_DIM:
        buf_puts(words->buf, e->dim->name);
        break;
    case OP_LOAD:
        put_load(words, e->tensor, outside);
        break;
    case OP_REDUCE:
        buf_puts(words->buf, reduction_name[e->binder->reduction]);
        break;
    case OP_CAST:
        put_words(words, e->args[0], outside);
        break;
    case OP_NEG:
    case OP_NOT:
        buf_puts(words->buf, op_info[e->op].spelling);
        put_words(words, e->args[0], TIGHT);
        break;
    default:
        if (op_info[e->op].form == FORM_INFIX)
            put_infix(words, e, outside);
        else
            buf_puts(words->buf, op_info[e->op].spelling);
    }
}

void
put_type(struct buf *buf, const struct tensor *tensor)
{
    struct words words = {.buf = buf};
    buf_printf(buf, "%s[", dtype_info[tensor->dtype].name);
    for (unsigned d = 0; d < tensor->rank; d++) {
        if (d > 0)
            buf_putc(buf, ',');
        struct buf extent = buf_in(buf->arena);
        words.buf = &extent;
        put_words(&words, tensor->extent[d], LOOSE);
        buf_puts(buf, extent.data);
    }
    buf_putc(buf, ']');
}

/* ---- stages ---- */

/* Whether `name` is `owner` with a number: Y.1 of Y. */
static bool
is_numbered(const char *name, const char *owner)
{
    size_t length = strlen(owner);
    if (strncmp(name, owner, length) || name[length] != '.')
        return false;
    const char *digits = name + length + 1;
    return *digits && digits[strspn(digits, "0123456789")] == 0;
}

struct search {
    bool *split;          /* by tensor */
    const char **owner;   /* by tensor: the stage it is shown in */
    const char *here;     /* the owner of the stage that is looked at */
    uint32_t *seen, turn; /* by expression */
};

static void
mark_split_off(struct search *search, const struct expr *e)
{
    if (!e->loads || search->seen[e->id] == search->turn)
        return;
    search->seen[e->id] = search->turn;
    for (unsigned i = 0; i < e->count; i++)
        mark_split_off(search, e->args[i]);
    if (e->op != OP_LOAD || e->tensor->stage == NULL)
        return;
    if (is_numbered(e->tensor->name, search->here)) {
        search->split[e->tensor->number] = true;
        search->owner[e->tensor->number] = search->here;
    }
}

/* Whoever reads a stage comes after it, so from the last to the first. */
const bool *
find_split_off(struct arena *arena, const struct program *program)
{
    struct search search = {
        .split = arena_array(arena, program->tensor_count, sizeof *search.split),
        .owner = arena_array(arena, program->tensor_count, sizeof *search.owner),
        .seen = arena_array(arena, program->expr_count, sizeof *search.seen),
    };
    for (size_t i = program->stage_count; i-- > 0;) {
        const struct tensor *tensor = program->stages[i].tensor;
        const char *owner = search.owner[tensor->number];
        search.here = owner ? owner : tensor->name;
        search.turn++;
        mark_split_off(&search, program->stages[i].value);
    }
    return search.split;
}

void
put_short_stage(struct buf *buf, const bool *split, const struct stage *stage)
{
    struct buf text = buf_in(buf->arena);
    struct words words = {.buf = &text, .split = split, .stage = stage};
    put_words(&words, stage->value, LOOSE);
    buf_printf(buf, "%s[", stage->tensor->name);
    for (unsigned d = 0; d < stage->tensor->rank; d++)
        buf_printf(buf, "%s%s", d ? "," : "", stage->index[d]);
    buf_printf(buf, "] = %.*s%s", text.length > LONGEST ? LONGEST - 4 : (int)text.length, text.data,
               text.length > LONGEST ? " ..." : "");
}
