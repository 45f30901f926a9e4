/* PyTorch to compare with: a module or a model of a task, its builds, windows of times. */
#include "bridge/bridge_int.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "task/task.h"

#include <sched.h>
#include <string.h>

enum { LOAD_SECONDS = 600, BUILD_SECONDS = 1200, LARGEST_MODULE = 1 << 20, ALIGNMENT = 64 };

struct bridge {
    struct arena *arena;
    struct bridge__place place;
    unsigned threads;
    struct bridge__process *warm, *cold; /* cold: once it is asked for */
    unsigned modules;                    /* loaded so far */
};

struct bridge_module {
    struct bridge *bridge;
    unsigned id;
    const struct source *source; /* of a module in a file, for messages; or NULL */
    struct buf question;         /* that loads it */
    const struct program *program;
    const void *const *inputs; /* of a task, copied */
    bool loaded[2];            /* in the warm process, in the cold one */
};

static const char *const build_name[BRIDGE_BUILDS] = {
#define X(id, name, about) [BRIDGE_##id] = name,
    BRIDGE_BUILDS_TABLE(X)
#undef X
};

static const char *const build_about[BRIDGE_BUILDS] = {
#define X(id, name, about) [BRIDGE_##id] = about,
    BRIDGE_BUILDS_TABLE(X)
#undef X
};

const char *
bridge_build_name(enum bridge_build build)
{
    return build_name[build];
}

const char *
bridge_build_about(enum bridge_build build)
{
    return build_about[build];
}

/* ---- the bridge ---- */

static unsigned
processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

struct bridge *
bridge_open(struct arena *arena, const struct bridge_options *options, struct diags *diags)
{
    static const struct bridge_options usual = {0};
    struct bridge *bridge = arena_alloc(arena, sizeof *bridge);
    options = options != NULL ? options : &usual;
    bridge->arena = arena;
    bridge->threads = options->threads > 0 ? options->threads : processors();
    if (!bridge__find(arena, options->environment, &bridge->place, diags) ||
        bridge__start(arena, &bridge->place, BRIDGE__WARM, bridge->threads, &bridge->warm, diags) !=
            STATUS_OK)
        return NULL;
    return bridge;
}

void
bridge_close(struct bridge *bridge)
{
    if (bridge == NULL)
        return;
    bridge__stop(bridge->warm);
    bridge__stop(bridge->cold);
}

const char *
bridge_version(const struct bridge *bridge)
{
    return bridge__version(bridge->warm);
}

/* ---- loading ---- */

static bool
ask(struct bridge__process *process, const struct bridge_module *module, const struct buf *question,
    double seconds, struct diags *diags)
{
    json_t *answer;
    if (bridge__ask(process, question, seconds, module->source, &answer, diags) != STATUS_OK)
        return false;
    json_decref(answer);
    return true;
}

static size_t
bytes_of(const struct tensor *tensor)
{
    return (size_t)tensor->count * dtype_info[tensor->dtype].size;
}

static size_t
rounded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool
lay_inputs(struct bridge__process *process, const struct bridge_module *module, struct diags *diags)
{
    size_t total = 0;
    const struct program *program = module->program;
    for (size_t i = 0; i < program->input_count; i++)
        total += rounded(bytes_of(program->tensors[i]));
    char *at = bridge__memory(process, total > 0 ? total : ALIGNMENT);
    if (at == NULL) {
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "no memory to give PyTorch the inputs (%zu MB)", total >> 20);
        return false;
    }
    for (size_t i = 0; i < program->input_count; i++) {
        memcpy(at, module->inputs[i], bytes_of(program->tensors[i]));
        at += rounded(bytes_of(program->tensors[i]));
    }
    return true;
}

static bool
load_in(struct bridge__process *process, const struct bridge_module *module, struct diags *diags)
{
    if (module->program != NULL && !lay_inputs(process, module, diags))
        return false;
    return ask(process, module, &module->question, LOAD_SECONDS, diags);
}

static struct bridge_module *
new_module(struct bridge *bridge, const char *verb)
{
    struct bridge_module *module = arena_alloc(bridge->arena, sizeof *module);
    module->bridge = bridge;
    module->id = ++bridge->modules;
    module->question = buf_in(bridge->arena);
    buf_printf(&module->question, "{\"do\":\"%s\",\"id\":%u", verb, module->id);
    return module;
}

static void
put_shape(struct buf *out, const struct tensor *tensor)
{
    buf_puts(out, "[");
    for (unsigned d = 0; d < tensor->rank; d++)
        buf_printf(out, d > 0 ? ",%lld" : "%lld", (long long)tensor->size[d]);
    buf_puts(out, "]");
}

/* The worker compares them: it knows what the module's are called in a program. */
static void
put_shapes(struct buf *out, const struct program *program)
{
    buf_puts(out, ",\"shapes\":{");
    for (size_t i = 0; i < program->input_count; i++) {
        buf_puts(out, i > 0 ? "," : "");
        json_put_string(out, program->tensors[i]->name);
        buf_puts(out, ":");
        put_shape(out, program->tensors[i]);
    }
    buf_puts(out, "}");
}

static void
put_terms(struct buf *out, const struct bridge_terms *terms)
{
    buf_puts(out, ",\"sizes\":{");
    for (size_t i = 0; i < terms->size_count; i++) {
        buf_puts(out, i > 0 ? "," : "");
        json_put_string(out, terms->sizes[i].name);
        buf_printf(out, ":%lld", (long long)terms->sizes[i].value);
    }
    buf_puts(out, "}");
    json_field_bool(out, "train", terms->train);
    if (terms->program != NULL)
        put_shapes(out, terms->program);
    buf_puts(out, "}");
}

struct bridge_module *
bridge_load(struct bridge *bridge, const char *module_path, const struct bridge_terms *terms,
            struct diags *diags)
{
    static const struct bridge_terms usual = {0};
    struct bridge_module *module = new_module(bridge, "load");
    struct source *source = arena_alloc(bridge->arena, sizeof *source);
    if (file_read(bridge->arena, module_path, LARGEST_MODULE, source, diags) != STATUS_OK)
        return NULL;
    module->source = source;
    json_field_string(&module->question, "path", module_path);
    json_field_string(&module->question, "text", source->text);
    put_terms(&module->question, terms != NULL ? terms : &usual);
    module->loaded[0] = load_in(bridge->warm, module, diags);
    return module->loaded[0] ? module : NULL;
}

/* The first input is what a model works on; others with the clause of a weight are its weights. */
static bool
is_weight(const struct tensor *tensor)
{
    return tensor->input > 0 &&
           (tensor->domain.form == DOMAIN_SCALE ||
            (tensor->domain.form == DOMAIN_INTERVAL && dtype_is_float(tensor->dtype)));
}

static void
put_inputs(struct buf *out, const struct program *program)
{
    size_t offset = 0;
    buf_puts(out, ",\"tensors\":[");
    for (size_t i = 0; i < program->input_count; i++) {
        const struct tensor *tensor = program->tensors[i];
        buf_puts(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        json_put_string(out, tensor->name);
        json_field_string(out, "dtype", dtype_info[tensor->dtype].name);
        json_field_bool(out, "weight", is_weight(tensor));
        json_field_number(out, "offset", (double)offset);
        buf_puts(out, ",\"shape\":");
        put_shape(out, tensor);
        buf_puts(out, "}");
        offset += rounded(bytes_of(tensor));
    }
    buf_printf(out, "],\"bytes\":%zu}", offset > 0 ? offset : ALIGNMENT);
}

static const void *const *
copied(struct arena *arena, const struct program *program, const void *const *inputs)
{
    void **result = arena_array(arena, program->input_count + 1, sizeof *result);
    for (size_t i = 0; i < program->input_count; i++) {
        result[i] = arena_alloc(arena, bytes_of(program->tensors[i]));
        memcpy(result[i], inputs[i], bytes_of(program->tensors[i]));
    }
    return (const void *const *)result;
}

/* Names what the builds of a task follow from but the version of PyTorch: the model's text and
 * ours, sizes, threads, this machine. */
static const char *
key_of(const struct bridge *bridge, const char *task, const char *inputs)
{
    struct buf all = buf_in(bridge->arena);
    char hash[HASH_TEXT];
    buf_printf(&all, "%s %s %u %s", task, inputs, bridge->threads, task_machine_key(bridge->arena));
    for (const struct bridge_file *file = bridge__files; file->path != NULL; file++)
        buf_puts(&all, file->text);
    hash_sha256(all.data, all.length, hash);
    return arena_strdup(bridge->arena, hash);
}

struct bridge_module *
bridge_load_task(struct bridge *bridge, const char *task, const struct program *program,
                 const void *const *inputs, struct diags *diags)
{
    struct bridge_module *module = new_module(bridge, "task");
    module->program = program;
    module->inputs = copied(bridge->arena, program, inputs);
    struct buf inputs_text = buf_in(bridge->arena);
    put_inputs(&inputs_text, program);
    json_field_string(&module->question, "task", task);
    json_field_string(&module->question, "key", key_of(bridge, task, inputs_text.data));
    buf_puts(&module->question, inputs_text.data);
    module->loaded[0] = load_in(bridge->warm, module, diags);
    return module->loaded[0] ? module : NULL;
}

void
bridge_unload(struct bridge_module *module)
{
    struct bridge__process *processes[] = {module->bridge->warm, module->bridge->cold};
    struct diags *ignored = diags_create(module->bridge->arena, 1);
    struct buf question = buf_in(module->bridge->arena);
    buf_printf(&question, "{\"do\":\"unload\",\"id\":%u}", module->id);
    for (size_t i = 0; i < 2; i++)
        if (module->loaded[i])
            ask(processes[i], module, &question, LOAD_SECONDS, ignored);
}

/* ---- builds and times ---- */

/* The process of a build, with the module in it; NULL after a failure. */
static struct bridge__process *
process_for(struct bridge_module *module, enum bridge_build build, struct diags *diags)
{
    struct bridge *bridge = module->bridge;
    if (build != BRIDGE_SHIPPED)
        return bridge->warm;
    if (bridge->cold == NULL && bridge__start(bridge->arena, &bridge->place, BRIDGE__COLD,
                                              bridge->threads, &bridge->cold, diags) != STATUS_OK)
        return NULL;
    if (!module->loaded[1])
        module->loaded[1] = load_in(bridge->cold, module, diags);
    return module->loaded[1] ? bridge->cold : NULL;
}

bool
bridge_build(struct bridge_module *module, enum bridge_build build, struct diags *diags)
{
    struct bridge__process *process = process_for(module, build, diags);
    struct buf question = buf_in(module->bridge->arena);
    buf_printf(&question, "{\"do\":\"build\",\"id\":%u,\"build\":\"%s\"}", module->id,
               build_name[build]);
    return process != NULL && ask(process, module, &question, BUILD_SECONDS, diags);
}

size_t
bridge_window(struct bridge_module *module, enum bridge_build build, double seconds, double *us,
              size_t most, struct diags *diags)
{
    struct bridge__process *process = process_for(module, build, diags);
    struct buf question = buf_in(module->bridge->arena);
    size_t count = 0;
    json_t *answer;
    buf_printf(&question,
               "{\"do\":\"window\",\"id\":%u,\"build\":\"%s\",\"seconds\":%.9g,\"most\":%zu}",
               module->id, build_name[build], seconds, most);
    if (process == NULL || bridge__ask(process, &question, seconds + LOAD_SECONDS, module->source,
                                       &answer, diags) != STATUS_OK)
        return 0;
    const json_t *times = json_object_get(answer, "us");
    for (; count < most && count < json_array_size(times); count++)
        us[count] = json_number_value(json_array_get(times, count));
    json_decref(answer);
    return count;
}
