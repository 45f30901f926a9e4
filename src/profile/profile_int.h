/* The parts of a profile: what the compiler said, the machine code, the program itself. */
#ifndef HONE_PROFILE_PROFILE_INT_H
#define HONE_PROFILE_PROFILE_INT_H

#include "profile/profile.h"

/* What is known so far: NAN where nothing is. */
struct profile__values {
    double value[PROFILE_FIGURE_COUNT];
    const char *note[PROFILE_FIGURE_COUNT]; /* said behind the meaning, or NULL */
};

/* ---- building (build.c) ---- */

struct profile__build {
    const char *said; /* what the compiler wrote */
    int object;       /* owned by the caller; -1: it does not compile */
    size_t bytes;
    const char *why; /* not: "line 3: expected ';'" */
};

/* As the judge builds it, with remarks. */
enum status
profile__build(struct arena *arena, const char *text, const struct profile_options *options,
               struct profile__build *build, struct diags *diags);

/* One for each loop that was not vectorised, by line. */
size_t
profile__remarks(struct arena *arena, const char *said, struct profile_remark **remarks);

/* How many of them speak of a sum or maximum of floats. */
unsigned
profile__reduction_remarks(const struct profile_remark *remarks, size_t count);

/* ---- machine code (code.c) ---- */

struct profile__insn {
    uint64_t at, target;  /* target: of a jump, else 0 */
    const char *name;     /* "vfmadd231ps" */
    const char *operands; /* "(%rax),%ymm0,%ymm1"; "" */
    const char *callee;   /* of a call: "expf@plt", else NULL */
    unsigned function;    /* number */
};

struct profile__loop {
    size_t first, last; /* instructions, both included */
    unsigned depth;     /* 0: in no other loop */
    bool inner;         /* no other loop in it */
};

struct profile__code {
    const struct profile__insn *insns;
    size_t insn_count;
    const struct profile__loop *loops;
    size_t loop_count;
};

/* The text of `objdump -d`, whatever it is. */
void
profile__code(struct arena *arena, const char *text, struct profile__code *code);

/* ---- what the code does (mix.c) ---- */

/* The innermost loop that does most, or NULL. */
const struct profile__loop *
profile__hot_loop(const struct profile__code *code);

void
profile__mix(struct arena *arena, const struct profile__code *code, const struct profile__loop *hot,
             const struct profile_options *options, struct profile__values *values);

/* At most 40 lines. */
const char *
profile__loop_text(struct arena *arena, const struct profile__code *code,
                   const struct profile__loop *loop);

/* ---- llvm-mca (throughput.c) ---- */

/* False: it is not installed. */
bool
profile__throughput(struct arena *arena, const struct profile__code *code,
                    const struct profile__loop *loop, const struct profile_options *options,
                    struct profile__values *values);

/* ---- the program (facts.c) ---- */

void
profile__facts(struct arena *arena, const struct profile_options *options,
               struct profile__values *values);

#endif
