/* What `hone report` shows, as the JSON that its page draws from (doc/report.md). */
#ifndef HONE_APP_REPORT_H
#define HONE_APP_REPORT_H

#include "app/archive.h"
#include "app/bench.h"

/* One that is to be shown, and what of it stands in the page. */
struct report_subject {
    const struct archive_run *run;
    const struct store_candidate *best;  /* the whole of it; NULL: nothing was correct */
    const struct store_candidate *start; /* what it is compared with; NULL: nothing else */
    const struct bench_figures *figures;
    const char *file; /* of the page */
    double now;
};

/* False: its operations cannot be counted from the archive, or are functions alone, so there is no
 * roofline. */
bool
report_run_json(struct buf *json, const struct report_subject *subject);

void
report_bench_json(struct buf *json, const struct bench_view *view, const char *file, double now);

/* ---- what both have ---- */

/* Who made the page and when: the first fields of any page, without the brace that closes. */
void
report_made_json(struct buf *json, double now);

/* A text of JSON from the archive, null if it is none. */
void
report_field_json(struct buf *json, const char *name, const char *text);

/* The next of the commands, behind the bracket that opens their list. */
void
report_put_command(struct buf *json, const char *what, const char *command);

/* "2026-11-16 13:57 UTC" */
const char *
report_date(struct arena *arena, double seconds);

#endif
