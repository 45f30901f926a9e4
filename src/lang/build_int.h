/* From statements to stages: the state shared by build.c, build_expr.c, build_call.c and expand.c.
 */
#ifndef HONE_LANG_BUILD_INT_H
#define HONE_LANG_BUILD_INT_H

#include "lang/ir_int.h"

#define BUILD_MAX_CALLS 64 /* calls inside calls */

struct lang {
    struct arena *arena;
    struct names *names;
    struct unit *unit;
    struct unit **library; /* as in library_files; NULL: not parsed yet */
    const struct operator* task;
    const struct statement **cases; /* cases[0] is NULL: the default */
    size_t case_count;
};

/* ---- symbols ---- */

struct symbol {
    const char *name;
    const char *what;         /* "dim", "const", "param", "tensor": for messages */
    const struct expr *value; /* dim, const, param */
    struct tensor *tensor;
};

struct symbols {
    struct symbol *items;
    uint32_t *slots; /* open addressing by the name's pointer: number of the item from 1 */
    size_t count, capacity;
};

/* ---- a program under construction ---- */

struct draft { /* a stage */
    struct stage stage;
    struct place place;
    bool by_author; /* written in the task itself: warn if nobody reads it */
};

struct builder {
    struct lang *lang;
    struct arena *arena;
    struct diags *diags;
    struct ir *ir;
    struct dim *dims;
    size_t dim_count;
    struct tensor **tensors;
    size_t tensor_count, tensor_capacity, input_count; /* inputs come first */
    struct place *input_places;
    struct draft *drafts;
    size_t draft_count, draft_capacity;
    size_t rec_count;
    const struct expr **rec_extents; /* by rec number */
    const char *case_name;
    const struct ast **origin; /* by id: where a LOAD was first written */
    struct scope **origin_scope;
    size_t origin_capacity;
    uint32_t *stamps; /* by id: visited marks */
    uint32_t stamp;
    size_t stamp_capacity;
    int64_t *subscript_limit;   /* by input: found while checking bounds; 0: none */
    const int64_t *known_limit; /* from an earlier pass, or NULL */
    bool limits_changed;
};

/* One operator at work: the task, or a call. */
struct scope {
    struct builder *builder;
    const struct unit *unit;
    const struct operator* op;
    struct symbols symbols;
    const char *prefix;              /* "Y" for stages Y.S; NULL: the task */
    const char *const *result_names; /* of its outputs, in order of `out` */
    bool ellipsis_bound;
    unsigned ellipsis_rank;
    const struct expr *ellipsis[LANG_MAX_RANK];
    struct scope *caller;
    struct place call_place;
    unsigned depth;
};

/* Where an expression is built. */
struct env {
    struct scope *scope;
    const char *index[LANG_MAX_LEVELS];
    const struct expr *extent[LANG_MAX_LEVELS]; /* written, or NULL */
    unsigned levels;                            /* in scope now */
    unsigned hidden;           /* levels below this cannot be named: inside a def */
    int ellipsis;              /* first level of "...", or -1 */
    const struct frame *frame; /* parameters of the def we are in, or NULL */
    bool constant;             /* no tensors, no indices */
    unsigned whole_rank;       /* whole-tensor statement: its rank; names stand for elements */
    bool whole;
    const struct result_memo *calls; /* whole: results of the operator calls in it */
};

struct frame {
    const struct def *def;
    const struct expr *const *values;
    unsigned depth; /* defs inside defs */
};

/* Names of the operator calls nested in one statement: Y.f, then Y.f.2 ... */
struct nested {
    const char *base; /* "Y" */
    struct {
        const char *op;
        unsigned count;
    } * seen;
    size_t count;
};

struct result_memo {
    const struct ast *call;
    struct tensor *tensor;
    const struct result_memo *next;
};

/* ---- build.c ---- */

void
build_error(struct scope *scope, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct symbol *
symbols_find(const struct symbols *symbols, const char *name);
/* false after reporting that the name is taken or reserved. */
bool
declare(struct scope *scope, struct place place, struct symbol symbol);

struct tensor *
new_tensor(struct builder *builder, const char *name, enum dtype dtype, unsigned rank);
/* Sets extent and size of all dimensions and the number of elements; false after reporting. */
bool
set_shape(struct scope *scope, struct place place, struct tensor *tensor,
          const struct expr *const *extents);
struct draft *
new_draft(struct builder *builder);
/* builder->stamps[id] != builder->stamp for every node: nothing is visited yet. */
void
new_stamp(struct builder *builder);
/* "Y" at the task, "P.Y" in a call, the result's name for an output of a call. */
const char *
tensor_name(struct scope *scope, const char *name);

bool
declare_tensor(struct scope *scope, struct place place, const char *name, struct tensor *tensor);
/* The data type of a stage that names none. */
enum dtype
dtype_of_kind(enum kind kind);
/* Ranges of the left indices. */
void
set_levels(struct level *levels, const struct tensor *tensor, const char *const *names);

/* Statements of an operator whose symbols (dims, consts, inputs) are declared. */
bool
build_statements(struct scope *scope);
/* const, param, require; `given` consts by name. */
bool
build_constants(struct scope *scope, const struct ast_named *given, size_t given_count,
                struct scope *giver);
bool
check_requirements(struct scope *scope);

bool
resolve_type(struct scope *scope, const struct type *type, enum dtype *dtype);

/* Finishes a stage: can it be stored so, bounds, registration. */
bool
finish_stage(struct scope *scope, struct tensor *tensor, const struct ast *ast,
             const struct expr *value, const char *const *index_names, int rec, unsigned carried,
             struct place place);

/* ---- build_stage.c ---- */

bool
build_stage(struct scope *scope, const struct statement *statement);
bool
build_rec(struct scope *scope, const struct statement *statement);

/* ---- build_whole.c ---- */

bool
build_whole(struct scope *scope, const struct statement *statement);
/* The stage `name` of a whole-tensor expression; calls inside it are built first. */
struct tensor *
build_whole_stage(struct scope *scope, const struct ast *ast, const char *name,
                  const struct type *type, struct place place, struct nested *nested);
/* An operator call inside a statement: its result, named by `nested`. */
struct tensor *
build_nested_call(struct scope *scope, const struct ast *call, struct nested *nested);
/* Whether it calls an operator, not a function or def. */
bool
is_operator_call(struct scope *scope, const struct ast *ast);

/* ---- build_expr.c ---- */

/* NULL after reporting. */
const struct expr *
build_expr(struct env *env, const struct ast *ast);
/* Whether integer `e`, written as `ast`, may meet a float here: not if it is a quotient of two
 * integers, for 1/N would be 0. A named const may: its author saw what it is. Reports and returns
 * false. */
bool
meets_float(struct env *env, const struct ast *ast, const struct expr *e);
/* A constant: dims, consts, params and numbers only. */
const struct expr *
build_constant(struct scope *scope, const struct ast *ast);
/* "N=4096", or "4096". */
const char *
show_extent(struct builder *builder, const struct expr *extent);
/* "f32[R,N] = f32[1024,4096]" without the dtype: "[R=1024,N=4096]" */
const char *
show_shape(struct builder *builder, const struct tensor *tensor);
const char *
nearest_name(struct env *env, const char *name);

/* What a parameter of the def around us stands for, or NULL. */
const struct expr *
frame_value(const struct env *env, const char *name);
/* The level of an index that can be named here, or -1. */
int
find_index(const struct env *env, const char *name);
/* Reports a float where a condition is expected. */
bool
is_condition(struct env *env, const struct ast *ast, const struct expr *e);

/* ---- build_range.c ---- */

/* The extent of the index at `level` as the program shows it, or NULL after reporting. */
const struct expr *
infer_extent(struct env *env, unsigned level, const char *name, struct place place,
             const struct expr *const *roots, size_t count, bool quiet);
const struct expr *
build_reduce(struct env *env, const struct ast *ast);
const struct expr *
build_cat(struct env *env, const struct ast *ast);

/* ---- build_call.c ---- */

/* The def that `name` means where it is used: above it in its file, in the files used, in the
 * library. Inside the body of a def that is the def's own file. */
const struct def *
find_def(struct env *env, const char *name, struct place use);
/* Whether some operator has this name, whatever its number of inputs. */
bool
is_operator(struct scope *scope, const char *name);
/* Results of the call in `tensors` (one for each name); its stages are called after the first.
 * false after reporting. */
bool
build_call(struct scope *scope, const struct ast *call, const char *const *names, size_t count,
           struct nested *nested, struct tensor **tensors);

/* ---- build_task.c ---- */

struct task_request {
    const struct statement *case_statement; /* or NULL */
    const struct lang_size *sizes;
    size_t size_count;
};

/* NULL after reporting. */
struct program *
build_task(struct builder *builder, const struct task_request *request, bool warn);

/* ---- expand.c ---- */

/* One reduction a stage, equal stages merged, unread ones dropped. */
bool
expand(struct builder *builder, struct tensor **outputs, size_t output_count, bool warn);

/* ---- concrete.c ---- */

/* `code` from `value`: sizes are numbers, index arithmetic is simplified. */
void
make_concrete(struct builder *builder, struct stage *stage);

#endif
