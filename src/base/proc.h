/* Processes: run a trusted program, wait, collect what it says. No shell. */
#ifndef HONE_BASE_PROC_H
#define HONE_BASE_PROC_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

struct proc_request {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
    const char *folder;      /* working folder, or NULL for ours */
    const char *input;       /* standard input, or NULL for none */
    size_t input_length;
    size_t output_limit; /* bytes kept of stdout and of stderr each; 0: 1 MB */
    double seconds;      /* 0: no limit */
};

struct proc_result {
    int exit_code; /* 0..255, or -1 if a signal ended it */
    int signal;
    int timed_out;
    char *out, *err; /* in the arena, zero-terminated, cut at the limit */
    size_t out_length, err_length;
};

/* STATUS_MACHINE if it could not be started (result->err says why); otherwise STATUS_OK whatever
 * the program's exit code. The child is always reaped, its whole group killed on timeout. */
enum status
proc_run(struct arena *arena, const struct proc_request *request, struct proc_result *result);

/* The same without waiting, for who has other things to look after. What is given must live until
 * proc_end(). NULL if it could not be started (result->err says why). */
struct proc;

struct proc *
proc_start(struct arena *arena, const struct proc_request *request, struct proc_result *result);

/* What to wait for: its open outputs, at most two. */
size_t
proc_fds(const struct proc *proc, int fds[2]);

/* Reads what is there, and ends it if its time is up; true: it has ended. Does not wait. */
bool
proc_step(struct proc *proc);

/* Its standard output so far, and how many bytes that is. */
const char *
proc_out_text(const struct proc *proc);
size_t
proc_out_length(const struct proc *proc);

/* Kills what is left of it, reaps it, fills in the result; once for each proc_start(). */
void
proc_end(struct proc *proc, struct proc_result *result);

/* The path of a program in PATH, or NULL. */
const char *
proc_find(struct arena *arena, const char *name);

#endif
