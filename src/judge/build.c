/* A kernel's text becomes an object for each case: read, compiled in the jail, audited.
 *
 * All that can be wrong with a text is a verdict: `rejected` where it breaks the contract (what it
 * declares, what its object contains), `build_failed` where the compiler refuses it or breaks. */
#include "judge/judge_int.h"

#include "base/hash.h"
#include "base/proc.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { QUICK_VERDICTS = 16 }; /* that share their inputs: see doc/judge.md */

static const char *const libraries[] = {"libc.so.6",
                                        "libm.so.6",
                                        "libgomp.so.1",
                                        "libmvec.so.1",
                                        "ld-linux-x86-64.so.2",
                                        "ld-linux-aarch64.so.1",
                                        NULL};

/* ---- the audit ---- */

/* Every name that the contract allows, as the audit wants them. */
static const char *const *
allowed_symbols(struct arena *arena, const struct target *target)
{
    const char **list = NULL;
    size_t count = 0, capacity = 0;

    for (const struct target_symbols *row = target->symbols; row && row->what; row++) {
        char *next = arena_strdup(arena, row->names), *name;
        size_t variants = 1 + (row->suffixes ? strlen(row->suffixes) : 0);

        while ((name = strsep(&next, " "))) {
            if (!*name)
                continue;
            if (count + variants + 1 > capacity) {
                capacity = 2 * (count + variants + 1);
                list = arena_grow(arena, list, count, capacity, sizeof *list);
            }
            list[count++] = name;
            for (size_t i = 0; i + 1 < variants; i++)
                list[count++] = arena_printf(arena, "%s%c", name, row->suffixes[i]);
        }
    }
    list = arena_grow(arena, list, count, count + 1, sizeof *list);
    return list;
}

/* True if it may be run. */
static bool
passes_audit(struct arena *arena, const struct target *target, struct judge__object *object,
             struct judge_report *report)
{
    const char *const exports[] = {target->entry, NULL};
    struct box_audit_rules rules = {allowed_symbols(arena, target), libraries, exports};
    struct box_audit audit = {{0}, 0, 0};
    void *bytes = mmap(NULL, object->bytes, PROT_READ, MAP_SHARED, object->fd, 0);
    bool passed = bytes != MAP_FAILED && box_audit(bytes, object->bytes, &rules, &audit);

    if (bytes != MAP_FAILED)
        munmap(bytes, object->bytes);
    object->scratch = audit.writable_bytes;
    report->status = JUDGE_REJECTED;
    if (!passed) {
        report->reason =
            arena_printf(arena, "%s; see hone contract %s", audit.reason, target->name);
        return false;
    }
    if (audit.writable_bytes > target->limits.scratch_bytes) {
        report->reason = arena_printf(
            arena, "%.1f GB of static variables; at most %.1f GB may be used",
            (double)audit.writable_bytes / 1e9, (double)target->limits.scratch_bytes / 1e9);
        return false;
    }
    report->status = JUDGE_BUILT;
    return true;
}

/* ---- the compiler ---- */

/* The target's own headers that the text includes: they are laid beside it. */
static const struct box_text *
files_of(struct arena *arena, const struct target *target, const struct judge__source *source,
         size_t *count)
{
    struct target_kernel text = {.text = source->text, .length = source->length};
    const struct target_file *const *files = target_files(arena, target, &text, count);
    struct box_text *texts = arena_array(arena, *count + 1, sizeof *texts);

    for (size_t i = 0; i < *count; i++)
        texts[i] = (struct box_text){files[i]->name, files[i]->text, strlen(files[i]->text)};
    return texts;
}

static const char *
key_of(const struct judge *judge, struct arena *arena, const struct target *target,
       const struct judge__source *source)
{
    struct buf buf = buf_in(arena);
    const char *path = proc_find(arena, source->compiler);
    char *key = arena_alloc(arena, HASH_TEXT);
    struct stat facts = {0};
    size_t count;
    const struct box_text *files = files_of(arena, target, source, &count);

    if (path && stat(path, &facts) != 0)
        facts.st_size = 0;
    buf_printf(&buf, "3 %s\n%s %lld %lld\n%s\n", judge->key, path ? path : "",
               (long long)facts.st_size, (long long)facts.st_mtime, source->file);
    for (const char *const *flag = source->flags; *flag; flag++)
        buf_printf(&buf, "%s\n", *flag);
    buf_printf(&buf, "%zu %zu\n%s%s", source->headers ? strlen(source->headers) : 0,
               strlen(source->defines), source->headers ? source->headers : "", source->defines);
    for (size_t i = 0; i < count; i++)
        buf_printf(&buf, "%s %zu\n%s", files[i].name, files[i].length, files[i].text);
    buf_add(&buf, source->text, source->length);
    hash_sha256(buf.data, buf.length, key);
    return key;
}

/* The first error, and how many there are. */
static void
tell_errors(struct arena *arena, const struct judge__source *source,
            const struct box_compile_result *result, struct judge_report *report)
{
    const char *error = strstr(result->diagnostics, " error: "), *line = error;
    size_t count = 0;

    report->details = result->diagnostics;
    if (!error) {
        report->reason = result->reason;
        return;
    }
    for (const char *at = error; at; at = strstr(at + 1, " error: "))
        count++;
    while (line > result->diagnostics && line[-1] != '\n')
        line--;
    size_t name = strlen(source->file);
    if (!strncmp(line, source->file, name) && line[name] == ':')
        report->line = (uint32_t)strtoul(line + name + 1, NULL, 10);
    error += strlen(" error: ");
    struct buf reason = buf_in(arena);
    buf_add(&reason, error, strcspn(error, "\n"));
    if (count > 1)
        buf_printf(&reason, "  (%zu errors below)", count);
    report->reason = reason.data;
}

/* A whole network is a megabyte of text: half a minute of honest work. */
static struct box_compile_limits
limits_of(const struct judge__source *source)
{
    static const double USUAL = 10, EACH = 30; /* seconds; for each megabyte */
    double cpu = USUAL + EACH * (double)source->length / 1e6;

    return (struct box_compile_limits){.wall_seconds = 2 * cpu, .cpu_seconds = cpu};
}

static enum status
compile(struct judge *judge, struct arena *arena, const struct target *target,
        const struct judge__source *source, struct judge__object *object,
        struct judge_report *report, struct diags *diags)
{
    const char *const exports[] = {target->entry, NULL};
    struct box_compile_request request = {
        .compiler = source->compiler,
        .flags = source->flags,
        .source = {source->file, source->text, source->length},
        .prelude = source->headers,
        .defines = source->defines,
        .exports = exports,
        .limits = limits_of(source),
    };
    struct box_compile_result result;
    request.headers = files_of(arena, target, source, &request.header_count);
    enum status status = box_compile(judge->box, arena, &request, &result, diags);

    if (status != STATUS_OK)
        return status;
    report->compile_seconds += result.seconds;
    if (result.build != BOX_BUILT) {
        report->status = JUDGE_BUILD_FAILED;
        tell_errors(arena, source, &result, report);
        return STATUS_OK;
    }
    object->fd = result.object;
    object->bytes = result.object_bytes;
    return STATUS_OK;
}

enum status
judge__object(struct judge *judge, struct arena *arena, const struct target *target,
              const struct judge__source *source, struct judge__object *object,
              struct judge_report *report, struct diags *diags)
{
    const char *key = key_of(judge, arena, target, source);
    bool cached;

    report->status = JUDGE_BUILT;
    object->source = source->file;
    object->fd = judge__cache_get(judge, key, &object->bytes);
    cached = object->fd >= 0;
    if (!cached) {
        enum status status = compile(judge, arena, target, source, object, report, diags);
        if (status != STATUS_OK || report->status != JUDGE_BUILT)
            return status;
        report->from_cache = false;
    }
    if (!passes_audit(arena, target, object, report)) {
        close(object->fd);
        object->fd = -1;
    } else if (!cached) {
        judge__cache_put(judge, key, object->fd, object->bytes);
    }
    return STATUS_OK;
}

/* ---- a kernel ---- */

/* The file's last part, as a name that the jail can have. */
static const char *
plain_name(struct arena *arena, const char *file, const char *suffix)
{
    const char *slash = strrchr(file, '/');
    char *name = arena_strndup(arena, slash ? slash + 1 : file, 100);

    for (char *at = name; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", *at))
            *at = '_';
    if (!*name || *name == '.' || *name == '-' || !text_ends(name, suffix))
        return arena_printf(arena, "kernel%s", suffix);
    return name;
}

static const char *
defines_of(struct arena *arena, const struct judge_task *task, size_t number,
           const struct target_kernel *read)
{
    struct buf buf = buf_in(arena);

    target_put_defines(&buf, task->target, task->cases[number].program, read);
    buf_printf(&buf, "#define HONE_THREADS %u\n", task->threads);
    return buf.data;
}

static const char *
headers_of(struct arena *arena, const struct target *target, const struct target_kernel *read)
{
    struct buf buf = buf_in(arena);

    target_put_headers(&buf, target, read);
    return buf.data;
}

struct judge__source
judge__source_of(const struct judge_task *task, struct arena *arena, const char *file,
                 size_t number, const struct target_kernel *read)
{
    const struct target *target = task->target;
    struct target_kernel without = *read;

    without.tune_count = 0;
    return (struct judge__source){
        .compiler = target->compiler,
        .flags = target_arguments(arena, target, &without, NULL),
        .headers = headers_of(arena, target, read),
        .defines = defines_of(arena, task, number, read),
        .file = plain_name(arena, file, target->suffix),
        .text = read->text,
        .length = read->length,
    };
}

static enum status
build_case(struct judge_kernel *kernel, struct arena *arena, size_t number,
           const struct target_kernel *read, struct judge_report *report, struct diags *diags)
{
    struct judge_task *task = kernel->task;
    const struct target *target = task->target;
    const struct program *program = task->cases[number].program;
    struct judge__source source = judge__source_of(task, arena, kernel->file, number, read);
    struct target_fault fault;

    source.file = arena_strdup(kernel->arena, source.file); /* the object names it */
    enum status status =
        judge__object(task->judge, arena, target, &source, &kernel->objects[number], report, diags);
    if (status == STATUS_OK && report->status != JUDGE_BUILT)
        report->case_name = task->case_count > 1 ? program->case_name : NULL;
    if (status == STATUS_OK && report->status == JUDGE_BUILD_FAILED &&
        target_explain(arena, target, program, read, report->details, &fault)) {
        report->reason = fault.message;
        report->line = fault.line;
    }
    return status;
}

static struct judge_kernel *
new_kernel(struct judge_task *task, const char *file)
{
    struct arena *arena = arena_create();
    struct judge_kernel *kernel;

    if (!arena)
        return NULL;
    kernel = arena_alloc(arena, sizeof *kernel);
    kernel->task = task;
    kernel->arena = arena;
    kernel->file = arena_strdup(arena, file);
    kernel->object_count = task->case_count;
    kernel->objects = arena_array(arena, task->case_count, sizeof *kernel->objects);
    for (size_t i = 0; i < kernel->object_count; i++)
        kernel->objects[i].fd = -1;
    return kernel;
}

static void
begin_report(struct judge_task *task, struct arena *arena, struct judge_report *report)
{
    bool renew = task->effort != JUDGE_QUICK || task->verdicts % QUICK_VERDICTS == 0;

    if (!task->seeded && !task->same_inputs && renew)
        task->seed = judge__secret();
    task->verdicts++;
    *report = (struct judge_report){
        .status = JUDGE_BUILT,
        .reason = "",
        .details = "",
        .flags = "",
        .compiler = task->target->compiler,
        .threads = task->threads,
        .seed = task->seed,
        .cases = arena_array(arena, task->case_count, sizeof *report->cases),
        .case_count = task->case_count,
        .from_cache = true,
        .deterministic = true,
        .same_bits = true,
    };
    for (size_t i = 0; i < task->case_count; i++) {
        report->cases[i].program = task->cases[i].program;
        report->cases[i].light = task->cases[i].light;
        report->kinds =
            report->kinds > task->cases[i].kind_count ? report->kinds : task->cases[i].kind_count;
    }
}

enum status
judge_build(struct judge_task *task, struct arena *arena, const char *file, const char *text,
            size_t length, struct judge_kernel **result, struct judge_report *report,
            struct diags *diags)
{
    struct target_kernel read = {0};
    struct target_fault fault;
    struct buf flags = buf_in(arena);
    enum status status = STATUS_OK;

    *result = NULL;
    begin_report(task, arena, report);
    if (!target_read(arena, task->target, task->cases[0].program, text, length, &read, &fault)) {
        report->status = JUDGE_REJECTED;
        report->reason = text_printable(arena_strdup(arena, fault.message));
        report->line = fault.line;
        return STATUS_OK;
    }
    target_put_flags(&flags, task->target, &read, NULL);
    report->flags = flags.data;
    struct judge_kernel *kernel = new_kernel(task, file);
    if (!kernel)
        return judge__no_memory(diags);
    kernel->flags = arena_strdup(kernel->arena, flags.data);
    for (size_t i = 0; i < task->case_count && status == STATUS_OK; i++) {
        judge__progress(task->judge, "%s  building %s", file, task->cases[i].program->case_name);
        status = build_case(kernel, arena, i, &read, report, diags);
        if (report->status != JUDGE_BUILT)
            break;
    }
    report->reason = text_printable(arena_strdup(arena, report->reason));
    report->details = text_printable(arena_strdup(arena, report->details));
    if (status == STATUS_OK && report->status == JUDGE_BUILT)
        *result = kernel;
    else
        judge_kernel_close(kernel);
    return status;
}

void
judge_kernel_close(struct judge_kernel *kernel)
{
    if (!kernel)
        return;
    for (size_t i = 0; i < kernel->object_count; i++)
        if (kernel->objects[i].fd >= 0)
            close(kernel->objects[i].fd);
    arena_destroy(kernel->arena);
}
