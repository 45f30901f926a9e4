/* What is said on stderr: warnings, hints, and progress.
 *
 * One struct per program run, passed down; -q silences all but errors, -v and -vv add detail.
 * Progress: on a terminal one block of lines redrawn in place (at most ten times a second) and
 * wiped when done; in a pipe or with TERM=dumb plain lines, at most one every 30 s plus those
 * marked as news; with --quiet nothing. */
#ifndef HONE_BASE_LOG_H
#define HONE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum log_level { LOG_QUIET = -1, LOG_NORMAL = 0, LOG_VERBOSE = 1, LOG_DEBUG = 2 };
enum log_colour { LOG_COLOUR_AUTO, LOG_COLOUR_NEVER, LOG_COLOUR_ALWAYS };

struct log {
    FILE *stream;
    enum log_level level;
    bool terminal; /* stderr is one, and TERM is not dumb */
    bool colour;   /* for this stream: NO_COLOR, CLICOLOR_FORCE, --color */
    size_t shown;  /* lines of the progress block now on the screen */
    double last;   /* when progress was last shown, seconds of the monotonic clock */
};

struct log
log_create(FILE *stream, enum log_level level, enum log_colour colour);

/* Whether a stream should be coloured under the same rules. */
bool
log_colour_for(FILE *stream, enum log_colour colour);

/* "warning: ...", "hint: ..."; a line of its own above the progress block. */
void
log_warning(struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void
log_hint(struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Shown from LOG_VERBOSE on. */
void
log_detail(struct log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replaces the block by these lines (at most 9 are shown). `plain` is the one-line form for a pipe,
 * `news` says that it is worth a line now. */
void
log_progress(struct log *log, const char *const *lines, size_t count, const char *plain, bool news);

/* Wipes the block: the result follows. */
void
log_progress_done(struct log *log);

#endif
