/* The task itself: its dims, inputs and outputs, and the finished program. */
#include "lang/build_int.h"

#include "base/file.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

/* ---- declarations of a task ---- */

/* The size of a dim: as requested, as the case says, as given. */
static bool
dim_size(struct scope *scope, const struct task_request *request, const struct ast_named *named,
         int64_t *size)
{
    const struct statement *c = request->case_statement;
    const struct expr *value = NULL;
    for (size_t i = 0; i < request->size_count; i++)
        if (strcmp(request->sizes[i].dim, named->name) == 0)
            value = ir_int(scope->builder->ir, request->sizes[i].size);
    for (size_t i = 0; value == NULL && c != NULL && i < c->named_count; i++)
        if (c->named[i].name == named->name &&
            (value = build_constant(scope, c->named[i].value)) == NULL)
            return false;
    if (value == NULL && (value = build_constant(scope, named->value)) == NULL)
        return false;
    if (value->kind > KIND_INT || !is_number(value)) {
        build_error(scope, named->place,
                    "dim %s is a whole number, given by numbers alone; write "
                    "const for sizes that follow from others",
                    named->name);
        return false;
    }
    *size = value->integer;
    if (*size < 1)
        build_error(scope, named->place, "dim %s is %lld; sizes are at least 1", named->name,
                    (long long)*size);
    return *size >= 1;
}

static bool
declare_dim(struct scope *scope, const struct task_request *request, const struct statement *s,
            const struct ast_named *named)
{
    struct builder *b = scope->builder;
    struct dim *dim = &b->dims[b->dim_count];
    const struct expr *given = build_constant(scope, named->value);
    if (given == NULL || !dim_size(scope, request, named, &dim->size))
        return false;
    if (named->name[0] < 'A' || named->name[0] > 'Z') {
        build_error(scope, named->place, "dim %s: dims begin with a capital letter; rename it",
                    named->name);
        return false;
    }
    b->dim_count++;
    dim->name = named->name;
    dim->any = s->flag;
    dim->given = given->op == OP_INT ? given->integer : dim->size;
    struct symbol symbol = {.name = named->name, .what = "dim", .value = ir_dim(b->ir, dim)};
    return declare(scope, named->place, symbol);
}

static bool
declare_dims(struct scope *scope, const struct task_request *request)
{
    struct builder *b = scope->builder;
    size_t count = 0;
    bool good = true;
    for (size_t i = 0; i < scope->op->count; i++)
        if (scope->op->statements[i].form == STATEMENT_DIM)
            count += scope->op->statements[i].named_count;
    b->dims = arena_array(b->arena, count + 1, sizeof *b->dims);
    for (size_t i = 0; i < scope->op->count; i++) {
        const struct statement *s = &scope->op->statements[i];
        for (size_t j = 0; s->form == STATEMENT_DIM && j < s->named_count; j++)
            good &= declare_dim(scope, request, s, &s->named[j]);
    }
    return good;
}

static bool
check_case_names(struct scope *scope, const struct statement *c)
{
    for (size_t i = 0; c != NULL && i < c->named_count; i++) {
        const struct symbol *symbol = symbols_find(&scope->symbols, c->named[i].name);
        if (symbol == NULL || strcmp(symbol->what, "dim") != 0) {
            build_error(scope, c->named[i].place,
                        "%s is no dim of this task; a case changes dims "
                        "only",
                        c->named[i].name);
            return false;
        }
    }
    return true;
}

/* ---- inputs ---- */

static void
default_interval(struct builder *b, struct tensor *tensor)
{
    static const int64_t bounds[DTYPE_COUNT][2] = {[DTYPE_I32] = {-100, 100},
                                                   [DTYPE_I8] = {-128, 127},
                                                   [DTYPE_U8] = {0, 255},
                                                   [DTYPE_BOOL] = {0, 1}};
    tensor->low = bounds[tensor->dtype][0];
    tensor->high = bounds[tensor->dtype][1];
    if (b->known_limit != NULL && b->known_limit[tensor->input] > 0) {
        tensor->low = 0;
        tensor->high = b->known_limit[tensor->input] - 1;
    }
}

/* An interval or values of a domain, rounded inwards for integers. */
static void
domain_interval(struct tensor *tensor)
{
    const struct domain *domain = &tensor->domain;
    double low = domain->low, high = domain->high;
    if (domain->form == DOMAIN_AMONG) {
        low = high = domain->values[0];
        for (size_t i = 1; i < domain->count; i++) {
            low = fmin(low, domain->values[i]);
            high = fmax(high, domain->values[i]);
        }
    } else if (domain->form != DOMAIN_INTERVAL) {
        return;
    }
    tensor->low = (int64_t)ceil(fmax(low, -0x1p62));
    tensor->high = (int64_t)floor(fmin(high, 0x1p62));
}

static bool
build_domain(struct scope *scope, const struct domain_clause *clause, struct tensor *tensor)
{
    struct domain *domain = &tensor->domain;
    double *values = arena_array(scope->builder->arena, clause->count + 1, sizeof *values);
    domain->form = clause->form;
    domain->values = values;
    domain->count = clause->count;
    for (size_t i = 0; i < clause->count; i++) {
        const struct expr *value = build_constant(scope, clause->values[i]);
        if (value == NULL)
            return false;
        struct env env = {.scope = scope, .ellipsis = -1};
        if (dtype_is_float(tensor->dtype) && !meets_float(&env, clause->values[i], value))
            return false;
        values[i] = expr_real(value);
        if (!isfinite(values[i])) {
            build_error(scope, clause->values[i]->place, "a domain is finite; write numbers");
            return false;
        }
    }
    domain->low = clause->count ? values[0] : 0;
    domain->high = clause->count > 1 ? values[1] : 0;
    if (domain->form == DOMAIN_INTERVAL && domain->low > domain->high) {
        build_error(scope, clause->place, "from %g to %g is empty; exchange them", domain->low,
                    domain->high);
        return false;
    }
    if (domain->form >= DOMAIN_SOFTMAX &&
        (tensor->rank < 1 + (domain->form > DOMAIN_SOFTMAX) || !dtype_is_float(tensor->dtype))) {
        build_error(scope, clause->place,
                    "%s has not the dimensions or dtype for this form; "
                    "softmax is for rows, the others for float matrices",
                    tensor->name);
        return false;
    }
    if (domain->form > DOMAIN_SOFTMAX && domain->form == DOMAIN_SYMMETRIC &&
        tensor->size[tensor->rank - 1] != tensor->size[tensor->rank - 2]) {
        build_error(scope, clause->place,
                    "%s is not square, so it cannot be symmetric; give it "
                    "another domain",
                    tensor->name);
        return false;
    }
    if (!dtype_is_float(tensor->dtype))
        domain_interval(tensor);
    return true;
}

static bool
build_input(struct scope *scope, const struct statement *s, const struct ast_index *name)
{
    struct builder *b = scope->builder;
    const struct expr *extents[LANG_MAX_RANK];
    enum dtype dtype;
    if (!s->types[0].given) {
        build_error(scope, name->place, "input %s has no data type; write in %s: f32[...]",
                    name->name, name->name);
        return false;
    }
    if (s->left_count > LANG_MAX_RANK) {
        build_error(scope, name->place, "%s has more than %d dimensions; join some", name->name,
                    LANG_MAX_RANK);
        return false;
    }
    for (size_t i = 0; i < s->left_count; i++) {
        if (s->left[i].extent == NULL) {
            build_error(scope, s->left[i].place,
                        "the task itself has all its dimensions; write sizes in the place of ...");
            return false;
        }
        if ((extents[i] = build_constant(scope, s->left[i].extent)) == NULL)
            return false;
        if (extents[i]->kind > KIND_INT) {
            build_error(scope, s->left[i].place, "a size is an integer; write one");
            return false;
        }
    }
    if (b->input_count == LANG_MAX_INPUTS) {
        build_error(scope, name->place, "more than %d inputs; join some", LANG_MAX_INPUTS);
        return false;
    }
    if (!resolve_type(scope, &s->types[0], &dtype))
        return false;
    struct tensor *tensor = new_tensor(b, name->name, dtype, (unsigned)s->left_count);
    b->input_places = arena_grow(b->arena, b->input_places, b->input_count, b->input_count + 1,
                                 sizeof *b->input_places);
    b->input_places[b->input_count] = name->place;
    tensor->input = (int)b->input_count++;
    default_interval(b, tensor);
    struct symbol symbol = {.name = name->name, .what = "tensor", .tensor = tensor};
    return set_shape(scope, name->place, tensor, extents) &&
           build_domain(scope, &s->domain, tensor) && declare(scope, name->place, symbol);
}

static bool
build_inputs(struct scope *scope)
{
    bool good = true;
    for (size_t i = 0; i < scope->op->count; i++)
        for (size_t j = 0; scope->op->statements[i].form == STATEMENT_IN &&
                           j < scope->op->statements[i].name_count;
             j++)
            good &=
                build_input(scope, &scope->op->statements[i], &scope->op->statements[i].names[j]);
    return good;
}

/* ---- outputs ---- */

struct outputs {
    struct tensor **items;
    size_t count;
};

/* An output beside `reference`: its shape is written. */
static struct tensor *
foreign_output(struct scope *scope, const struct statement *s)
{
    const struct expr *extents[LANG_MAX_RANK];
    enum dtype dtype;
    if (s->left_count > LANG_MAX_RANK || s->name_count != 1 ||
        !resolve_type(scope, &s->types[0], &dtype))
        return NULL;
    for (size_t i = 0; i < s->left_count; i++)
        if (s->left[i].extent == NULL ||
            (extents[i] = build_constant(scope, s->left[i].extent)) == NULL)
            return NULL;
    struct tensor *tensor =
        new_tensor(scope->builder, s->names[0].name, dtype, (unsigned)s->left_count);
    struct symbol symbol = {.name = s->names[0].name, .what = "tensor", .tensor = tensor};
    return set_shape(scope, s->place, tensor, extents) && declare(scope, s->place, symbol) ? tensor
                                                                                           : NULL;
}

static bool
add_output(struct scope *scope, struct outputs *outputs, const struct ast_index *name)
{
    const struct symbol *symbol = symbols_find(&scope->symbols, name->name);
    struct tensor *tensor = symbol ? symbol->tensor : NULL;
    if (tensor == NULL) {
        struct env env = {.scope = scope, .ellipsis = -1};
        const char *nearest = nearest_name(&env, name->name);
        build_error(scope, name->place, "output %s is not a tensor of this task; %s%s", name->name,
                    nearest ? "did you mean " : "define it in a stage", nearest ? nearest : "");
        return false;
    }
    if (tensor->input >= 0) {
        build_error(scope, name->place,
                    "%s is an input; inputs cannot be outputs, copy it with "
                    "Y = %s",
                    name->name, name->name);
        return false;
    }
    for (size_t i = 0; i < outputs->count; i++)
        if (outputs->items[i] == tensor) {
            build_error(scope, name->place, "%s is an output already; name it once", name->name);
            return false;
        }
    outputs->items = arena_grow(scope->builder->arena, outputs->items, outputs->count,
                                outputs->count + 1, sizeof *outputs->items);
    outputs->items[outputs->count++] = tensor;
    return true;
}

static const struct statement *
find_statement(const struct operator* op, enum statement_form form)
{
    for (size_t i = 0; i < op->count; i++)
        if (op->statements[i].form == form)
            return &op->statements[i];
    return NULL;
}

static bool
collect_outputs(struct scope *scope, struct outputs *outputs)
{
    bool foreign = find_statement(scope->op, STATEMENT_REFERENCE) != NULL;
    for (size_t i = 0; i < scope->op->count; i++) {
        const struct statement *s = &scope->op->statements[i];
        if (s->form != STATEMENT_OUT)
            continue;
        if (s->has_shape != foreign) {
            build_error(scope, s->place,
                        foreign ? "beside `reference` an output has a shape; write "
                                  "out Y: f32[...]"
                                : "the shape of an output follows from its stage; "
                                  "write out Y");
            return false;
        }
        if (foreign && foreign_output(scope, s) == NULL)
            return false;
        for (size_t j = 0; j < s->name_count; j++)
            if (!add_output(scope, outputs, &s->names[j]))
                return false;
    }
    if (outputs->count == 0)
        build_error(scope, scope->op->place, "%s has no output; write out NAME", scope->op->name);
    return outputs->count > 0;
}

/* ---- the program ---- */

static void
finish_recs(struct builder *b, struct program *program)
{
    program->recs = arena_array(b->arena, b->rec_count + 1, sizeof *program->recs);
    int last = -1;
    for (size_t i = 0; i < program->stage_count; i++) {
        struct stage *stage = &program->stages[i];
        if (stage->rec < 0) {
            last = -1;
            continue;
        }
        if (stage->rec != last) { /* numbers follow the order of the blocks that are left */
            struct rec *rec = &program->recs[program->rec_count++];
            rec->first = i;
            rec->extent = b->rec_extents[stage->rec];
            rec->size = expr_integer(rec->extent);
            last = stage->rec;
        }
        stage->rec = (int)program->rec_count - 1;
        program->recs[program->rec_count - 1].count++;
    }
}

static void
finish_constants(struct scope *scope, struct program *program)
{
    struct arena *arena = scope->builder->arena;
    const char **names = arena_array(arena, scope->symbols.count + 1, sizeof *names);
    int64_t *values = arena_array(arena, scope->symbols.count + 1, sizeof *values);
    for (size_t i = 0; i < scope->symbols.count; i++) {
        const struct symbol *symbol = &scope->symbols.items[i];
        if (strcmp(symbol->what, "const") == 0 && symbol->name[0] >= 'A' &&
            symbol->name[0] <= 'Z') {
            names[program->const_count] = symbol->name;
            values[program->const_count++] = expr_integer(symbol->value);
        }
    }
    program->const_names = names;
    program->const_values = values;
}

static struct program *
finish_program(struct scope *scope, const struct outputs *outputs)
{
    struct builder *b = scope->builder;
    struct program *program = arena_alloc(b->arena, sizeof *program);
    program->name = scope->op->name;
    program->case_name = b->case_name;
    program->dims = b->dims;
    program->dim_count = b->dim_count;
    program->outputs = outputs->items;
    program->output_count = outputs->count;
    program->stage_count = b->draft_count;
    program->stages = arena_array(b->arena, b->draft_count + 1, sizeof *program->stages);
    program->input_count = b->input_count;
    program->tensors = arena_array(b->arena, b->input_count + b->draft_count + outputs->count,
                                   sizeof *program->tensors);
    for (size_t i = 0; i < b->input_count; i++)
        program->tensors[program->tensor_count++] = b->tensors[i];
    for (size_t i = 0; i < b->draft_count; i++) {
        struct stage *stage = &program->stages[i];
        *stage = b->drafts[i].stage;
        make_concrete(b, stage);
        stage->tensor->stage = stage;
        program->tensors[program->tensor_count++] = stage->tensor;
    }
    for (size_t i = 0; i < outputs->count; i++) {
        outputs->items[i]->output = (int)i;
        if (outputs->items[i]->stage == NULL)
            program->tensors[program->tensor_count++] = outputs->items[i];
    }
    for (size_t i = 0; i < program->tensor_count; i++)
        program->tensors[i]->number = (unsigned)i;
    finish_recs(b, program);
    finish_constants(scope, program);
    program->expr_count = ir_count(b->ir);
    program->ir = b->ir;
    return program;
}

static bool
set_foreign(struct scope *scope, struct program *program)
{
    const struct statement *s = find_statement(scope->op, STATEMENT_REFERENCE);
    struct arena *arena = scope->builder->arena;
    struct source source;
    if (s == NULL)
        return true;
    struct foreign *foreign = arena_alloc(arena, sizeof *foreign);
    struct diags *reading = diags_create(arena, 1);
    foreign->path = file_join(arena, file_folder_of(arena, scope->unit->source.path), s->name);
    foreign->relative = s->relative;
    foreign->absolute = s->absolute;
    program->foreign = foreign;
    if (file_read(arena, foreign->path, LANG_MAX_FILE, &source, reading) != STATUS_OK) {
        build_error(scope, s->place, "reference: %s",
                    diags_count(reading) ? diags_get(reading, 0)->message : "cannot be read");
        return false;
    }
    char *hash = arena_alloc(arena, HASH_TEXT);
    hash_sha256(source.text, source.length, hash);
    foreign->hash = hash;
    return true;
}

struct program *
build_task(struct builder *b, const struct task_request *request, bool warn)
{
    struct lang *lang = b->lang;
    struct scope scope = {.builder = b, .unit = lang->unit, .op = lang->task};
    struct outputs outputs = {0};
    if (!declare_dims(&scope, request) || !check_case_names(&scope, request->case_statement) ||
        !build_constants(&scope, NULL, 0, NULL) || !build_inputs(&scope) ||
        !check_requirements(&scope) || !build_statements(&scope) ||
        !collect_outputs(&scope, &outputs))
        return NULL;
    bool foreign = find_statement(lang->task, STATEMENT_REFERENCE) != NULL;
    if (foreign && b->draft_count > 0) {
        build_error(&scope, lang->task->place,
                    "`reference` stands in the place of stages; keep one "
                    "of the two");
        return NULL;
    }
    if (!expand(b, outputs.items, outputs.count, warn && !foreign))
        return NULL;
    struct program *program = finish_program(&scope, &outputs);
    if (!set_foreign(&scope, program))
        return NULL;
    program->check_only = request->case_statement != NULL && request->case_statement->flag;
    return program;
}
