/* The sentences of `hone explain`. Nothing is said that is not stored. */
#ifndef HONE_APP_EXPLAIN_H
#define HONE_APP_EXPLAIN_H

#include "app/archive.h"

struct explain { /* what is told, and how far it got */
    struct buf *out;
    struct store *store;
    const struct archive_run *run;
    struct diags *diags;
    size_t said; /* numbered sentences */
};

/* The next numbered paragraph; an empty text is none. */
void
explain_say(struct explain *explain, const char *text);

/* "3.84 ms", "656 ns in case odd", "wrong", "not judged" */
const char *
explain_time(const struct explain *explain, const struct store_candidate *candidate);

/* How a whole run came to what it found. */
enum status
explain_run(struct explain *explain);

/* How one candidate came to be, from its ancestors. */
enum status
explain_candidate(struct explain *explain, const struct store_candidate *candidate);

/* What the builtin search did in each case: how far it came, which differences mattered. */
void
explain_drafts(struct explain *explain);

/* A step from a candidate's parent to itself, one sentence or two. */
const char *
explain_step(const struct explain *explain, const struct store_candidate *candidate);

#endif
