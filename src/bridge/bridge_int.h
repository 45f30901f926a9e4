/* The parts of the bridge.
 *
 *   find.c       where PyTorch is
 *   process.c    a Python that answers questions, one line each
 *   memory.c     tensors, laid where both sides see them
 *   baseline.c   loading, building, timing
 *   import.c     a module becomes a program
 *   origin.c     which remembers it
 *   export.c     a kernel becomes an operator of PyTorch
 */
#ifndef HONE_BRIDGE_BRIDGE_INT_H
#define HONE_BRIDGE_BRIDGE_INT_H

#include "base/buf.h"
#include "box/box.h"
#include "bridge/bridge.h"

#include <jansson.h>
#include <sys/types.h>

struct bridge_file {  /* of bridge/ in the sources */
    const char *path; /* "worker/serve.py" */
    const char *text;
};

extern const struct bridge_file bridge__files[]; /* ended by a NULL path */

/* ---- where PyTorch is ---- */

struct bridge__place {
    const char *environment; /* its folder, as an absolute path */
    const char *python;      /* its interpreter */
    const char *home;        /* the folder of the interpreter's own library; NULL: below /usr */
};

/* false: not there; `diags`, which may be NULL, then has one line. */
bool
bridge__find(struct arena *arena, const char *environment, struct bridge__place *place,
             struct diags *diags);

/* Without links and dots; NULL: there is nothing. */
const char *
bridge__real_path(struct arena *arena, const char *path);

/* ---- the process ---- */

enum bridge__kind {
    BRIDGE__WARM,  /* an allocator that keeps its memory */
    BRIDGE__COLD,  /* as shipped */
    BRIDGE__BOXED, /* for somebody's module that is only looked at */
};

struct bridge__process;

/* `threads`: 0 is not allowed. Its first answer is waited for. */
enum status
bridge__start(struct arena *arena, const struct bridge__place *place, enum bridge__kind kind,
              unsigned threads, struct bridge__process **process, struct diags *diags);

void
bridge__stop(struct bridge__process *process); /* NULL is allowed */

/* Sends a question and waits for the answer, which the caller lets go with json_decref(). `about`
 * is the file that messages name, or NULL. STATUS_INPUT: the answer is a refusal; STATUS_MACHINE:
 * there is none, and the process is no more. Either way there is a message. */
enum status
bridge__ask(struct bridge__process *process, const struct buf *question, double seconds,
            const struct source *about, json_t **answer, struct diags *diags);

const char *
bridge__version(const struct bridge__process *process);

/* ---- memory ---- */

/* Makes room for so many bytes, mapped in this process until the next call; NULL: no memory. */
void *
bridge__memory(struct bridge__process *process, size_t bytes);

/* Copies what the other side laid there: it may change it at any moment. false: so much is not
 * there.
 */
bool
bridge__take(struct bridge__process *process, size_t offset, void *bytes, size_t count);

#endif
