/* report: one file of HTML that shows a run or a benchmark, with all it needs in it.
 *
 * The page is text of page/, which the build takes into the program; what it shows is one JSON
 * object of the caller's (doc/report.md has its fields). It loads nothing and sends nothing. */
#ifndef HONE_REPORT_REPORT_H
#define HONE_REPORT_REPORT_H

#include "base/buf.h"

/*    id     its script */
#define REPORT_KINDS(X) \
    X(RUN, run_js)      \
    X(BENCH, bench_js)

enum report_kind {
#define X(id, script) REPORT_##id,
    REPORT_KINDS(X)
#undef X
};

/* `json` may hold anything that strings of JSON may: whatever it says, it stays data. */
void
report_put_page(struct buf *buf, enum report_kind kind, const char *title, const char *json);

#endif
