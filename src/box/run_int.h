/* The servers of one owner, and the file through which caller and guest shake hands. */
#ifndef HONE_BOX_RUN_INT_H
#define HONE_BOX_RUN_INT_H

#include "box/box_int.h"

enum { BOX__SERVERS = 8 };

/* A fork server is made for one list of CPUs: OpenMP reads its places when it is loaded. */
struct box__worker {
    struct box__process process;
    int cpus[BOX_CPUS_MAX];
    size_t threads;
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

#endif
