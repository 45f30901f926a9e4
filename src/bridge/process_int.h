/* What process.c and memory.c share. */
#ifndef HONE_BRIDGE_PROCESS_INT_H
#define HONE_BRIDGE_PROCESS_INT_H

#include "bridge/bridge_int.h"

struct bridge__process {
    struct arena *arena;
    struct box *box; /* BRIDGE__BOXED; NULL otherwise */
    struct box_program *boxed;
    pid_t pid;           /* 0: it has ended, or it is boxed */
    int wire;            /* a socket: questions out, answers in; -1: it has ended */
    int said;            /* a file in memory: its standard error */
    int memory;          /* another: tensors */
    void *base;          /* of it, mapped; or NULL */
    size_t bytes;        /* of the mapping */
    const char *version; /* of PyTorch */
};

#endif
