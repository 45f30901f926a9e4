#include "base/log.h"
#include "base/clock.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    MOST_LINES = 9,
    DEFAULT_WIDTH = 80,
};

static const double redraw_seconds = 0.1, plain_seconds = 30;

static bool
is_terminal(FILE *stream)
{
    const char *term = getenv("TERM");

    return term && *term && strcmp(term, "dumb") != 0 && isatty(fileno(stream));
}

static bool
is_set(const char *name)
{
    const char *value = getenv(name);

    return value && *value;
}

bool
log_colour_for(FILE *stream, enum log_colour colour)
{
    const char *force = getenv("CLICOLOR_FORCE");

    if (colour != LOG_COLOUR_AUTO)
        return colour == LOG_COLOUR_ALWAYS;
    if (is_set("NO_COLOR"))
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return is_terminal(stream);
}

struct log
log_create(FILE *stream, enum log_level level, enum log_colour colour)
{
    bool terminal = is_terminal(stream);

    /* A terminal shows progress at once; a pipe, 30 s after the beginning. */
    return (struct log){.stream = stream,
                        .level = level,
                        .terminal = terminal,
                        .colour = log_colour_for(stream, colour),
                        .last = terminal ? 0 : clock_seconds()};
}

static void
wipe(struct log *log)
{
    if (log->shown > 0)
        fprintf(log->stream, "\r\033[%zuA\033[J", log->shown);
    log->shown = 0;
}

static void __attribute__((format(printf, 4, 0)))
say(struct log *log, const char *colour, const char *word, const char *format, va_list args)
{
    wipe(log);
    if (log->terminal)
        log->last = 0; /* the block comes back with the next progress */
    if (log->colour && *colour)
        fputs(colour, log->stream);
    fputs(word, log->stream);
    if (log->colour && *colour)
        fputs("\033[0m", log->stream);
    vfprintf(log->stream, format, args);
    putc('\n', log->stream);
    fflush(log->stream);
}

void
log_warning(struct log *log, const char *format, ...)
{
    va_list args;

    if (log->level < LOG_NORMAL)
        return;
    va_start(args, format);
    say(log, "\033[33m", "warning: ", format, args);
    va_end(args);
}

void
log_hint(struct log *log, const char *format, ...)
{
    va_list args;

    if (log->level < LOG_NORMAL)
        return;
    va_start(args, format);
    say(log, "\033[2m", "hint: ", format, args);
    va_end(args);
}

void
log_detail(struct log *log, const char *format, ...)
{
    va_list args;

    if (log->level < LOG_VERBOSE)
        return;
    va_start(args, format);
    say(log, "", "", format, args);
    va_end(args);
}

static size_t
width_of(FILE *stream)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");

    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return columns && atoi(columns) > 0 ? (size_t)atoi(columns) : DEFAULT_WIDTH;
}

/* The bytes of `line` that fill at most `width` columns: a line that wraps would be two when the
 * block is wiped. Colour sequences take no column, and a UTF-8 character takes one. */
static size_t
bytes_within(const char *line, size_t width)
{
    size_t i = 0, columns = 0;

    while (line[i]) {
        if (line[i] == '\033') {
            i += strcspn(line + i, "m");
            i += line[i] == 'm';
            continue;
        }
        if (((unsigned char)line[i] & 0xc0) != 0x80 && ++columns > width)
            break;
        i++;
    }
    return i;
}

static void
draw(struct log *log, const char *const *lines, size_t count)
{
    size_t width = width_of(log->stream);

    wipe(log);
    if (count > MOST_LINES)
        count = MOST_LINES;
    for (size_t i = 0; i < count; i++)
        fprintf(log->stream, "%.*s%s\n", (int)bytes_within(lines[i], width), lines[i],
                log->colour ? "\033[0m" : "");
    log->shown = count;
}

void
log_progress(struct log *log, const char *const *lines, size_t count, const char *plain, bool news)
{
    double time = clock_seconds();

    if (log->level < LOG_NORMAL)
        return;
    if (!news && time - log->last < (log->terminal ? redraw_seconds : plain_seconds))
        return;
    if (log->terminal)
        draw(log, lines, count);
    else if (plain)
        fprintf(log->stream, "%s\n", plain);
    log->last = time;
    fflush(log->stream);
}

void
log_progress_done(struct log *log)
{
    wipe(log);
    fflush(log->stream);
}
