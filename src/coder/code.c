/* What all emitters print with: lines, names, helpers of hone.h, storage and scratch. */
#include "coder/emit_int.h"

#include "target/target.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
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
    em->blocks++;
}

void
code_close(struct emitter *em)
{
    em->indent--;
    em->blocks++;
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

const char *
code_c_name(struct arena *arena, const char *name)
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
    base = code_c_name(em->arena, base);
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
    const char *name = code_c_name(em->arena, tensor->name);
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

#define TEAM " num_threads(HONE_TEAM)"

size_t
code_parallel(struct emitter *em, size_t loops, const char *clauses)
{
    if (loops > 1)
        code_line(em, "#pragma omp parallel for collapse(%zu)%s" TEAM, loops, clauses);
    else
        code_line(em, "#pragma omp parallel for%s" TEAM, clauses);
    em->has_team = false;
    return em->out->length - strlen("\n");
}

void
code_parallel_end(struct emitter *em, size_t began)
{
    if (!em->has_team)
        code_remove(em, began - strlen(TEAM), began);
    em->has_team = false;
}

/* A part for each thread. Thread-local variables would take from the threads' stacks, which end
 * where they are large, and their pages would be made during the first call. */
static void
define_threads(struct emitter *em)
{
    em->has_team = true;
    if (em->has_threads)
        return;
    em->has_threads = true;
    buf_puts(&em->globals, "#ifndef HONE_THREADS /* at most so many share the work */\n"
                           "#define HONE_THREADS 16\n"
                           "#endif\n"
                           "#ifndef HONE_TEAM\n"
                           "#ifdef _OPENMP\n"
                           "#include <omp.h>\n"
                           "#define HONE_TEAM (omp_get_max_threads() < HONE_THREADS ? "
                           "omp_get_max_threads() : HONE_THREADS)\n"
                           "#define HONE_THREAD omp_get_thread_num()\n"
                           "#else\n"
                           "#define HONE_TEAM 1\n"
                           "#define HONE_THREAD 0\n"
                           "#endif\n"
                           "#endif\n");
}

const char *
code_scratch(const struct nest *nest, const char *base, enum dtype dtype, int64_t count)
{
    struct emitter *em = nest->em;
    const char *name = code_name(em, arena_printf(em->arena, "%s_", base));
    const char *type = dtype_info[dtype].c_type;
    int64_t size = (int64_t)dtype_info[dtype].size, room = count + 64 / size + 16;
    if (dtype == DTYPE_BF16)
        code_helper(em, "bf16_of_f32");
    /* Lanes behind the end are computed with and dropped: what lies on the stack could overflow. */
    const char *clean = dtype == DTYPE_I32 ? " = {0}" : "";
    if (nest->parallel && room * size <= STACK_SCRATCH)
        code_line(em, "%s %s[%" PRId64 "] __attribute__((aligned(64), unused))%s;", type, name,
                  room, clean);
    else if (!nest->parallel)
        code_line(em, "static %s %s[%" PRId64 "] __attribute__((aligned(64), unused));", type, name,
                  room);
    else {
        const char *own = code_name(em, name);
        int64_t line = 64 / size;
        define_threads(em);
        code_line(em,
                  "static %s %s[HONE_THREADS][%" PRId64 "] __attribute__((aligned(64), unused));",
                  type, own, (room + line - 1) / line * line);
        code_line(em, "%s *const %s = %s[HONE_THREAD];", type, name, own);
    }
    return name;
}

static void
declare_array(struct emitter *em, const char *name, const struct tensor *tensor)
{
    buf_printf(&em->globals, "static %s %s[%" PRId64 "] __attribute__((aligned(64)));\n",
               dtype_info[tensor->dtype].c_type, name, tensor->count + 32);
}

/* Tensors share arrays where functions compute them, which see them apart from one another: in one
 * body the compiler knows more of arrays. */
static void
declare_storage(struct emitter *em)
{
    const struct program *program = em->schedule->program;
    struct memory *const *memory_of = memory_plan(em->arena, em->schedule);
    for (size_t i = 0; i < program->stage_count; i++) {
        const struct memory *memory = memory_of[i];
        const struct tensor *tensor = program->stages[i].tensor;
        const char *name = em->storage[tensor->number];
        if (memory == NULL)
            continue;
        if (tensor->dtype == DTYPE_BF16)
            code_helper(em, "bf16_of_f32");
        if (memory->tensors == 1 || !em->functions) {
            declare_array(em, name, tensor);
            continue;
        }
        size_t first = 0; /* of those that lie there */
        while (memory_of[first] != memory)
            first++;
        const char *array = arena_printf(em->arena, "memory%zu", memory->number);
        if (first == i) {
            buf_printf(&em->globals, "/* of %zu tensors, no two of which are needed at once */\n",
                       memory->tensors);
            declare_array(em, array, memory->largest);
        }
        buf_printf(&em->globals, "static %s *const %s = %s;\n", dtype_info[tensor->dtype].c_type,
                   name, array);
    }
}

void
code_name_storage(struct emitter *em)
{
    const struct program *program = em->schedule->program;
    em->storage = arena_array(em->arena, program->tensor_count + 1, sizeof *em->storage);
    em->ahead = arena_array(em->arena, program->tensor_count + 1, sizeof *em->ahead);
    for (size_t i = 0; i < program->tensor_count; i++)
        em->storage[i] = storage_name(em, program->tensors[i]);
    for (size_t i = 0; i < program->stage_count; i++) {
        const struct tensor *tensor = program->stages[i].tensor;
        em->storage[tensor->number] = em->storage[work_memory(em->schedule, tensor)->number];
    }
    declare_storage(em);
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
