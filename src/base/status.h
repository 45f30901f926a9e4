/* Exit codes, and the codes that functions return when the caller's input or the machine is at
 * fault. A failing candidate is never one of these: that is data. Our own bugs end in assert(). */
#ifndef HONE_BASE_STATUS_H
#define HONE_BASE_STATUS_H

enum status {
    STATUS_OK = 0,
    STATUS_NO = -1,      /* the answer is no */
    STATUS_INPUT = -2,   /* the caller's mistake: usage, a file that cannot be read or parsed */
    STATUS_MACHINE = -3, /* this machine's or our own fault: no memory, disk full, no compiler */
};

/* 0, 1, 2, 3 for the four above. */
int
status_exit_code(enum status status);

#endif
