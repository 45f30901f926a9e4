/* target: where kernels run. Data and pure functions; others build, run and judge by them.
 *
 *   target_find         a row of the table
 *   target_read         the text of a kernel: is it one, which flags and numbers does it declare
 *   target_source       what the compiler reads: prelude and kernel
 *   target_arguments    how the compiler is called
 *   target_explain      what the compiler's messages mean where they speak of the contract
 *   target_allows       may a kernel leave this symbol to the libraries
 *   target_contract     the text that a person or a model is shown
 *   target_hone_text    the parts of hone.h that a generated kernel carries with it
 *
 * What is wrong with a kernel is data, a struct target_fault, never an error: the judge makes it a
 * verdict. Mistakes of the caller cannot occur here, so nothing returns a status.
 *
 * Ownership law: everything returned lives in the arena or the buffer named in the call, or is
 * constant. Texts given are not copied: they must outlive what is made from them.
 */
#ifndef HONE_TARGET_TARGET_H
#define HONE_TARGET_TARGET_H

#include "base/buf.h"
#include "lang/ir.h"

/* ---- what a kernel says ---- */

/* What is wrong with a kernel's text. The message names no file: the caller writes FILE:LINE: or
 * FILE: before it. */
struct target_fault {
    uint32_t line; /* from 1; 0: the whole text */
    const char *message;
};

/* A number that the host may choose: //! tune T = 4 8 16 */
struct target_tune {
    const char *name;
    const int64_t *values; /* distinct, as declared; the first is taken unless one is chosen */
    size_t count;          /* at least 1 */
    uint32_t line;
};

struct target_kernel {
    const char *text;
    size_t length;
    const char *const *flags; /* of //! flags, each allowed; "--param a=1" is "--param=a=1" */
    size_t flag_count;
    const struct target_tune *tunes;
    size_t tune_count;
};

/* ---- what a target is ---- */

/* Who calls the kernel. */
enum target_runner {
    TARGET_RUNNER_NATIVE, /* a shared object, loaded in the box; `entry` is called */
};

enum target_flag_form {
    TARGET_FLAG_EXACT,  /* -O3 */
    TARGET_FLAG_SWITCH, /* -ffast-math stands for itself and for -fno-fast-math */
    TARGET_FLAG_CHOICE, /* -mprefer-vector-width= and one of `values`, separated by blanks */
    TARGET_FLAG_NUMBER, /* --param=max-unroll-times= and a number from 0 to `most` */
};

struct target_flag {
    const char *text;
    enum target_flag_form form;
    const char *values;
    int64_t most;
};

/* Symbols that may stay undefined in a kernel. */
struct target_symbols {
    const char *what;     /* as the contract names them: "everything of <math.h>" */
    const char *names;    /* separated by blanks; * at the end of one: any rest */
    const char *suffixes; /* each name also with one of these letters behind it; NULL: only alone */
};

/* A header that belongs to the target. Its text holds a guard of its own. */
struct target_file {
    const char *name, *text;
};

struct target_limits {
    size_t text_bytes;    /* of a kernel's file */
    size_t scratch_bytes; /* static variables */
    size_t stack_bytes;   /* of each thread */
    size_t alignment;     /* of every buffer; the rest of an input's last such block may be read */
};

struct target {
    const char *name;    /* "cpu" */
    const char *summary; /* one line */
    const char *suffix;  /* of a kernel's file: ".c" */
    const char *entry;   /* the function that is called: "kernel" */
    enum target_runner runner;
    struct target_limits limits;

    const char *compiler;            /* looked up in PATH; NULL: the text is not compiled */
    const char *const *defaults;     /* for every kernel, NULL-terminated, shown; NULL: none */
    const char *const *service;      /* the same, but of no interest to an author; NULL: none */
    const char *const *linking;      /* from object to what the runner loads; NULL: no such step */
    const struct target_flag *flags; /* what //! flags may add, up to a NULL text; NULL: none */
    const struct target_symbols *symbols; /* up to a NULL `what`; NULL: nothing may be undefined */

    /* Why the target cannot run this program, or NULL if it can. NULL: it can run all. */
    const char *(*supports)(struct arena *arena, const struct program *program);

    /* What stands before every kernel, the same for all tasks. NULL: nothing. */
    const char *headers;

    /* Headers that kernels like to include and that are worth precompiling. NULL: none. */
    const char *const *known_headers;

    /* Headers of ours, which kernels may include by name. NULL: none. */
    const struct target_file *files; /* up to a NULL name */

    /* What stands between the headers and the kernel's text: sizes, prototype. NULL: nothing. */
    void (*prelude)(struct buf *buf, const struct program *program);

    /* The prototype that the kernel must have, without a semicolon. NULL: there is none. */
    void (*signature)(struct buf *buf, const struct program *program);

    /* Reads declarations and checks what is cheap and certain; true if nothing is wrong. The text
     * is neither empty, too large nor binary. NULL: nothing is declared. */
    bool (*read)(struct arena *arena, const struct target *target, const struct program *program,
                 struct target_kernel *kernel, struct target_fault *fault);

    /* See target_explain(). NULL: the compiler's own words stand. */
    bool (*explain)(struct arena *arena, const struct program *program,
                    const struct target_kernel *kernel, const char *diagnostics,
                    struct target_fault *fault);

    /* The rules, for any program. Never NULL. */
    void (*contract)(struct buf *buf, const struct target *target);
};

/* ---- the table ---- */

extern const struct target *const targets[]; /* up to a NULL */

/* NULL if there is none of that name. */
const struct target *
target_find(const char *name);

/* The nearest name for "did you mean", or NULL. */
const char *
target_nearest(const char *name);

/* ---- what they are asked ---- */

/* NULL if the target can run the program, else why not. */
const char *
target_supports(struct arena *arena, const struct target *target, const struct program *program);

/* Reads a kernel's text. True: `kernel` is filled in. False: `fault` says why it is refused. */
bool
target_read(struct arena *arena, const struct target *target, const struct program *program,
            const char *text, size_t length, struct target_kernel *kernel,
            struct target_fault *fault);

/* Headers and prelude: what a kernel's text follows. */
void
target_put_prelude(struct buf *buf, const struct target *target, const struct program *program);

/* Has the kernel a line #include "NAME"? */
bool
target_includes(const struct target_kernel *kernel, const char *name);

/* The headers as they are to be precompiled for this kernel: with the known ones that it names, and
 * the text of ours, unless it asks for a vector width of its own. */
void
target_put_headers(struct buf *buf, const struct target *target,
                   const struct target_kernel *kernel);

/* What stands between the headers and the kernel's text: the prelude, and the numbers that the
 * kernel leaves to the host, the first of each. As text and not as -D, which would make the
 * precompiled headers useless. */
void
target_put_defines(struct buf *buf, const struct target *target, const struct program *program,
                   const struct target_kernel *kernel);

/* The target's own headers that the kernel includes: they must lie beside it. */
const struct target_file *const *
target_files(struct arena *arena, const struct target *target, const struct target_kernel *kernel,
             size_t *count);

/* The whole text for the compiler: headers, prelude, then the kernel under the name `file`, so that
 * messages and line tables have the kernel's own lines. The target's files that the kernel includes
 * must lie where the compiler looks for them. */
void
target_source(struct buf *buf, const struct target *target, const struct program *program,
              const char *file, const struct target_kernel *kernel);

/* The compiler's arguments without the compiler and without files, NULL-terminated: service,
 * defaults, the kernel's flags, a -D for each tuned number. chosen[i] is the position of the value
 * of tune i; NULL: the first of each. */
const char *const *
target_arguments(struct arena *arena, const struct target *target,
                 const struct target_kernel *kernel, const size_t *chosen);

/* The same without the service flags, as one line: what a verdict records. */
void
target_put_flags(struct buf *buf, const struct target *target, const struct target_kernel *kernel,
                 const size_t *chosen);

/* True if the compiler's messages (in the C locale, without colour) say that the kernel breaks the
 * contract, above all its signature; `fault` then says how, in terms of the task. */
bool
target_explain(struct arena *arena, const struct target *target, const struct program *program,
               const struct target_kernel *kernel, const char *diagnostics,
               struct target_fault *fault);

/* May a built kernel refer to this symbol? A version behind @ is ignored. */
bool
target_allows(const struct target *target, const char *symbol);

/* ---- hone.h ---- */

/* Does hone.h define a function of this name? */
bool
target_hone_has(const char *name);

/* The sections of hone.h that define these functions, which it must have, and all that those need,
 * in the file's order: a text that stands alone before what uses them. */
void
target_hone_text(struct buf *buf, const char *const *names, size_t count);

/* ---- texts ---- */

/* The rules; and, for the cases of one task, the prototype, the sizes of each case and the prelude
 * of case number `shown`. programs NULL: the rules alone. */
void
target_contract(struct buf *buf, const struct target *target, const struct program *const *programs,
                size_t count, size_t shown);

/* An allowed flag as the contract writes it: "-O3", "-f[no-]fast-math",
 * "-mprefer-vector-width=128|256|512", "--param=max-unroll-times=N". */
void
target_put_flag(struct buf *buf, const struct target_flag *flag);

/* "f32[R,2*N]": a tensor as an .op file would declare it. */
void
target_put_type(struct buf *buf, const struct tensor *tensor);

/* "R == 1024 && N == 4096": the sizes that tell the cases apart, for #if. */
void
target_put_sizes(struct buf *buf, const struct program *program);

#endif
