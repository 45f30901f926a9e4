/* What the files of this module share. */
#ifndef HONE_TARGET_TARGET_INT_H
#define HONE_TARGET_TARGET_INT_H

#include "base/c_text.h"
#include "target/target.h"

/* A keyword of C, a macro of the prelude's headers or a name of the prelude itself: neither a size,
 * a tuned number nor a parameter can be called so. */
bool
target__c_taken(const char *name);

/* ---- reading kernels ---- */

/* Sets the fault; always false, so that `return target__wrong(...)` reads well. */
bool
target__wrong(struct arena *arena, struct target_fault *fault, uint32_t line, const char *format,
              ...) __attribute__((format(printf, 4, 5)));

/* The words behind //! flags, against the target's list; adds to flags[*count], which has room for
 * TARGET__MOST_FLAGS. */
#define TARGET__MOST_FLAGS 32

bool
target__read_flags(struct arena *arena, const struct target *target, const char *words,
                   uint32_t line, const char **flags, size_t *count, struct target_fault *fault);

/* What stands behind //! tune. */
bool
target__read_tune(struct arena *arena, const struct program *program, const char *words,
                  uint32_t line, struct target_tune *tune, struct target_fault *fault);

/* target.read for C and its relatives: //! lines above the code, and the entry's name in it. */
bool
target__read_c(struct arena *arena, const struct target *target, const struct program *program,
               struct target_kernel *kernel, struct target_fault *fault);

/* ---- the targets ---- */

extern const struct target target__cpu;

extern const struct target_flag target__cpu_flags[];
extern const struct target_symbols target__cpu_symbols[];

extern const char target__cpu_headers[];
extern const char target__hone_h[]; /* header/hone.h, generated */

void
target__cpu_prelude(struct buf *buf, const struct program *program);
void
target__cpu_signature(struct buf *buf, const struct program *program);
bool
target__cpu_explain(struct arena *arena, const struct program *program,
                    const struct target_kernel *kernel, const char *diagnostics,
                    struct target_fault *fault);
void
target__cpu_contract(struct buf *buf, const struct target *target);

/* Words with blanks between them, broken at 96 columns, each line indented. */
struct filler {
    struct buf *buf;
    unsigned indent;
    size_t column; /* 0: the line has not begun */
};

void
target__fill(struct filler *filler, const char *word);
void
target__fill_end(struct filler *filler);

#endif
