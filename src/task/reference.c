/* The trusted C of a program, or what its author gave as `reference "file.c"`: opened and run. */
#include "task/task_int.h"

#include "base/file.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>

#define FOREIGN_LIMIT (16 * 1024 * 1024)
#define NEVER_REFUSED 16e6 /* bytes */

static enum status
machine_error(struct diags *diags, const char *what, const char *detail)
{
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s: %s", what, detail);
    return STATUS_MACHINE;
}

/* ---- texts ---- */

/* Calls a function of many pointers from two arrays. */
static void
add_wrapper(struct buf *text, const struct program *program, const char *name)
{
    buf_printf(text, "\nvoid\nhone_call(const void *const *in, void *const *out)\n{\n    %s(",
               name);
    for (size_t i = 0; i < program->input_count; i++)
        buf_printf(text, "%sin[%zu]", i ? ", " : "", i);
    for (size_t o = 0; o < program->output_count; o++)
        buf_printf(text, "%sout[%zu]", o + program->input_count ? ", " : "", o);
    buf_puts(text, ");\n}\n");
}

/* The user's file behind the sizes as macros; its text is part of the hash. */
static enum status
foreign_text(struct arena *arena, const struct program *program, struct buf *text,
             struct diags *diags)
{
    struct source source;
    enum status status = file_read(arena, program->foreign->path, FOREIGN_LIMIT, &source, diags);

    if (status != STATUS_OK)
        return status;
    buf_puts(text, "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n"
                   "#include <stdlib.h>\n#include <string.h>\n");
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(text, "#define %s %lld\n", program->dims[i].name,
                   (long long)program->dims[i].size);
    for (size_t i = 0; i < program->const_count; i++)
        buf_printf(text, "#define %s %lld\n", program->const_names[i],
                   (long long)program->const_values[i]);
    buf_printf(text, "#line 1 \"%s\"\n", program->foreign->path);
    buf_add(text, source.text, source.length);
    add_wrapper(text, program, "reference");
    return STATUS_OK;
}

static enum status
make_text(struct arena *arena, const struct program *program, const struct emit_options *options,
          struct object *object, struct diags *diags)
{
    object->text = buf_in(arena);
    object->blame = program->foreign ? STATUS_INPUT : STATUS_MACHINE;
    if (program->foreign)
        return foreign_text(arena, program, &object->text, diags);
    lang_emit(&object->text, program, options);
    if (options->form != EMIT_REFERENCE)
        add_wrapper(&object->text, program, "kernel");
    return STATUS_OK;
}

/* ---- opening ---- */

static struct reference
new_reference(const struct program *program, double peak_bytes, void *handle)
{
    struct reference reference = {.program = program, .peak_bytes = peak_bytes, .handle = handle};

    *(void **)&reference.reference = dlsym(handle, "hone_reference");
    *(void **)&reference.kernel = dlsym(handle, "hone_call");
    reference.exact = dlsym(handle, "hone_exact");
    return reference;
}

enum status
reference_open_all(struct arena *arena, const struct program *program,
                   const struct emit_options *options, size_t count, struct reference *references,
                   struct diags *diags)
{
    struct object *objects = arena_array(arena, count, sizeof *objects);
    enum status status = STATUS_OK;
    struct lang_needs needs;

    lang_reference_needs(program, &needs);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = make_text(arena, program, &options[i], &objects[i], diags);
    if (status == STATUS_OK)
        status = object_load(arena, objects, count, diags);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        references[i] = new_reference(program, needs.peak_bytes, objects[i].handle);
    return status;
}

enum status
reference_open(struct arena *arena, const struct program *program,
               const struct emit_options *options, struct reference **reference,
               struct diags *diags)
{
    struct reference *opened = arena_alloc(arena, sizeof *opened);
    enum status status = reference_open_all(arena, program, options, 1, opened, diags);

    if (status == STATUS_OK)
        *reference = opened;
    return status;
}

void
reference_close(struct reference *reference)
{
    if (reference && reference->handle)
        dlclose(reference->handle);
    if (reference)
        reference->handle = NULL;
}

/* ---- running ---- */

/* What the machine could still give, or infinity if it does not say. */
double
task_free_bytes(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[256];
    double kilobytes = INFINITY;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lf", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

/* What little is asked for is not worth asking the system. */
static enum status
check_memory(const struct reference *reference, struct diags *diags)
{
    const struct program *program = reference->program;
    double needed = reference->peak_bytes;
    double available = needed > NEVER_REFUSED ? task_free_bytes() : INFINITY;

    if (needed <= 0.95 * available)
        return STATUS_OK;
    diags_add(diags, DIAG_ERROR, (struct place){0},
              "the reference of %s (case %s) needs %.1f GB and %.1f GB are free; use smaller sizes",
              program->name, program->case_name, needed / 1e9, available / 1e9);
    return STATUS_INPUT;
}

double
task_needed_bytes(const struct program *program)
{
    struct lang_needs needs = {0};
    double bytes = 0;

    for (size_t i = 0; i < program->input_count; i++)
        bytes += (double)program->tensors[i]->count *
                 (double)dtype_info[program->tensors[i]->dtype].size;
    if (!program->foreign)
        lang_reference_needs(program, &needs);
    return bytes + needs.peak_bytes;
}

static int64_t
shown_terms(const struct tensor *tensor)
{
    const struct expr *code = tensor->stage ? tensor->stage->code : NULL;

    if (!code || code->op != OP_REDUCE || code->binder->reduction < REDUCE_ARGMAX)
        return 0;
    return expr_integer(code->binder->extent[0]);
}

static void
make_result(struct arena *arena, const struct tensor *tensor, bool exact,
            struct lang_result *result)
{
    size_t count = (size_t)tensor->count;

    *result = (struct lang_result){.tensor = tensor, .terms = shown_terms(tensor)};
    result->v = arena_array(arena, count, sizeof(double));
    if (!exact) {
        result->g = arena_array(arena, count, sizeof(double));
        result->c = arena_array(arena, count, sizeof(double));
    }
    if (result->terms == 0)
        return;
    count *= (size_t)result->terms;
    result->term_v = arena_array(arena, count, sizeof(double));
    if (!exact) {
        result->term_g = arena_array(arena, count, sizeof(double));
        result->term_c = arena_array(arena, count, sizeof(double));
    }
}

enum status
reference_run(struct arena *arena, struct reference *reference, const void *const *inputs,
              struct lang_result *results, struct diags *diags)
{
    const struct program *program = reference->program;
    size_t count = program->output_count;
    double **columns[6];
    enum status status = check_memory(reference, diags);

    if (status != STATUS_OK)
        return status;
    for (size_t k = 0; k < 6; k++)
        columns[k] = arena_array(arena, count + 1, sizeof *columns[k]);
    for (size_t o = 0; o < count; o++) {
        struct lang_result *r = &results[o];
        make_result(arena, program->outputs[o], reference->exact[o], r);
        double *column[6] = {r->v, r->g, r->c, r->term_v, r->term_g, r->term_c};
        for (size_t k = 0; k < 6; k++)
            columns[k][o] = column[k];
    }
    if (reference->reference(inputs, columns[0], columns[1], columns[2], columns[3], columns[4],
                             columns[5]) == 0)
        return STATUS_OK;
    return machine_error(diags, program->name, "memory ran out in the reference");
}

void
reference_run_kernel(struct reference *reference, const void *const *inputs, void *const *outputs)
{
    reference->kernel(inputs, outputs);
}

/* ---- `reference "file.c"` ---- */

/* Floats become double, integers stay as they are. */
static const void *
foreign_input(struct arena *arena, const struct tensor *tensor, const void *data)
{
    double *wide;

    if (!dtype_is_float(tensor->dtype))
        return data;
    wide = arena_array(arena, (size_t)tensor->count, sizeof *wide);
    for (int64_t i = 0; i < tensor->count; i++)
        wide[i] = dtype_element(tensor->dtype, data, i);
    return wide;
}

/* The gate 6g is then what the file's author allows. */
static void
foreign_result(struct arena *arena, const struct foreign *foreign, const struct tensor *tensor,
               const void *data, struct lang_result *result)
{
    make_result(arena, tensor, false, result);
    for (int64_t i = 0; i < tensor->count; i++) {
        double v = dtype_is_float(tensor->dtype) ? ((const double *)data)[i]
                                                 : dtype_element(tensor->dtype, data, i);
        result->v[i] = v;
        if (!isfinite(v))
            continue;
        result->g[i] = (foreign->relative * fabs(v) + foreign->absolute) / 6;
        result->c[i] = INFINITY;
    }
}

static enum status
evaluate_foreign(struct arena *arena, struct reference *reference, const void *const *inputs,
                 struct lang_result *results)
{
    const struct program *program = reference->program;
    const void **in = arena_array(arena, program->input_count + 1, sizeof *in);
    void **out = arena_array(arena, program->output_count + 1, sizeof *out);

    for (size_t i = 0; i < program->input_count; i++)
        in[i] = foreign_input(arena, program->tensors[i], inputs[i]);
    for (size_t o = 0; o < program->output_count; o++)
        out[o] = arena_array(arena, (size_t)program->outputs[o]->count, sizeof(double));
    reference->kernel(in, out);
    for (size_t o = 0; o < program->output_count; o++)
        foreign_result(arena, program->foreign, program->outputs[o], out[o], &results[o]);
    return STATUS_OK;
}

/* ---- either ---- */

enum status
reference_evaluate(struct arena *arena, struct reference *reference, const void *const *inputs,
                   struct lang_result *results, struct diags *diags)
{
    if (reference->program->foreign)
        return evaluate_foreign(arena, reference, inputs, results);
    return reference_run(arena, reference, inputs, results, diags);
}

enum status
task_evaluate(struct arena *arena, const struct program *program, const void *const *inputs,
              struct lang_result *results, struct diags *diags)
{
    struct emit_options options = {.form = EMIT_REFERENCE};
    struct reference reference = {0};
    enum status status;

    options.denormals = !program->foreign && task_has_denormals(program, inputs);
    status = reference_open_all(arena, program, &options, 1, &reference, diags);
    if (status == STATUS_OK)
        status = reference_evaluate(arena, &reference, inputs, results, diags);
    reference_close(&reference);
    return status;
}
