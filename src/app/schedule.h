/* The pieces of `hone schedule`. */
#ifndef HONE_APP_SCHEDULE_H
#define HONE_APP_SCHEDULE_H

#include "app/cli.h"
#include "coder/coder.h"
#include "measure/measure.h"

struct schedule_view {
    const struct program *program;
    const struct schedule *schedule;
    struct coder_machine machine;
    bool usual;        /* nobody gave lines */
    struct buf kernel; /* what it becomes */
};

/* This machine as schedules are chosen by: what it says of itself, and what was measured if that
 * was kept. */
void
schedule_machine(struct arena *arena, struct coder_machine *machine, struct measure_facts *facts);

/* Vectors of 16, 32 or 64 bytes. Another width is another machine: its peak is not this one's. */
void
schedule_set_width(struct coder_machine *machine, unsigned bytes);

void
schedule_screen(struct buf *buf, const struct schedule_view *view, int verbosity);
void
schedule_json(struct buf *buf, const struct schedule_view *view);

#endif
