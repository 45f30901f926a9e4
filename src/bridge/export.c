/* A kernel in the forms that PyTorch takes: texts of bridge/export/ with the task's facts in them.
 */
#include "bridge/bridge_int.h"

#include "base/json.h"
#include "base/text.h"
#include "target/target.h"

#include <inttypes.h>
#include <string.h>

struct making {
    struct arena *arena;
    const struct program *program;
    const struct target *target;
    const struct target_kernel *kernel;
    const struct bridge_export *wish;
    struct bridge_output *outputs;
    size_t count;
};

static void
add(struct making *making, const char *name, const char *text)
{
    making->outputs = arena_grow(making->arena, making->outputs, making->count, making->count + 1,
                                 sizeof *making->outputs);
    making->outputs[making->count++] = (struct bridge_output){name, text};
}

/* ---- the facts, as Python ---- */

static void
put_shape(struct buf *out, const struct tensor *tensor)
{
    buf_puts(out, "(");
    for (unsigned d = 0; d < tensor->rank; d++)
        buf_printf(out, "%" PRId64 ",%s", tensor->size[d], d + 1 < tensor->rank ? " " : "");
    buf_puts(out, ")");
}

/* What may be drawn for an input: low, high, deviation. */
static void
put_domain(struct buf *out, const struct tensor *tensor)
{
    if (!dtype_is_float(tensor->dtype)) {
        int64_t low = tensor->low < -100 ? -100 : tensor->low;
        int64_t high = tensor->high > 100 && tensor->low < -100 ? 100 : tensor->high;
        buf_printf(out, ", %" PRId64 ", %" PRId64 ", None", low, high);
    } else if (tensor->domain.form == DOMAIN_INTERVAL)
        buf_printf(out, ", %.17g, %.17g, None", tensor->domain.low, tensor->domain.high);
    else if (tensor->domain.form == DOMAIN_SOFTMAX)
        buf_puts(out, ", 0.0, 1.0, None");
    else
        buf_printf(out, ", None, None, %.17g",
                   tensor->domain.form == DOMAIN_SCALE ? tensor->domain.low : 1.0);
}

static void
put_tensor(struct buf *out, const struct tensor *tensor, bool input)
{
    buf_printf(out, "    (\"%s\", \"%s\", ", tensor->name, dtype_info[tensor->dtype].name);
    put_shape(out, tensor);
    if (input)
        put_domain(out, tensor);
    buf_puts(out, "),\n");
}

static void
put_flags(struct buf *out, const struct making *making)
{
    const char *const *flags =
        target_arguments(making->arena, making->target, making->kernel, NULL);
    buf_puts(out, "FLAGS = [");
    for (size_t i = 0; flags[i] != NULL; i++) {
        buf_puts(out, i > 0 ? ", " : "");
        json_put_string(out, flags[i]);
    }
    buf_puts(out, "]\n");
}

static const char *
facts_of(const struct making *making)
{
    const struct program *program = making->program;
    struct buf out = buf_in(making->arena);
    buf_printf(&out, "NAME = \"%s\"\nINPUTS = [  # name, type, shape; low and high, or deviation\n",
               program->name);
    for (size_t i = 0; i < program->input_count; i++)
        put_tensor(&out, program->tensors[i], true);
    buf_puts(&out, "]\nOUTPUTS = [\n");
    for (size_t i = 0; i < program->output_count; i++)
        put_tensor(&out, program->outputs[i], false);
    buf_printf(&out, "]\nCOMPILER = \"%s\"\n", making->target->compiler);
    put_flags(&out, making);
    return out.data;
}

/* ---- texts ---- */

/* The text with every `mark` replaced. */
static const char *
filled(struct arena *arena, const char *text, const char *mark, const char *by)
{
    struct buf out = buf_in(arena);
    for (const char *at; (at = strstr(text, mark)) != NULL; text = at + strlen(mark)) {
        buf_add(&out, text, (size_t)(at - text));
        buf_puts(&out, by);
    }
    buf_puts(&out, text);
    return out.data;
}

static const char *
template_of(const struct making *making, const char *path)
{
    const struct bridge_file *file = bridge__files;
    while (strcmp(file->path, path) != 0)
        file++;
    return filled(making->arena, file->text, "# @FACTS@\n", facts_of(making));
}

/* The kernel as the judge builds it: with prelude and sizes. */
static const char *
kernel_text(const struct making *making)
{
    struct buf out = buf_in(making->arena);
    target_source(&out, making->target, making->program, "kernel.c", making->kernel);
    return out.data;
}

static const char *
plain_text(const struct making *making)
{
    struct buf out = buf_in(making->arena);
    lang_emit(&out, making->program, &(struct emit_options){.form = EMIT_NAIVE});
    return out.data;
}

static void
add_sources(struct making *making)
{
    size_t count;
    const struct target_file *const *files =
        target_files(making->arena, making->target, making->kernel, &count);
    add(making, "kernel.c", kernel_text(making));
    for (size_t i = 0; i < count; i++)
        add(making, files[i]->name, files[i]->text);
}

static void
export_pytorch(struct making *making)
{
    add(making, arena_printf(making->arena, "%s.py", making->program->name),
        filled(making->arena, template_of(making, "export/operator.py"), "NAME                ",
               arena_printf(making->arena, "%-20s", making->program->name)));
    add(making, "test.py", template_of(making, "export/test.py"));
    add_sources(making);
    add(making, "plain.c", plain_text(making));
    if (making->wish->module != NULL)
        add(making, "module.py", making->wish->module);
}

/* A text as Python writes it, line by line where that is possible. */
static void
put_text(struct buf *out, const char *text)
{
    if (strstr(text, "'''") != NULL || text_ends(text, "\\") || text_ends(text, "'"))
        json_put_string(out, text);
    else
        buf_printf(out, "r'''%s'''", text);
}

/* SOURCES = {"kernel.c": TEXT, ...} */
static const char *
sources_of(struct making *making)
{
    struct buf out = buf_in(making->arena);
    buf_puts(&out, "SOURCES = {\n");
    for (size_t i = 0; i < making->count; i++) {
        buf_puts(&out, "    ");
        json_put_string(&out, making->outputs[i].name);
        buf_puts(&out, ": ");
        put_text(&out, making->outputs[i].text);
        buf_puts(&out, ",\n");
    }
    buf_puts(&out, "}\n");
    return out.data;
}

static void
put_list(struct buf *out, const char *format, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_puts(out, out->length > 0 ? ", " : "");
        buf_puts(out, filled(out->arena, format, "%", arena_printf(out->arena, "%zu", i)));
    }
}

static void
export_kernelbench(struct making *making)
{
    struct arena *arena = making->arena;
    struct buf pointers = buf_in(arena), arguments = buf_in(arena);
    size_t in = making->program->input_count, outs = making->program->output_count;
    put_list(&pointers, "const void *", in);
    put_list(&pointers, "void *", outs);
    put_list(&arguments, "in[%].data_ptr()", in);
    put_list(&arguments, "out[%].data_ptr()", outs);
    const char *text = template_of(making, "export/model_new.py");
    add_sources(making);
    const char *module = making->wish->module != NULL ? making->wish->module : "";
    text = filled(arena, text, "# @MODULE@\n",
                  arena_printf(arena, "%s%s\n", sources_of(making), module));
    text = filled(arena, text, "@POINTERS@", pointers.data);
    text = filled(arena, text, "@ARGUMENTS@", arguments.data);
    making->count = 0;
    add(making, arena_printf(arena, "%s_new.py", making->program->name), text);
}

enum status
bridge_export(struct arena *arena, const struct program *program, const struct bridge_export *wish,
              struct bridge_output **outputs, size_t *count, struct diags *diags)
{
    struct target_kernel kernel;
    struct target_fault fault;
    struct making making = {.arena = arena,
                            .program = program,
                            .target = target_find("cpu"),
                            .kernel = &kernel,
                            .wish = wish};
    if (program->foreign != NULL) {
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "%s has a reference in C instead of stages; PyTorch's form needs stages",
                  program->name);
        return STATUS_INPUT;
    }
    if (!target_read(arena, making.target, program, wish->kernel->text, wish->kernel->length,
                     &kernel, &fault)) {
        diags_add(diags, DIAG_ERROR, (struct place){wish->kernel, fault.line, 0}, "%s",
                  fault.message);
        return STATUS_INPUT;
    }
    if (wish->form == BRIDGE_PYTORCH)
        export_pytorch(&making);
    else
        export_kernelbench(&making);
    *outputs = making.outputs;
    *count = making.count;
    return STATUS_OK;
}
