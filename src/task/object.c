/* Trusted C becomes something that can be called: built with gcc once, kept in the cache, loaded.
 *
 * An object's name is the hash of all that went into it: text, flags, compiler, processor. It is
 * built under another name and renamed, so that what stands in the cache is always whole, whoever
 * else is building the same at the same time.
 *
 * Several objects are built by two workers, each with an arena of its own: the caller's may jump
 * away when memory is short, and nobody would wait for the other worker then.
 */
#include "task/task_int.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORKERS = 2 };

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
    char line[16 * 1024] = "";
    bool found = false;

    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0;
    if (file)
        fclose(file);
    return arena_strdup(arena, found ? line : "");
}

/* What all objects built here have in common. */
static const char *
common_key(struct arena *arena, const char *gcc)
{
    struct buf key = buf_in(arena);
    struct stat st = {0};

    if (stat(gcc, &st) != 0)
        st.st_size = 0;
    buf_printf(&key, "%s %lld %lld\n", gcc, (long long)st.st_size, (long long)st.st_mtime);
    buf_puts(&key, processor_flags(arena));
    for (size_t i = 0; i < FLAG_COUNT; i++)
        buf_printf(&key, "%s ", flags[i]);
    return key.data;
}

static const char *
object_path(struct arena *arena, const char *folder, const char *common, const struct buf *text)
{
    struct buf key = buf_in(arena);
    char hash[HASH_TEXT];

    buf_puts(&key, common);
    buf_add(&key, text->data, text->length);
    hash_sha256(key.data, key.length, hash);
    return file_join(arena, folder, arena_printf(arena, "%s.so", hash));
}

/* ---- building one ---- */

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
    if (*text_trim(result.err) == '\0')
        return machine_error(diags, "the reference",
                             arena_printf(arena, "gcc ended without a word (%s %d)",
                                          result.signal ? "signal" : "exit code",
                                          result.signal ? result.signal : result.exit_code));
    machine_error(diags, "gcc refuses the reference", result.err);
    return blame;
}

struct job {
    const struct object *object;
    const char *path;           /* where it stands, or shall stand */
    const char *source, *fresh; /* while it is built */
};

static enum status
build(struct arena *arena, const struct job *job, struct diags *diags)
{
    const struct buf *text = &job->object->text;
    enum status status = file_write(job->source, text->data, text->length, diags);

    if (status == STATUS_OK)
        status = run_gcc(arena, job->source, job->fresh, "-O2", job->object->blame, diags);
    if (status == STATUS_OK && rename(job->fresh, job->path) != 0)
        status = machine_error(diags, job->path, strerror(errno));
    return status;
}

/* ---- building several ---- */

struct worker {
    const struct job *jobs; /* shared by all */
    size_t count;
    atomic_size_t *next;
    const struct job *now;
    enum status status;
    char message[TASK_MESSAGE]; /* the first of what went wrong */
};

/* The next job; after a failure there is none. */
static bool
take_job(struct worker *worker)
{
    size_t next = worker->status == STATUS_OK ? atomic_fetch_add(worker->next, 1) : worker->count;

    worker->now = next < worker->count ? &worker->jobs[next] : NULL;
    if (worker->status != STATUS_OK)
        atomic_store(worker->next, worker->count);
    return worker->now;
}

static void
work_in(struct worker *worker, struct arena *arena)
{
    struct diags *diags = diags_create(arena, 0);

    while (take_job(worker)) {
        worker->status = build(arena, worker->now, diags);
        unlink(worker->now->source);
        unlink(worker->now->fresh);
        if (worker->status != STATUS_OK && diags_count(diags) > 0)
            snprintf(worker->message, sizeof worker->message, "%s", diags_get(diags, 0)->message);
    }
}

static void *
work(void *data)
{
    struct worker *worker = data;
    struct arena *arena = arena_create();
    jmp_buf no_memory;

    worker->status = STATUS_MACHINE;
    snprintf(worker->message, sizeof worker->message, "memory ran out while gcc was to be started");
    if (arena && setjmp(no_memory) == 0) {
        arena_on_no_memory(arena, &no_memory);
        worker->status = STATUS_OK;
        work_in(worker, arena);
    } else {
        worker->status = STATUS_MACHINE;
    }
    if (worker->now) { /* it jumped away from this one */
        unlink(worker->now->source);
        unlink(worker->now->fresh);
    }
    arena_destroy(arena);
    return NULL;
}

/* `message` has room for TASK_MESSAGE bytes: what went wrong. */
static enum status
build_all(const struct job *jobs, size_t count, char *message)
{
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    atomic_size_t next = 0;
    size_t hired = 1;

    for (size_t w = 0; w < WORKERS; w++)
        workers[w] = (struct worker){.jobs = jobs, .count = count, .next = &next};
    while (hired < WORKERS && hired < count &&
           pthread_create(&threads[hired], NULL, work, &workers[hired]) == 0)
        hired++;
    work(&workers[0]);
    for (size_t w = 1; w < hired; w++)
        pthread_join(threads[w], NULL);
    for (size_t w = 0; w < hired; w++)
        if (workers[w].status != STATUS_OK) {
            memcpy(message, workers[w].message, TASK_MESSAGE);
            return workers[w].status;
        }
    return STATUS_OK;
}

/* ---- loading ---- */

/* OpenMP's threads outlive the object that started them, so its library must stay. It is told, by
 * the only means there is, not to spin for long where it waits: as it comes, one other program that
 * wants a processor makes every evaluation wait ten times as long as it takes. */
static void
load_openmp(void)
{
    static const char library[] = "libgomp.so.1", setting[] = "GOMP_SPINCOUNT";
    void *openmp = dlopen(library, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    bool ours = !openmp && !getenv(setting) && !getenv("OMP_WAIT_POLICY");

    if (ours)
        setenv(setting, "1000", 1);
    if (!openmp)
        openmp = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (ours)
        unsetenv(setting);
    if (openmp)
        dlclose(openmp);
}

static void *
load_object(const char *path)
{
    load_openmp();
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static struct job *
plan(struct arena *arena, const struct object *objects, size_t count, const char *folder,
     const char *gcc)
{
    struct job *jobs = arena_array(arena, count, sizeof *jobs);
    const char *common = common_key(arena, gcc);

    for (size_t i = 0; i < count; i++) {
        struct job *job = &jobs[i];
        job->object = &objects[i];
        job->path = object_path(arena, folder, common, &objects[i].text);
        const char *base = arena_printf(arena, "%s.%ld.%p", job->path, (long)getpid(), (void *)job);
        job->source = arena_printf(arena, "%s.c", base);
        job->fresh = arena_printf(arena, "%s.new", base);
    }
    return jobs;
}

static bool
is_listed(const struct job *jobs, size_t count, const struct job *job)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(jobs[i].path, job->path) == 0)
            return true;
    return false;
}

/* Loads what the cache has; the rest, each text once, goes to `missing`. */
static size_t
load_kept(struct object *objects, const struct job *jobs, size_t count, struct job *missing)
{
    size_t missing_count = 0;

    for (size_t i = 0; i < count; i++) {
        objects[i].handle = access(jobs[i].path, R_OK) == 0 ? load_object(jobs[i].path) : NULL;
        if (!objects[i].handle && !is_listed(missing, missing_count, &jobs[i]))
            missing[missing_count++] = jobs[i];
    }
    return missing_count;
}

static enum status
load_built(struct object *objects, const struct job *jobs, size_t count, char *message)
{
    for (size_t i = 0; i < count; i++) {
        if (!objects[i].handle)
            objects[i].handle = load_object(jobs[i].path);
        if (!objects[i].handle) {
            snprintf(message, TASK_MESSAGE, "dlopen: %s", dlerror());
            return STATUS_MACHINE;
        }
    }
    return STATUS_OK;
}

void
object_unload(struct object *objects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (objects[i].handle)
            dlclose(objects[i].handle);
        objects[i].handle = NULL;
    }
}

/* While handles are held nothing asks the arena for memory: it might jump away. */
static enum status
load(struct object *objects, const struct job *jobs, size_t count, struct job *missing,
     char *message)
{
    size_t missing_count = load_kept(objects, jobs, count, missing);
    enum status status = STATUS_OK;

    if (missing_count > 0)
        status = build_all(missing, missing_count, message);
    if (status == STATUS_OK)
        status = load_built(objects, jobs, count, message);
    if (status != STATUS_OK)
        object_unload(objects, count);
    return status;
}

enum status
object_load(struct arena *arena, struct object *objects, size_t count, struct diags *diags)
{
    const char *cache = file_cache_folder(arena), *gcc = proc_find(arena, "gcc");
    char message[TASK_MESSAGE] = "";
    enum status status;

    if (!gcc)
        return machine_error(diags, "gcc", "not found in PATH; install it");
    if (!cache)
        return machine_error(diags, "cache", "no folder can be made; set XDG_CACHE_HOME");
    const char *folder = file_join(arena, cache, "objects");
    status = file_make_folder(folder, diags);
    if (status != STATUS_OK)
        return status;
    const struct job *jobs = plan(arena, objects, count, folder, gcc);
    struct job *missing = arena_array(arena, count, sizeof *missing);
    status = load(objects, jobs, count, missing, message);
    if (status != STATUS_OK)
        diags_add(diags, DIAG_ERROR, (struct place){0}, "%s", message);
    return status;
}
