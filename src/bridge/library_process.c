/* A library in a process of its own: what it reads from the environment, the threads it starts and
 * a crash in it are nobody else's.
 *
 * The process is a fork that waits to be told the terms, loads the library and answers questions
 * over a socket until that is closed. It is made early: OpenMP's threads do not survive a fork, and
 * whoever forks after references or kernels were run here would wait for them for ever. Both ends
 * are one program: what goes over it are structs. As PyTorch's process does
 * (bridge/worker/measure.py), it goes round several sets of inputs and outputs, so that no call
 * finds its data in the nearest cache because the one before left it there; memory is touched
 * before anything is timed; and a window ends with a pause in which its threads fall asleep. */
#include "bridge/library.h"

#include "base/clock.h"
#include "task/task.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_BUILDS = 2,
    MOST_TIMES = 4096,
    ALIGNMENT = 64,
    HUGE_PAGE = 2 << 20,
    PATIENCE = 300 /* seconds */
};

static const double SAMPLE_SECONDS = 0.001; /* shorter calls are timed several in a row */
static const double BRIEF_SECONDS = 0.2;    /* longer samples keep nobody waiting */
static const double MOST_BYTES = 1 << 30;   /* of all sets */

struct question {
    enum { BUILD, WINDOW } what;
    size_t build, most;
    double seconds;
};

struct answer { /* then `count` times in microseconds */
    bool good;
    size_t count;
    char message[160]; /* why not; at the start, the processor whose kernels it uses */
};

struct library {
    struct arena *arena;
    const struct program *program;
    pid_t pid;
    int wire;
    const char *builds[MOST_BUILDS];
    size_t count;
};

/* ---- what there is ---- */

bool
library_has(const char *name, const struct program *program)
{
    struct exact_product product;
    struct exact_convolution convolution;
    return exact_product(program, &product) ||
           (strcmp(name, "onednn") == 0 && exact_convolution(program, &convolution));
}

bool
library_is_there(const char *name)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(library_load(library_named(name)->files) ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* ---- the wire ---- */

static bool
send_all(int wire, const void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t sent = send(wire, (const char *)bytes + done, count - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return false;
        done += sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static bool
receive_all(int wire, void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t got = recv(wire, (char *)bytes + done, count - done, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* ---- there: data ---- */

struct worker {
    struct arena *arena;
    const char *name;
    const struct program *program;
    struct library_terms terms;
    int wire;
    void ***sets; /* of each: inputs, then the output */
    size_t set_count;
    struct library_call *calls[MOST_BUILDS]; /* one a set; NULL: not built */
    double seconds[MOST_BUILDS];             /* of a call */
    size_t next;                             /* set */
};

static size_t
bytes_of(const struct tensor *tensor)
{
    return (size_t)tensor->count * dtype_info[tensor->dtype].size;
}

/* Large ones are on huge pages, as those of the kernel that it is compared with. */
static void *
aligned(struct arena *arena, size_t bytes)
{
    size_t alignment = bytes < HUGE_PAGE ? ALIGNMENT : HUGE_PAGE;
    uintptr_t at = (uintptr_t)arena_alloc(arena, bytes + alignment);
    void *memory = (void *)((at + alignment - 1) / alignment * alignment);
    if (bytes >= HUGE_PAGE)
        madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static void
make_sets(struct worker *w)
{
    const struct program *program = w->program;
    const struct tensor *result = program->outputs[0];
    void **drawn = task_draw_all(w->arena, program, DRAW_NORMAL, w->terms.seed);
    double bytes = (double)bytes_of(result);
    for (size_t i = 0; i < program->input_count; i++)
        bytes += (double)bytes_of(program->tensors[i]);
    w->set_count = (size_t)fmax(1, fmin((double)w->terms.sets, floor(MOST_BYTES / bytes)));
    w->sets = arena_array(w->arena, w->set_count, sizeof *w->sets);
    for (size_t s = 0; s < w->set_count; s++) {
        w->sets[s] = arena_array(w->arena, program->input_count + 1, sizeof *w->sets[s]);
        for (size_t i = 0; i < program->input_count; i++) {
            size_t size = bytes_of(program->tensors[i]);
            w->sets[s][i] = memcpy(aligned(w->arena, size), drawn[i], size);
        }
        w->sets[s][program->input_count] = aligned(w->arena, bytes_of(result));
    }
}

/* ---- there: calls ---- */

static bool
prepare(struct worker *w, size_t build, void *const *buffers, struct library_call *call)
{
    const struct program *program = w->program;
    struct exact_product product;
    struct exact_convolution convolution;
    if (exact_product(program, &product))
        return strcmp(w->name, "openblas") == 0
                   ? library_openblas(w->arena, &product, buffers, call)
                   : library_dnnl_product(w->arena, &product, buffers, call);
    return exact_convolution(program, &convolution) &&
           library_dnnl_convolution(w->arena, program, &convolution, buffers, build > 0, call);
}

/* Seconds of one call. */
static double
timed(struct worker *w, size_t build, size_t calls)
{
    double start = clock_seconds();
    for (size_t i = 0; i < calls; i++) {
        const struct library_call *call = &w->calls[build][w->next++ % w->set_count];
        call->run(call->state);
    }
    return (clock_seconds() - start) / (double)calls;
}

/* Every set is called once: its memory is there then, and the library has chosen its kernels. */
static void
answer_build(struct worker *w, size_t build, struct answer *answer)
{
    w->calls[build] = arena_array(w->arena, w->set_count, sizeof **w->calls);
    for (size_t s = 0; s < w->set_count; s++)
        if (!prepare(w, build, w->sets[s], &w->calls[build][s])) {
            snprintf(answer->message, sizeof answer->message, "%s refuses these sizes",
                     library_named(w->name)->title);
            return;
        }
    timed(w, build, w->set_count);
    w->seconds[build] = timed(w, build, 1);
    answer->good = true;
}

/* All threads of this process, those of the library among them. */
static void
schedule(int policy, int priority)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct sched_param parameter = {.sched_priority = priority};
    for (const struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;)
        if (entry->d_name[0] != '.')
            sched_setscheduler(atoi(entry->d_name), policy, &parameter);
    if (tasks)
        closedir(tasks);
}

static void
answer_window(struct worker *w, const struct question *q, double *us, struct answer *answer)
{
    double end = clock_seconds() + q->seconds, *each = &w->seconds[q->build];
    *each = fmin(*each, timed(w, q->build, 1));
    size_t calls = (size_t)ceil(SAMPLE_SECONDS / fmax(*each, 1e-9));
    bool first = w->terms.precedence && (double)calls * *each < BRIEF_SECONDS;
    if (first)
        schedule(SCHED_FIFO, 1);
    do {
        *each = timed(w, q->build, calls);
        us[answer->count++] = 1e6 * *each;
    } while (answer->count < q->most && answer->count < MOST_TIMES &&
             clock_seconds() + (double)calls * *each < end);
    if (first)
        schedule(SCHED_OTHER, 0);
    nanosleep(&(struct timespec){.tv_nsec = 3 * 1000 * 1000}, NULL);
    answer->good = true;
}

/* ---- there: the process ---- */

/* A library that does not know the processor is no rival. */
static bool
has_right_kernels(const struct worker *w, struct answer *answer)
{
    const char *wanted = getenv("OPENBLAS_CORETYPE");
    if (strcmp(w->name, "openblas") != 0)
        return library_load(library_named(w->name)->files) != NULL;
    const char *core = library_openblas_core();
    if (core == NULL)
        return false;
    if (wanted != NULL && strcasecmp(core, wanted) != 0) {
        snprintf(answer->message, sizeof answer->message,
                 "OpenBLAS uses kernels for %s, not for %s: its times say nothing here", core,
                 wanted);
        return false;
    }
    snprintf(answer->message, sizeof answer->message, "%s", core);
    return true;
}

static void
serve(struct worker *w)
{
    double *us = arena_array(w->arena, MOST_TIMES, sizeof *us);
    struct answer answer = {0};
    struct question q;
    if (!receive_all(w->wire, &w->terms, sizeof w->terms))
        return;
    library_environment(w->arena, w->terms.threads);
    answer.good = has_right_kernels(w, &answer);
    if (!send_all(w->wire, &answer, sizeof answer) || !answer.good)
        return;
    make_sets(w);
    while (receive_all(w->wire, &q, sizeof q)) {
        answer = (struct answer){0};
        if (q.what == BUILD)
            answer_build(w, q.build, &answer);
        else
            answer_window(w, &q, us, &answer);
        if (!send_all(w->wire, &answer, sizeof answer) ||
            !send_all(w->wire, us, answer.count * sizeof *us))
            return;
    }
}

static _Noreturn void
live(const char *name, const struct program *program, int wire)
{
    struct arena *arena = arena_create();
    struct worker w = {.arena = arena, .name = name, .program = program, .wire = wire};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (arena != NULL)
        serve(&w);
    _exit(0);
}

/* ---- here ---- */

static bool
hear(struct library *library, struct answer *answer, struct diags *diags)
{
    if (receive_all(library->wire, answer, sizeof *answer) && answer->good)
        return true;
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s",
              answer->message[0] ? answer->message : "its process has ended");
    return false;
}

static bool
ask(struct library *library, const struct question *question, struct answer *answer,
    struct diags *diags)
{
    *answer = (struct answer){0};
    send_all(library->wire, question, sizeof *question);
    return hear(library, answer, diags);
}

static void
name_builds(struct library *library, const char *core)
{
    struct exact_product product;
    bool is_product = exact_product(library->program, &product);
    library->count = is_product ? 1 : 2;
    library->builds[0] = !is_product ? "plain"
                         : *core     ? arena_printf(library->arena, "sgemm %s", core)
                                     : "sgemm";
    library->builds[1] = "blocked";
}

struct library *
library_open(struct arena *arena, const char *name, const struct program *program)
{
    struct library *library = arena_alloc(arena, sizeof *library);
    int wires[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wires) != 0)
        return NULL;
    *library =
        (struct library){.arena = arena, .program = program, .pid = fork(), .wire = wires[0]};
    if (library->pid == 0) {
        close(wires[0]);
        live(name, program, wires[1]);
    }
    close(wires[1]);
    setsockopt(library->wire, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = PATIENCE},
               sizeof(struct timeval));
    return library;
}

bool
library_start(struct library *library, const struct library_terms *terms, struct diags *diags)
{
    struct answer hello = {0};
    send_all(library->wire, terms, sizeof *terms);
    if (!hear(library, &hello, diags))
        return false;
    name_builds(library, hello.message);
    return true;
}

void
library_close(struct library *library)
{
    if (library == NULL)
        return;
    close(library->wire);
    if (library->pid > 0) {
        kill(library->pid, SIGKILL);
        waitpid(library->pid, NULL, 0);
    }
}

const char *const *
library_builds(const struct library *library, size_t *count)
{
    *count = library->count;
    return library->builds;
}

bool
library_build(struct library *library, size_t build, struct diags *diags)
{
    struct answer answer;
    return ask(library, &(struct question){.what = BUILD, .build = build}, &answer, diags);
}

size_t
library_window(struct library *library, size_t build, double seconds, double *us, size_t most,
               struct diags *diags)
{
    struct answer answer;
    struct question question = {.what = WINDOW, .build = build, .most = most, .seconds = seconds};
    if (!ask(library, &question, &answer, diags))
        return 0;
    assert(answer.count <= most);
    return receive_all(library->wire, us, answer.count * sizeof *us) ? answer.count : 0;
}
