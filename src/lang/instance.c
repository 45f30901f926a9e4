/* An operator of the library as a task of its own: `...` becomes dimensions with names, dims get
 * sizes, open types are filled in. The author's text stays, with these places edited. */
#include "lang/ast_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANK 8
#define MOST_DIMS 64
#define MOST_EDITS 1024

struct edit { /* bytes of the text that are replaced */
    uint32_t offset, length;
    const char *text;
};

struct sized {
    const char *name;
    int64_t size;
    bool said; /* wished for */
};

struct maker {
    struct arena *arena;
    struct diags *diags;
    const struct lang_entry *entry;
    const struct lang_wish *wish;
    struct source source;
    struct tokens tokens;
    const struct operator* operator;
    struct sized dims[MOST_DIMS];
    size_t dim_count;
    size_t rest; /* dimensions that `...` stands for; SIZE_MAX: not known yet */
    const char *rest_dims[MOST_RANK], *rest_indices[MOST_RANK];
    struct edit edits[MOST_EDITS];
    size_t edit_count;
    struct buf unused;
};

/* ---- looking ---- */

static enum status
refuse(struct maker *maker, const char *format, ...) __attribute__((format(printf, 2, 3)));

static enum status
refuse(struct maker *maker, const char *format, ...)
{
    va_list args;
    struct buf buf = buf_in(maker->arena);
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    diags_add(maker->diags, DIAG_ERROR, (struct place){0}, "%s", buf.data);
    return STATUS_INPUT;
}

static struct sized *
find_dim(struct maker *maker, const char *name)
{
    for (size_t i = 0; i < maker->dim_count; i++)
        if (strcmp(maker->dims[i].name, name) == 0)
            return &maker->dims[i];
    return NULL;
}

static bool
is_used(const struct maker *maker, const char *name)
{
    for (size_t i = 0; i < maker->tokens.count; i++)
        if (token_is(&maker->tokens.items[i], name))
            return true;
    return false;
}

static bool
is_constant(const struct maker *maker, const char *name)
{
    for (size_t i = 0; i < maker->operator->count; i++) {
        const struct statement *s = &maker->operator->statements[i];
        for (size_t k = 0;
             (s->form == STATEMENT_CONST || s->form == STATEMENT_PARAM) && k < s->named_count; k++)
            if (strcmp(s->named[k].name, name) == 0)
                return true;
    }
    return false;
}

static void
add_dim(struct maker *maker, const char *name, int64_t size)
{
    if (find_dim(maker, name) == NULL && maker->dim_count < MOST_DIMS)
        maker->dims[maker->dim_count++] = (struct sized){name, size, false};
}

/* ---- inputs ---- */

/* One tensor of an `in` statement. */
struct input {
    const struct statement *statement;
    size_t fixed; /* extents besides `...` */
    bool open;    /* has `...` */
};

static size_t
list_inputs(struct maker *maker, struct input *inputs, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < maker->operator->count; i++) {
        const struct statement *s = &maker->operator->statements[i];
        struct input input = {s, 0, false};
        if (s->form != STATEMENT_IN)
            continue;
        for (size_t k = 0; k < s->left_count; k++) {
            input.fixed += s->left[k].extent != NULL;
            input.open = input.open || s->left[k].extent == NULL;
        }
        for (size_t k = 0; k < s->name_count && count < most; k++)
            inputs[count++] = input;
    }
    return count;
}

static const char *
plain_name(const struct ast_index *extent)
{
    return extent->extent && extent->extent->form == AST_NAME ? extent->extent->name : NULL;
}

/* Of an operator of the library: each plain name in the shape of an input. */
static void
collect_dims(struct maker *maker, const struct input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < inputs[i].statement->left_count; k++) {
            const char *name = plain_name(&inputs[i].statement->left[k]);
            if (name != NULL && !is_constant(maker, name))
                add_dim(maker, name, 0);
        }
}

/* Of an example: its dims, with the sizes that it has. */
static void
collect_given_dims(struct maker *maker)
{
    for (size_t i = 0; i < maker->operator->count; i++) {
        const struct statement *s = &maker->operator->statements[i];
        for (size_t k = 0; s->form == STATEMENT_DIM && k < s->named_count; k++)
            add_dim(maker, s->named[k].name,
                    s->named[k].value->form == AST_INTEGER ? s->named[k].value->integer : 0);
    }
}

/* ---- `...` ---- */

/* Names that the operator does not use. */
static const char *
fresh_name(const struct maker *maker, const char *const *names, const char *const *taken,
           size_t taken_count)
{
    for (; *names != NULL; names++) {
        bool free = !is_used(maker, *names);
        for (size_t i = 0; i < taken_count; i++)
            free = free && strcmp(taken[i], *names) != 0;
        if (free)
            break;
    }
    return *names;
}

/* Where `...` stands in the shape of the first input: batches before what is fixed, an image behind
 * channels, or all there is. */
enum rest_place { REST_FIRST, REST_LAST, REST_ALL };

static enum rest_place
rest_place(const struct input *input)
{
    const struct statement *s = input->statement;
    if (input->fixed == 0)
        return REST_ALL;
    return input->open && s->left[s->left_count - 1].extent == NULL ? REST_LAST : REST_FIRST;
}

static bool
name_rest(struct maker *maker, const struct input *input, size_t rank)
{
    static const char *const dims[][12] = {
        {"R", "B", "H", "P", "Q", "S", "T", "U", "V", "Z", "W"},
        {"H", "W", "D", "P", "Q", "S", "T", "U", "V", "Z", "R"},
        {"R", "N", "B", "H", "W", "P", "Q", "S", "T", "U", "V"},
    };
    static const char *const indices[][14] = {
        {"r", "b", "h", "p", "q", "s", "t", "u", "v", "z", "w", "a", "e"},
        {"y", "x", "z", "h", "w", "p", "q", "s", "t", "u", "v", "a", "e"},
        {"r", "n", "b", "h", "w", "p", "q", "s", "t", "u", "v", "a", "e"},
    };
    enum rest_place place = rest_place(input);
    maker->rest = rank;
    for (size_t i = 0; i < rank && i < MOST_RANK; i++) {
        maker->rest_dims[i] = fresh_name(maker, dims[place], maker->rest_dims, i);
        maker->rest_indices[i] = fresh_name(maker, indices[place], maker->rest_indices, i);
        if (maker->rest_dims[i] == NULL || maker->rest_indices[i] == NULL)
            return false;
    }
    return rank <= MOST_RANK;
}

/* How many dimensions it usually is: rows before one that is fixed, none before a matrix unless
 * there are several of them (attention has heads), an image behind channels. */
static size_t
usual_rest(const struct input *first, size_t inputs)
{
    if (rest_place(first) != REST_FIRST)
        return 2;
    return first->fixed == 1 || inputs > 2;
}

/* ---- sizes that were wished for ---- */

static enum status
set_size(struct maker *maker, const char *name, int64_t size)
{
    struct sized *dim = find_dim(maker, name);
    if (dim == NULL)
        return STATUS_OK;
    if (dim->said && dim->size != size)
        return refuse(maker,
                      "%s would be both %" PRId64 " and %" PRId64 " in %s; give sizes that "
                      "fit one another",
                      name, dim->size, size, maker->entry->name);
    dim->size = size;
    dim->said = true;
    return STATUS_OK;
}

static bool
fits(const struct maker *maker, const struct input *input, size_t rank)
{
    if (!input->open)
        return rank == input->fixed;
    return maker->rest == SIZE_MAX ? rank >= input->fixed : rank == input->fixed + maker->rest;
}

static enum status
set_shape(struct maker *maker, const struct input *input, const struct lang_shape *shape)
{
    const struct statement *s = input->statement;
    enum status status = STATUS_OK;
    size_t at = 0;
    if (input->open && maker->rest == SIZE_MAX &&
        !name_rest(maker, input, shape->rank - input->fixed))
        return refuse(maker, "%zu dimensions are more than a tensor may have; write at most %d",
                      shape->rank, MOST_RANK);
    for (size_t k = 0; k < s->left_count && status == STATUS_OK; k++) {
        const char *name = plain_name(&s->left[k]);
        if (s->left[k].extent != NULL) {
            if (name != NULL && !is_constant(maker, name))
                status = set_size(maker, name, shape->sizes[at]);
            at++;
            continue;
        }
        for (size_t r = 0; r < maker->rest && status == STATUS_OK; r++) {
            add_dim(maker, maker->rest_dims[r], 0);
            status = set_size(maker, maker->rest_dims[r], shape->sizes[at++]);
        }
    }
    return status;
}

/* An image or a window: two sizes that say no more than H and W, or R and S of a filter. */
static bool
set_pair(struct maker *maker, const struct lang_shape *shape, enum status *status)
{
    bool small = shape->rank == 2 && shape->sizes[0] <= 11 && shape->sizes[1] <= 11;
    const char *first = small ? "R" : "H", *second = small ? "S" : "W";
    if (shape->rank != 2 || find_dim(maker, first) == NULL || find_dim(maker, second) == NULL)
        return false;
    *status = set_size(maker, first, shape->sizes[0]);
    if (*status == STATUS_OK)
        *status = set_size(maker, second, shape->sizes[1]);
    return true;
}

static void
put_unused(struct maker *maker, const struct lang_shape *shape)
{
    buf_puts(&maker->unused, maker->unused.length ? ", " : "");
    for (size_t i = 0; i < shape->rank; i++)
        buf_printf(&maker->unused, "%s%" PRId64, i ? "x" : "", shape->sizes[i]);
}

static enum status
set_shapes(struct maker *maker, const struct input *inputs, size_t count)
{
    enum status status = STATUS_OK;
    size_t next = 0;
    for (size_t i = 0; i < maker->wish->shape_count && status == STATUS_OK; i++) {
        const struct lang_shape *shape = &maker->wish->shapes[i];
        size_t at = next;
        while (at < count && !fits(maker, &inputs[at], shape->rank))
            at++;
        if (at < count) {
            status = set_shape(maker, &inputs[at], shape);
            next = at + 1;
        } else if (!set_pair(maker, shape, &status))
            put_unused(maker, shape);
    }
    return status;
}

/* Dims by name; others may be constants, which are edited where they stand. */
static enum status
set_named(struct maker *maker)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < maker->wish->size_count && status == STATUS_OK; i++) {
        const struct lang_size *size = &maker->wish->sizes[i];
        if (find_dim(maker, size->dim) != NULL)
            status = set_size(maker, size->dim, size->size);
        else if (!is_constant(maker, size->dim))
            buf_printf(&maker->unused, "%s%s=%" PRId64, maker->unused.length ? ", " : "", size->dim,
                       size->size);
    }
    return status;
}

/* ---- usual sizes ---- */

static int64_t
usual_size(size_t place, size_t rank)
{
    static const int64_t sizes[][5] = {
        {1 << 20}, {1024, 1024}, {16, 512, 512}, {16, 64, 56, 56}, {4, 16, 16, 28, 28}};
    if (rank == 0 || rank > 5)
        return 8;
    return sizes[rank - 1][place];
}

/* Sizes that follow from others, so that what an operator requires holds. */
static const struct {
    const char *operator; /* NULL: any */
    const char *dim, *of;
    int64_t divided_by, plus;
} relations[] = {
    {NULL, "CG", "C", 1, 0},
    {"rotary", "E", "D", 2, 0},
    {"rotary_interleaved", "E", "D", 2, 0},
    {"conv2d_backward", "H", "OH", 1, 2},
    {"conv2d_backward", "W", "OW", 1, 2},
    {NULL, "T", "S", 1, 0},
    {NULL, "E", "D", 1, 0},
};

/* Channels of a filter are those of a group. */
static int64_t
group_count(const struct maker *maker, const char *dim)
{
    for (size_t i = 0; i < maker->wish->size_count; i++)
        if (strcmp(dim, "CG") == 0 && strcmp(maker->wish->sizes[i].dim, "groups") == 0)
            return maker->wish->sizes[i].size;
    return 1;
}

/* Sizes of dims that the first input does not have. */
static int64_t
other_size(struct maker *maker, const char *name)
{
    static const char *const windows[] = {"Q", "R", "S"};
    bool spatial = find_dim(maker, "W") != NULL || find_dim(maker, "L") != NULL;
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        const struct sized *of = find_dim(maker, relations[i].of);
        bool here =
            relations[i].operator== NULL || strcmp(relations[i].operator, maker->entry->name) == 0;
        if (here && of != NULL && strcmp(relations[i].dim, name) == 0)
            return of->size / relations[i].divided_by / group_count(maker, name) +
                   relations[i].plus;
    }
    for (size_t i = 0; spatial && i < sizeof windows / sizeof *windows; i++)
        if (strcmp(name, windows[i]) == 0)
            return 3;
    return 64;
}

static void
fill_usual(struct maker *maker, const struct input *first)
{
    const struct statement *s = first->statement;
    size_t rank = first->fixed + (first->open ? maker->rest : 0), place = 0;
    for (size_t k = 0; k < s->left_count; k++) {
        const char *name = plain_name(&s->left[k]);
        size_t width = s->left[k].extent ? 1 : maker->rest;
        for (size_t r = 0; r < width; r++, place++) {
            struct sized *dim =
                find_dim(maker, s->left[k].extent ? (name ? name : "") : maker->rest_dims[r]);
            if (dim != NULL && dim->size == 0)
                dim->size = usual_size(place, rank);
        }
    }
    for (size_t i = 0; i < maker->dim_count; i++)
        if (maker->dims[i].size == 0)
            maker->dims[i].size = other_size(maker, maker->dims[i].name);
}

/* ---- edits ---- */

static void
edit(struct maker *maker, uint32_t offset, uint32_t length, const char *text)
{
    if (maker->edit_count < MOST_EDITS)
        maker->edits[maker->edit_count++] = (struct edit){offset, length, text};
}

static uint32_t
end_of(const struct token *token)
{
    return token->offset + token->length;
}

static const char *
joined(struct arena *arena, const char *const *names, size_t count, const char *between)
{
    struct buf buf = buf_in(arena);
    for (size_t i = 0; i < count; i++)
        buf_printf(&buf, "%s%s", i ? between : "", names[i]);
    return buf.length ? buf.data : "";
}

/* Without dimensions a comma beside it goes too. */
static void
edit_rest(struct maker *maker, const struct token *token, const char *const *names)
{
    const struct token *before = token - 1, *after = token + 1;
    const char *text = joined(maker->arena, names, maker->rest, ",");
    if (token_is(before, "(")) /* size(...) */
        text = NULL;
    if (text == NULL) {
        const char *product = joined(maker->arena, maker->rest_dims, maker->rest, "*");
        edit(maker, before[-1].offset, end_of(after) - before[-1].offset,
             arena_printf(maker->arena, "(%s)", *product ? product : "1"));
    } else if (*text == '\0' && token_is(after, ","))
        edit(maker, token->offset, end_of(after) - token->offset, "");
    else if (*text == '\0' && token_is(before, ","))
        edit(maker, before->offset, end_of(token) - before->offset, "");
    else
        edit(maker, token->offset, token->length, text);
}

static enum dtype
dtype_of(const struct maker *maker, const char *tensor)
{
    for (size_t i = 0; i < maker->operator->count; i++) {
        const struct statement *s = &maker->operator->statements[i];
        for (size_t k = 0; s->form == STATEMENT_IN && k < s->name_count; k++)
            if (strcmp(s->names[k].name, tensor) == 0 && s->types->given)
                return s->types->dtype;
    }
    return maker->wish->dtype;
}

/* ": like X" is written out; f32 needs no word. */
static void
edit_like(struct maker *maker, const struct token *colon)
{
    const struct token *name = colon + 2;
    enum dtype dtype = dtype_of(maker, name->text);
    edit(maker, colon->offset, end_of(name) - colon->offset,
         dtype == DTYPE_F32 ? "" : arena_printf(maker->arena, ": %s", dtype_info[dtype].name));
}

/* Whether the integer behind "NAME=" of a dim or a constant is to be another one. */
static void
edit_value(struct maker *maker, const struct token *name)
{
    const struct token *value = name + 2;
    const struct sized *dim = find_dim(maker, name->text);
    const int64_t *size = NULL;
    if (!token_is(name + 1, "=") || value->kind != TOKEN_INTEGER)
        return;
    if (dim != NULL && dim->said)
        size = &dim->size;
    for (size_t i = 0; dim == NULL && i < maker->wish->size_count; i++)
        if (strcmp(maker->wish->sizes[i].dim, name->text) == 0)
            size = &maker->wish->sizes[i].size;
    if (size != NULL)
        edit(maker, value->offset, value->length, arena_printf(maker->arena, "%" PRId64, *size));
}

struct place_in_text {             /* where the walk over the tokens is */
    const struct token *statement; /* its first token */
    unsigned depth;                /* of brackets */
};

static void
edit_token(struct maker *maker, const struct token *token, const struct place_in_text *place)
{
    bool library = maker->entry->kind != LANG_EXAMPLE;
    bool input = place->statement && token_is(place->statement, "in");
    bool sizes = place->statement &&
                 (token_is(place->statement, "dim") || token_is(place->statement, "const"));
    enum dtype dtype = maker->wish->dtype;
    if (token->kind == TOKEN_ELLIPSIS)
        edit_rest(maker, token, input ? maker->rest_dims : maker->rest_indices);
    else if (library && token_is(token, ":") && token_is(token + 1, "like"))
        edit_like(maker, token);
    else if (library && input && place->depth == 0 && token_is(token + 1, "[") &&
             token->kind == TOKEN_NAME && token->word != WORD_DTYPE)
        edit(maker, end_of(token), 0, arena_printf(maker->arena, ": %s", dtype_info[dtype].name));
    else if (!library && input && token->word == WORD_DTYPE && token_is(token, "f32") &&
             dtype != DTYPE_F32)
        edit(maker, token->offset, token->length, dtype_info[dtype].name);
    else if (sizes && place->depth == 0 && token->kind == TOKEN_NAME)
        edit_value(maker, token);
}

static void
edit_all(struct maker *maker)
{
    struct place_in_text place = {0};
    for (size_t i = 0; i < maker->tokens.count; i++) {
        const struct token *token = &maker->tokens.items[i];
        if (token->kind == TOKEN_END)
            break;
        if (token->word == WORD_STATEMENT && place.depth == 0)
            place.statement = token;
        else if (token->kind == TOKEN_NEWLINE && place.depth == 0)
            place.statement = NULL;
        edit_token(maker, token, &place);
        place.depth += token_is(token, "[") || token_is(token, "(");
        place.depth -= place.depth > 0 && (token_is(token, "]") || token_is(token, ")"));
    }
}

/* The line of dims stands before the first statement behind the operator's name. */
static void
edit_dims(struct maker *maker)
{
    struct buf line = buf_in(maker->arena);
    size_t at = 0;
    while (!token_is(&maker->tokens.items[at], "in"))
        at++;
    for (size_t i = 0; i < maker->dim_count; i++)
        buf_printf(&line, "%s%s=%" PRId64, i ? ", " : "dim ", maker->dims[i].name,
                   maker->dims[i].size);
    if (line.length > 0)
        edit(maker, maker->tokens.items[at].offset, 0,
             arena_printf(maker->arena, "%s\n", line.data));
}

static int
by_offset(const void *a, const void *b)
{
    uint32_t left = ((const struct edit *)a)->offset, right = ((const struct edit *)b)->offset;
    return left < right ? -1 : left > right;
}

static const char *
edited_text(struct maker *maker)
{
    struct buf text = buf_in(maker->arena);
    uint32_t at = 0;
    qsort(maker->edits, maker->edit_count, sizeof *maker->edits, by_offset);
    for (size_t i = 0; i < maker->edit_count; i++) {
        const struct edit *change = &maker->edits[i];
        buf_add(&text, maker->source.text + at, change->offset - at);
        buf_puts(&text, change->text);
        at = change->offset + change->length;
    }
    buf_puts(&text, maker->source.text + at);
    return text.data;
}

/* ---- functions ---- */

/* dy, x and y are tensors and other parameters numbers; without any of those all are tensors. */
static bool
is_tensor(const struct statement *def, const char *name)
{
    static const char *const tensors[] = {"dy", "x", "y"};
    bool any = false, this = false;
    for (size_t i = 0; i < def->name_count; i++)
        for (size_t k = 0; k < sizeof tensors / sizeof *tensors; k++) {
            bool is = strcmp(def->names[i].name, tensors[k]) == 0;
            any = any || is;
            this = this || (is && def->names[i].name == name);
        }
    return this || !any;
}

/* The result is Y, so the argument y is not. */
static const char *
tensor_name(struct arena *arena, const char *name)
{
    if (strcmp(name, "y") == 0)
        return "Z";
    return arena_printf(arena, "%c%s", name[0] - 'a' + 'A', name + 1);
}

/* A def of scalars as an operator over tensors. */
static const char *
operator_of_function(struct arena *arena, const struct lang_entry *entry)
{
    struct diags *diags = diags_create(arena, 1);
    struct source source = {entry->file, entry->text, strlen(entry->text)};
    struct unit *unit = parse(arena, names_create(arena), &source, diags);
    const struct statement *def = unit->defs[0].statement;
    struct buf inputs = buf_in(arena), call = buf_in(arena), numbers = buf_in(arena);
    const char *first = NULL;
    for (size_t i = 0; i < def->name_count; i++) {
        const char *name = def->names[i].name;
        bool tensor = is_tensor(def, name);
        const char *argument = tensor ? tensor_name(arena, name) : name;
        buf_printf(&call, "%s%s", i ? ", " : "", argument);
        if (tensor)
            buf_printf(&inputs, "%s%s", inputs.length ? ", " : "", argument);
        else
            buf_printf(&numbers, "param %s = 1.0\n", name);
        first = first == NULL && tensor ? argument : first;
    }
    const char *body = strstr(entry->text, "def ");
    return arena_printf(arena, "%.*sop %s\nin %s[...]\n%s%sY: like %s = %s(%s)\nout Y\n",
                        (int)(body - entry->text), entry->text, entry->name, inputs.data,
                        numbers.length ? numbers.data : "", body, first, entry->name, call.data);
}

/* ---- the whole ---- */

static enum status
read_entry(struct maker *maker)
{
    const char *text = maker->entry->kind == LANG_FUNCTION
                           ? operator_of_function(maker->arena, maker->entry)
                           : maker->entry->text;
    struct names *names = names_create(maker->arena);
    maker->source = (struct source){maker->entry->file, text, strlen(text)};
    maker->tokens = lex(maker->arena, names, &maker->source, maker->diags);
    struct unit *unit = parse(maker->arena, names, &maker->source, maker->diags);
    if (diags_errors(maker->diags) > 0 || unit->operator_count == 0)
        return STATUS_INPUT;
    maker->operator= & unit->operators[unit->operator_count - 1];
    return STATUS_OK;
}

static void
name_usual_rest(struct maker *maker, const struct input *inputs, size_t count)
{
    size_t first = 0;
    while (first < count && !inputs[first].open)
        first++;
    if (first < count)
        name_rest(maker, &inputs[first], usual_rest(&inputs[first], count));
}

/* As they stand in the shapes, `...` where it is. */
static void
order_dims(struct maker *maker, const struct input *inputs, size_t count)
{
    struct sized old[MOST_DIMS];
    size_t old_count = maker->dim_count;
    memcpy(old, maker->dims, sizeof old);
    maker->dim_count = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < inputs[i].statement->left_count; k++) {
            const struct ast_index *extent = &inputs[i].statement->left[k];
            const char *name = plain_name(extent);
            if (name != NULL && !is_constant(maker, name))
                add_dim(maker, name, 0);
            for (size_t r = 0; extent->extent == NULL && r < maker->rest; r++)
                add_dim(maker, maker->rest_dims[r], 0);
        }
    for (size_t i = 0; i < old_count; i++) {
        struct sized *dim = find_dim(maker, old[i].name);
        if (dim != NULL)
            *dim = old[i];
    }
}

static enum status
choose_sizes(struct maker *maker)
{
    struct input inputs[MOST_DIMS];
    size_t count = list_inputs(maker, inputs, MOST_DIMS);
    if (maker->entry->kind == LANG_EXAMPLE)
        collect_given_dims(maker);
    else
        collect_dims(maker, inputs, count);
    enum status status = set_named(maker);
    if (status == STATUS_OK)
        status = set_shapes(maker, inputs, count);
    if (status != STATUS_OK || maker->entry->kind == LANG_EXAMPLE)
        return status;
    if (maker->rest == SIZE_MAX)
        name_usual_rest(maker, inputs, count);
    order_dims(maker, inputs, count);
    if (count > 0)
        fill_usual(maker, &inputs[0]);
    return STATUS_OK;
}

/* What it says must hold in every case. */
static enum status
check_text(struct maker *maker, const char *text)
{
    const char *path = arena_printf(maker->arena, "%s.op", maker->entry->name);
    struct lang *lang = lang_parse(maker->arena, path, text, strlen(text), maker->diags);
    for (size_t i = 0; lang != NULL && i < lang_case_count(lang); i++)
        if (lang_program(lang, i, NULL, 0, maker->diags) == NULL)
            return STATUS_INPUT;
    return lang != NULL ? STATUS_OK : STATUS_INPUT;
}

static enum status
make(struct maker *maker, struct buf *buf)
{
    struct buf pretty = buf_in(maker->arena);
    enum status status = read_entry(maker);
    if (status == STATUS_OK)
        status = choose_sizes(maker);
    if (status != STATUS_OK)
        return status;
    edit_all(maker);
    if (maker->entry->kind != LANG_EXAMPLE)
        edit_dims(maker);
    const char *text = edited_text(maker);
    status = lang_format(&pretty, maker->entry->file, text, strlen(text), maker->diags);
    if (status == STATUS_OK)
        status = check_text(maker, pretty.data);
    if (status == STATUS_OK)
        buf_puts(buf, pretty.data);
    return status;
}

static struct maker *
maker_create(struct arena *arena, const struct lang_entry *entry, const struct lang_wish *wish,
             struct diags *diags)
{
    struct maker *maker = arena_alloc(arena, sizeof *maker);
    *maker = (struct maker){.arena = arena,
                            .diags = diags,
                            .entry = entry,
                            .wish = wish,
                            .rest = SIZE_MAX,
                            .unused = buf_in(arena)};
    return maker;
}

enum status
lang_instance(struct arena *arena, struct buf *buf, const struct lang_entry *entry,
              const struct lang_wish *wish, const char **unused, struct diags *diags)
{
    struct diags *first = diags_create(arena, 4);
    struct maker *maker = maker_create(arena, entry, wish, first);
    enum status status = make(maker, buf);
    if (status != STATUS_OK && wish->dtype == DTYPE_F32) { /* it may be for integers */
        struct lang_wish integers = *wish;
        struct maker *other = maker_create(arena, entry, &integers, diags_create(arena, 1));
        integers.dtype = DTYPE_I8;
        status = make(other, buf);
    }
    for (size_t i = 0; status != STATUS_OK && i < diags_count(first); i++)
        diags_add(diags, DIAG_ERROR, (struct place){0}, "%s", diags_get(first, i)->message);
    *unused = maker->unused.length ? maker->unused.data : "";
    return status;
}
