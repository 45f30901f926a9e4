/* The trusted C of a program: built with gcc once, kept in the cache, loaded and run here.
 *
 * An object's name is the hash of all that went into it: text, flags, compiler, processor. It is
 * built under another name and renamed, so that what stands in the cache is always whole, whoever
 * else is building the same at the same time.
 */
#include "task/task.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/proc.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOREIGN_LIMIT (16 * 1024 * 1024)

typedef int
reference_entry(const void *const *in, double *const *v, double *const *g, double *const *c,
                double *const *term_v, double *const *term_g, double *const *term_c);
typedef void
kernel_entry(const void *const *in, void *const *out);

struct reference {
    const struct program *program;
    void *handle;
    reference_entry *reference;
    const int *exact; /* by output: g and c are zero */
    kernel_entry *kernel;
};

/* No fast-math, no contraction: the same text gives the same bits everywhere. The text has its own
 * vectors; what gcc would vectorize beside them is not worth its compile time, nor the internal
 * errors of that pass in gcc 12. */
static const char *const flags[] = {
    "-std=gnu17", "-O2", "-fno-tree-vectorize", "-march=native", "-fopenmp", "-shared",
};
#define FLAG_COUNT (sizeof flags / sizeof *flags)

static enum status
machine_error(struct diags *diags, const char *what, const char *detail)
{
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s: %s", what, detail);
    return STATUS_MACHINE;
}

/* ---- names ---- */

/* The line of /proc/cpuinfo that says what -march=native means here. */
static const char *
processor_flags(struct arena *arena)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char *line = NULL;
    size_t room = 0;
    const char *found = "";

    while (file && getline(&line, &room, file) > 0)
        if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0) {
            found = arena_strdup(arena, line);
            break;
        }
    free(line);
    if (file)
        fclose(file);
    return found;
}

static const char *
object_hash(struct arena *arena, const char *gcc, const char *text, size_t length)
{
    struct buf key = buf_in(arena);
    struct stat st = {0};
    char *hash = arena_alloc(arena, HASH_TEXT);

    if (stat(gcc, &st) != 0)
        st.st_size = 0;
    buf_printf(&key, "%s %lld %lld\n", gcc, (long long)st.st_size, (long long)st.st_mtime);
    buf_puts(&key, processor_flags(arena));
    for (size_t i = 0; i < FLAG_COUNT; i++)
        buf_printf(&key, "%s ", flags[i]);
    buf_add(&key, text, length);
    hash_sha256(key.data, key.length, hash);
    return hash;
}

/* ---- building ---- */

/* `blame` is whose fault it is when gcc refuses the text: ours for what we emitted, the caller's
 * for a file of theirs. */
static enum status
run_gcc(struct arena *arena, const char *source, const char *object, const char *level,
        enum status blame, struct diags *diags)
{
    const char *argv[FLAG_COUNT + 8];
    struct proc_result result;
    size_t n = 0;

    argv[n++] = "gcc";
    for (size_t i = 0; i < FLAG_COUNT; i++)
        argv[n++] = flags[i];
    argv[n++] = level;
    argv[n++] = "-o";
    argv[n++] = object;
    argv[n++] = source;
    argv[n++] = "-lm";
    argv[n] = NULL;
    if (proc_run(arena, &(struct proc_request){.argv = argv}, &result) != STATUS_OK)
        return machine_error(diags, "gcc could not be started", result.err);
    if (result.exit_code == 0)
        return STATUS_OK;
    if (strstr(result.err, "internal compiler error") && strcmp(level, "-O1") != 0)
        return run_gcc(arena, source, object, "-O1", blame, diags);
    machine_error(diags, "gcc refuses the reference", result.err);
    return blame;
}

static enum status
build(struct arena *arena, const struct buf *text, const char *object, enum status blame,
      struct diags *diags)
{
    const char *base = arena_printf(arena, "%s.%ld.%p", object, (long)getpid(), (void *)text);
    const char *source = arena_printf(arena, "%s.c", base);
    const char *fresh = arena_printf(arena, "%s.new", base);
    enum status status = file_write(source, text->data, text->length, diags);

    if (status == STATUS_OK)
        status = run_gcc(arena, source, fresh, "-O2", blame, diags);
    if (status == STATUS_OK && rename(fresh, object) != 0)
        status = machine_error(diags, object, strerror(errno));
    unlink(source);
    if (status != STATUS_OK)
        unlink(fresh);
    return status;
}

/* OpenMP's threads outlive the object that started them, so its library must stay. */
static void *
load_object(const char *path)
{
    void *openmp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (openmp)
        dlclose(openmp);
    return handle;
}

/* Loads the object of this text, building it if it is not there or cannot be loaded. */
static enum status
load(struct arena *arena, const struct buf *text, enum status blame, void **handle,
     struct diags *diags)
{
    const char *cache = file_cache_folder(arena), *gcc = proc_find(arena, "gcc");
    enum status status;

    if (!gcc)
        return machine_error(diags, "gcc", "not found in PATH; install it");
    if (!cache)
        return machine_error(diags, "cache", "no folder can be made; set XDG_CACHE_HOME");
    const char *folder = file_join(arena, cache, "objects");
    status = file_make_folder(folder, diags);
    if (status != STATUS_OK)
        return status;
    const char *name =
        arena_printf(arena, "%s.so", object_hash(arena, gcc, text->data, text->length));
    const char *object = file_join(arena, folder, name);
    if (access(object, R_OK) == 0 && (*handle = load_object(object)))
        return STATUS_OK;
    status = build(arena, text, object, blame, diags);
    if (status != STATUS_OK)
        return status;
    *handle = load_object(object);
    return *handle ? STATUS_OK : machine_error(diags, "dlopen", dlerror());
}

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

/* ---- opening ---- */

static struct reference *
new_reference(struct arena *arena, const struct program *program, void *handle)
{
    struct reference *reference = arena_alloc(arena, sizeof *reference);

    reference->program = program;
    reference->handle = handle;
    *(void **)&reference->reference = dlsym(handle, "hone_reference");
    *(void **)&reference->kernel = dlsym(handle, "hone_call");
    reference->exact = dlsym(handle, "hone_exact");
    return reference;
}

enum status
reference_open(struct arena *arena, const struct program *program,
               const struct emit_options *options, struct reference **reference,
               struct diags *diags)
{
    struct buf text = buf_in(arena);
    void *handle = NULL;
    enum status status;

    lang_emit(&text, program, options);
    if (options->form != EMIT_REFERENCE)
        add_wrapper(&text, program, "kernel");
    status = load(arena, &text, STATUS_MACHINE, &handle, diags);
    if (status == STATUS_OK)
        *reference = new_reference(arena, program, handle);
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

static enum status
check_memory(const struct program *program, struct diags *diags)
{
    struct lang_needs needs;
    double available = task_free_bytes();

    lang_reference_needs(program, &needs);
    if (needs.peak_bytes <= 0.95 * available)
        return STATUS_OK;
    diags_add(diags, DIAG_ERROR, (struct place){0},
              "the reference of %s (case %s) needs %.1f GB and %.1f GB are free; use smaller sizes",
              program->name, program->case_name, needs.peak_bytes / 1e9, available / 1e9);
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
    enum status status = check_memory(program, diags);

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
evaluate_foreign(struct arena *arena, const struct program *program, const void *const *inputs,
                 struct lang_result *results, struct diags *diags)
{
    struct buf text = buf_in(arena);
    const void **in = arena_array(arena, program->input_count + 1, sizeof *in);
    void **out = arena_array(arena, program->output_count + 1, sizeof *out);
    void *handle = NULL;
    enum status status = foreign_text(arena, program, &text, diags);

    if (status == STATUS_OK)
        status = load(arena, &text, STATUS_INPUT, &handle, diags);
    if (status != STATUS_OK)
        return status;
    struct reference *reference = new_reference(arena, program, handle);
    for (size_t i = 0; i < program->input_count; i++)
        in[i] = foreign_input(arena, program->tensors[i], inputs[i]);
    for (size_t o = 0; o < program->output_count; o++)
        out[o] = arena_array(arena, (size_t)program->outputs[o]->count, sizeof(double));
    reference->kernel(in, out);
    for (size_t o = 0; o < program->output_count; o++)
        foreign_result(arena, program->foreign, program->outputs[o], out[o], &results[o]);
    reference_close(reference);
    return STATUS_OK;
}

enum status
task_evaluate(struct arena *arena, const struct program *program, const void *const *inputs,
              struct lang_result *results, struct diags *diags)
{
    struct emit_options options = {.form = EMIT_REFERENCE};
    struct reference *reference = NULL;
    enum status status;

    if (program->foreign)
        return evaluate_foreign(arena, program, inputs, results, diags);
    options.denormals = task_has_denormals(program, inputs);
    status = reference_open(arena, program, &options, &reference, diags);
    if (status == STATUS_OK)
        status = reference_run(arena, reference, inputs, results, diags);
    reference_close(reference);
    return status;
}
