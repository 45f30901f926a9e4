/* The tables of the language: operations, reductions, reserved words. */
#include "lang/ast_int.h"

#include <string.h>

const struct op_info op_info[OP_COUNT] = {
#define X(id, spelling, form, args, ulps, floor, flops, apart) \
    [OP_##id] = {spelling, FORM_##form, args, ulps, floor, flops, apart},
    LANG_OPS(X)
#undef X
};

const char *const reduction_name[REDUCE_COUNT] = {
#define X(id, name) [REDUCE_##id] = name,
    LANG_REDUCTIONS(X)
#undef X
};

static const char *const statement_words[] = {"dim", "const",     "param",   "in",
                                              "out", "def",       "require", "case",
                                              "use", "reference", "rec",     "op"};
static const char *const other_words[] = {"if", "cat", "inf", "pi", "size", "clamp"};

static bool
among(const char *name, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return false;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

bool
word_dtype(const char *name, enum dtype *dtype)
{
    for (int d = 0; d < DTYPE_COUNT; d++)
        if (strcmp(name, dtype_info[d].name) == 0) {
            *dtype = (enum dtype)d;
            return true;
        }
    return false;
}

bool
word_reduction(const char *name, enum reduction *reduction)
{
    for (int r = 0; r < REDUCE_COUNT; r++)
        if (strcmp(name, reduction_name[r]) == 0) {
            *reduction = (enum reduction)r;
            return true;
        }
    return false;
}

bool
word_function(const char *name, enum op *op)
{
    for (int o = 0; o < OP_COUNT; o++)
        if (op_info[o].form == FORM_CALL && strcmp(name, op_info[o].spelling) == 0) {
            *op = (enum op)o;
            return true;
        }
    return false;
}

enum word_kind
word_kind(const char *name)
{
    enum dtype dtype;
    enum reduction reduction;
    enum op op;
    if (among(name, statement_words, COUNT(statement_words)))
        return WORD_STATEMENT;
    if (word_dtype(name, &dtype))
        return WORD_DTYPE;
    if (word_reduction(name, &reduction))
        return WORD_REDUCTION;
    if (among(name, other_words, COUNT(other_words)))
        return WORD_OTHER;
    return word_function(name, &op) ? WORD_FUNCTION : WORD_NONE;
}
