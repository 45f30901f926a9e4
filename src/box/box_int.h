/* What the files of the library's side share. */
#ifndef HONE_BOX_BOX_INT_H
#define HONE_BOX_BOX_INT_H

#include "box/box.h"
#include "box/wire_int.h"

#include <sys/types.h>

struct box {
    struct box_machine machine;
    struct box_options options;
    bool nproc_counts; /* the limit on processes counts each jail alone */
    char program[4096];
    char missing[BOX_FEATURE_COUNT][160];
};

struct box_memory {
    int fd;           /* to write */
    int read_only_fd; /* can only be mapped to read */
    void *base;
    size_t bytes;
    enum box_pages pages;
};

/* Why something of ours failed. It is kept apart from `diags`, whose arena may jump away when
 * memory is short: functions that hold resources fill this, and the public ones report it at the
 * end. */
struct box__why {
    char text[400];
};

/* "WHAT (strerror(error))"; returns STATUS_MACHINE. */
enum status
box__fault(struct box__why *why, int error, const char *what);

/* Adds the reason to `diags`; returns `status`. */
enum status
box__report(enum status status, const struct box__why *why, struct diags *diags);

/* A running hone-box. */
struct box__process {
    pid_t pid; /* 0: none */
    int socket;
};

/* Starts hone-box with one order. `environment` is NULL-terminated; NULL: empty. */
enum status
box__start(const struct box *box, const struct box__order *order, const char *texts, const int *fds,
           size_t fd_count, const char *const *environment, struct box__process *process,
           struct box__why *why);

/* Closes the socket, at which hone-box ends, and reaps it; kills it if it does not. */
void
box__stop(struct box__process *process);

/* Waits for a packet of at least `least` bytes; STATUS_MACHINE if hone-box is gone or silent for
 * that long. BOX__FAILED becomes a fault with its text. */
enum status
box__answer_of(struct box__process *process, void *packet, size_t least, size_t room, int *fds,
               size_t most, size_t *fd_count, double seconds, struct box__why *why);

/* What of the machine is not to be used: the options' and what it lacks. */
uint32_t
box__without(const struct box *box);

/* Says how a run ended, from what the kernel reported. false if it was no fault of the guest's:
 * `why` then has ours. */
struct box__seen {
    const struct box_job *job;
    const struct box__table *table;
    struct box__ctl before; /* a copy of the control words from before `go` was 2 */
    bool went;              /* `go` has been 2: from there on the guest may have run */
    bool timed_out, killed_by_us;
};

bool
box__classify(const struct box__seen *seen, const struct box__ended *ended, struct box_end *end,
              struct box__why *why);

/* The regions of a table, and where the guest sees them. */
const struct box__region *
box__regions(const struct box__table *table);

#endif
