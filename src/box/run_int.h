/* The servers of one owner, and the file through which caller and guest shake hands. */
#ifndef HONE_BOX_RUN_INT_H
#define HONE_BOX_RUN_INT_H

#include "box/box_int.h"

#include <sched.h>

enum { BOX__SERVERS = 8 };

/* A fork server is made for one list of CPUs: OpenMP reads its places when it is loaded. */
struct box__worker {
    struct box__process process;
    int cpus[BOX_CPUS_MAX];
    size_t threads; /* 0: there is none */
    size_t stack;   /* of each: OpenMP reads that too */
};

struct box_server {
    const struct box *box;
    struct box__worker workers[BOX__SERVERS];
    size_t next; /* the one to give up when all are taken */
    int control; /* memory file: a page of words, then the table of the job */
    size_t control_bytes;
    struct box__ctl *ctl;
    struct box__table *table; /* of the library's own mapping; the guest sees it read-only */
};

/* The server for these CPUs, started if need be. */
enum status
box__worker_for(struct box_server *server, const struct box_job *job, struct box__worker **worker,
                struct box__why *why);

/* It is dead or not to be trusted any more: the next run starts another. */
void
box__worker_drop(struct box__worker *worker);

/* Writes the job into the control file. `fds` are those to send, `*fd_count` of them. */
enum status
box__table_write(struct box_server *server, const struct box_job *job, int *fds, size_t *fd_count,
                 struct box__why *why);

/* A file that a lost guest may still have mapped is not used again. */
void
box__control_drop(struct box_server *server);

/* What the calling thread gives up for a sample, and gets back after it on every path. */
struct box__turn {
    cpu_set_t cpus;
    int policy;
    struct sched_param param;
    bool moved, changed;
};

/* Moves to that CPU; < 0: stays as it is. */
void
box__settle(struct box__turn *turn, int cpu);

/* The classes of caller and guest, whose threads all exist and have run nothing of its own. true if
 * they are real-time now. */
bool
box__take_turn(struct box__turn *turn, pid_t guest, bool realtime);

/* The guest must be dead. */
void
box__unsettle(struct box__turn *turn);

#endif
