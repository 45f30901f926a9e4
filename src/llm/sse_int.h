/* Server-sent events: lines become events. Takes every form of them that servers send: CRLF, CR or
 * LF, comments, data without a blank, data in several lines, bare JSON, no empty line at the end.
 */
#ifndef HONE_LLM_SSE_INT_H
#define HONE_LLM_SSE_INT_H

#include "base/buf.h"

#include <stdbool.h>

#define SSE_EVENT 64 /* bytes of an event's name, with the zero; longer ones are cut */

struct sse {
    struct buf line, data;
    char event[SSE_EVENT];
    bool has_data, after_cr, begun;
    size_t limit; /* bytes of a line, and of the data of one event */
    void (*take)(void *user, const char *event, const char *data, size_t length);
    void *user;
};

struct sse
sse_create(struct arena *arena, size_t limit,
           void (*take)(void *user, const char *event, const char *data, size_t length),
           void *user);

/* false: a line or an event is longer than the limit; nothing more may be fed. */
bool
sse_feed(struct sse *sse, const char *bytes, size_t count);

/* The connection has ended: what is left counts as an event. */
bool
sse_end(struct sse *sse);

#endif
