/* A few rows of a program: the same text with a smaller outermost dim, where the parts along that
 * dim (images of a batch, rows of a matrix) know nothing of one another. What it gives for some
 * rows of the inputs is then what the whole program gives in these rows. */
#include "lang/ir_int.h"

#include <string.h>

struct rows {
    const struct program *whole, *few;
    const struct expr **twin; /* by id of the whole's expressions: the same in the few */
    bool *by_row;             /* by tensor number */
    bool *keeps[2];           /* by id, in a stage without rows and with them: looked at */
};

/* ---- the same program but for the rows ---- */

static bool
is_same(struct rows *rows, const struct expr *a, const struct expr *b);

static bool
are_same(struct rows *rows, const struct expr *const *a, const struct expr *const *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_same(rows, a[i], b[i]))
            return false;
    return true;
}

static bool
has_same_payload(struct rows *rows, const struct expr *a, const struct expr *b)
{
    switch ((enum op)a->op) {
    case OP_INT:
        return a->integer == b->integer;
    case OP_REAL:
        return memcmp(&a->real, &b->real, sizeof a->real) == 0;
    case OP_INDEX:
        return a->level == b->level;
    case OP_DIM:
        return a->dim->size == b->dim->size && strcmp(a->dim->name, b->dim->name) == 0;
    case OP_LOAD:
        return a->tensor->number == b->tensor->number;
    case OP_CAST:
        return a->dtype == b->dtype;
    case OP_REDUCE:
    case OP_CAT:
        return a->binder->reduction == b->binder->reduction &&
               a->binder->level == b->binder->level && a->binder->count == b->binder->count &&
               are_same(rows, a->binder->extent, b->binder->extent, a->binder->count);
    default:
        return true;
    }
}

static bool
is_same(struct rows *rows, const struct expr *a, const struct expr *b)
{
    if (rows->twin[a->id])
        return rows->twin[a->id] == b;
    if (a->op != b->op || a->kind != b->kind || a->count != b->count ||
        !has_same_payload(rows, a, b) || !are_same(rows, a->args, b->args, a->count))
        return false;
    rows->twin[a->id] = b;
    return true;
}

/* Equal sizes, or another number of rows. */
static bool
tensors_match(struct rows *rows, int64_t all, int64_t few)
{
    if (rows->whole->tensor_count != rows->few->tensor_count ||
        rows->whole->stage_count != rows->few->stage_count)
        return false;
    for (size_t t = 0; t < rows->whole->tensor_count; t++) {
        const struct tensor *a = rows->whole->tensors[t], *b = rows->few->tensors[t];
        bool by_row = a->rank > 0 && a->size[0] != b->size[0];

        if (a->rank != b->rank || a->dtype != b->dtype || a->low != b->low || a->high != b->high ||
            (by_row && (a->size[0] != all || b->size[0] != few)))
            return false;
        for (unsigned d = by_row ? 1 : 0; d < a->rank; d++)
            if (a->size[d] != b->size[d])
                return false;
        rows->by_row[t] = by_row;
    }
    return true;
}

/* ---- rows that know nothing of one another ---- */

/* Rows are read by the stage's own outermost index, which occurs nowhere else. */
static bool
keeps_to_its_row(struct rows *rows, const struct expr *e, bool by_row)
{
    bool loads_row = e->op == OP_LOAD && rows->by_row[e->tensor->number];

    if ((!(e->free & 1) && !e->loads) || rows->keeps[by_row][e->id])
        return true;
    if ((e->op == OP_INDEX && e->level == 0 && by_row) ||
        (e->op == OP_CAT && e->binder->level == 0 && by_row) || (loads_row && !by_row))
        return false;
    if (loads_row && (e->args[0]->op != OP_INDEX || e->args[0]->level != 0))
        return false;
    for (unsigned i = loads_row ? 1 : 0; i < e->count; i++)
        if (!keeps_to_its_row(rows, e->args[i], by_row))
            return false;
    rows->keeps[by_row][e->id] = true;
    return true;
}

static bool
stages_match(struct rows *rows)
{
    for (size_t s = 0; s < rows->whole->stage_count; s++) {
        const struct stage *a = &rows->whole->stages[s], *b = &rows->few->stages[s];
        bool by_row = rows->by_row[a->tensor->number];

        if (a->rec != b->rec || a->carried != b->carried ||
            (by_row && a->rec >= 0 && !a->carried) || !is_same(rows, a->code, b->code) ||
            !keeps_to_its_row(rows, a->code, by_row))
            return false;
    }
    for (size_t o = 0; o < rows->whole->output_count; o++)
        if (!rows->by_row[rows->whole->outputs[o]->number])
            return false;
    return true;
}

struct program *
lang_rows(struct arena *arena, struct lang *lang, size_t case_number, const struct program *program,
          int64_t rows, const bool **by_row)
{
    const struct tensor *output = program->outputs[0];
    int64_t all = output->rank > 0 ? output->size[0] : 0;

    if (program->foreign || rows < LANG_FEWEST_ROWS || rows >= all)
        return NULL;
    for (size_t d = 0; d < program->dim_count; d++) {
        struct lang_size size = {program->dims[d].name, rows};
        struct rows found = {.whole = program};

        if (program->dims[d].size != all)
            continue;
        struct program *few = lang_program(lang, case_number, &size, 1, diags_create(arena, 0));
        if (!few)
            continue;
        found.few = few;
        found.twin = arena_array(arena, program->expr_count, sizeof *found.twin);
        found.by_row = arena_array(arena, program->tensor_count, sizeof *found.by_row);
        for (unsigned i = 0; i < 2; i++)
            found.keeps[i] = arena_array(arena, program->expr_count, sizeof *found.keeps[i]);
        if (tensors_match(&found, all, rows) && stages_match(&found)) {
            *by_row = found.by_row;
            return few;
        }
    }
    return NULL;
}
