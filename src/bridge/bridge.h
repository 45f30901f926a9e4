/* bridge: PyTorch, in a process of its own.
 *
 *   bridge_open        starts it; says in one line how to install it where it is not there
 *   bridge_load        a module in KernelBench's form (Model, get_inputs, get_init_inputs)
 *   bridge_load_task   the PyTorch model of a task of suites/, on the task's own inputs
 *   bridge_build       one of PyTorch's builds of it, warmed
 *   bridge_window      times of single calls; who interleaves calls it again and again
 *   bridge_import      a module in KernelBench's form as a program, checked against PyTorch
 *   bridge_origin      the module that a program was made from
 *   bridge_export      a kernel in the forms that PyTorch takes
 *
 * The two sides speak JSON lines over pipes; tensors lie in memory that both have mapped. The
 * Python text is part of this program (bridge/ in the sources), so nothing but PyTorch must be
 * installed. A module that is imported is somebody's text: it runs in the box, without files or
 * network. One that is measured runs outside, because PyTorch's compiler needs a C++ compiler, a
 * cache and the machine as it is.
 *
 * Ownership law: everything returned lives in the arena given to bridge_open(); bridge_close() ends
 * the processes. A bridge belongs to one thread.
 */
#ifndef HONE_BRIDGE_BRIDGE_H
#define HONE_BRIDGE_BRIDGE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/status.h"
#include "lang/lang.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bridge;

struct bridge_options {
    const char *environment; /* the folder that `run setup-torch` made; NULL: the usual one */
    unsigned threads;        /* of PyTorch; 0: all processors */
    double seconds;          /* bridge_import(): that a module may take; 0: 300 */
};

/* The usual place: $HONE_TORCH, else torch/ in the data folder. NULL without a home. */
const char *
bridge_environment(struct arena *arena);

/* Whether PyTorch is there, without starting it: no message, for those who do without. */
bool
bridge_is_there(struct arena *arena, const struct bridge_options *options);

/* NULL: PyTorch is not there or does not start; `diags` then has one line. `options` may be NULL.
 */
struct bridge *
bridge_open(struct arena *arena, const struct bridge_options *options, struct diags *diags);

void
bridge_close(struct bridge *bridge); /* NULL is allowed */

/* "2.13.0+cpu" */
const char *
bridge_version(const struct bridge *bridge);

/* ---- baselines ---- */

/* The builds of PyTorch. All but the last run with an allocator that keeps its memory: as shipped,
 * PyTorch returns large results in fresh pages, whose faults would be most of the time. That one is
 * shown, never claimed against.
 *    id       name            what it is */
#define BRIDGE_BUILDS_TABLE(X)                                          \
    X(EAGER, "eager", "as written")                                     \
    X(COMPILE, "compile", "torch.compile")                              \
    X(FREEZE, "freeze", "torch.compile with freezing and max-autotune") \
    X(AOT, "aot", "ahead of time, AOTInductor")                         \
    X(SHIPPED, "as shipped", "eager with the allocator as it is shipped, cold")

enum bridge_build {
#define X(id, name, about) BRIDGE_##id,
    BRIDGE_BUILDS_TABLE(X)
#undef X
        BRIDGE_BUILDS
};

const char *
bridge_build_name(enum bridge_build build);
const char *
bridge_build_about(enum bridge_build build);

struct bridge_module;

/* A constant of the module, by its name there (batch_size), and what it should be instead. */
struct bridge_size {
    const char *name;
    int64_t value;
};

/* How a module is loaded. */
struct bridge_terms {
    const struct bridge_size *sizes; /* other than those in its text */
    size_t size_count;
    bool train;                    /* in training mode, not in evaluation mode */
    const struct program *program; /* made from it, whose inputs must have the shapes of the
                                      module's of the same names; NULL: nobody asks */
};

/* Loads a module in KernelBench's form; its inputs are those of its get_inputs(). NULL with the
 * reason. `terms` may be NULL. */
struct bridge_module *
bridge_load(struct bridge *bridge, const char *module_path, const struct bridge_terms *terms,
            struct diags *diags);

/* The PyTorch model of a task of the suites, by its path below suites/ without .op
 * ("kernelbench/1/023_softmax"), on these inputs of a case: the arrays are copied. Inputs with the
 * clause of a weight (a scale, an interval) are the model's parameters, which builds may fold.
 * NULL with the reason, where there is no model. */
struct bridge_module *
bridge_load_task(struct bridge *bridge, const char *task, const struct program *program,
                 const void *const *inputs, struct diags *diags);

/* Frees its memory on the other side. */
void
bridge_unload(struct bridge_module *module);

/* Builds it one way and warms it; false with the reason where that build does not work. */
bool
bridge_build(struct bridge_module *module, enum bridge_build build, struct diags *diags);

/* One window of at most `seconds`: times of single calls in microseconds, at most `most`; short
 * calls are timed several in a row and divided. 0 with the reason after a failure. */
size_t
bridge_window(struct bridge_module *module, enum bridge_build build, double seconds, double *us,
              size_t most, struct diags *diags);

/* ---- import ---- */

struct bridge_imported {
    const char *name;    /* of the operator */
    const char *text;    /* the program, in the house style */
    const char *checked; /* the case that was compared with PyTorch, or sizes in words */
    double difference;   /* the largest, as a part of the output's size */
    bool in_double;      /* PyTorch computed in double precision */
};

/* Translates a module in KernelBench's form, in evaluation or training mode, and compares what the
 * program gives with PyTorch's own output, in double precision, on random inputs. The module runs
 * in the box. STATUS_INPUT: it cannot be translated, with the line; STATUS_NO: the two differ, or
 * it is too large to be compared; *imported then still has the text. */
enum status
bridge_import(struct arena *arena, const struct bridge_options *options, const char *path,
              bool train, uint64_t seed, struct bridge_imported *imported, struct diags *diags);

struct bridge_origin {
    const char *module; /* its file; NULL: none */
    bool train;         /* in training mode */
};

/* The text of a program with a line more, which says to a file in this folder where it is from. */
const char *
bridge_signed(struct arena *arena, const char *text, const char *folder,
              const struct bridge_origin *origin);

/* What that line says. */
struct bridge_origin
bridge_origin(struct arena *arena, const char *text, const char *folder);

/* ---- export ---- */

enum bridge_form {
    BRIDGE_PYTORCH,     /* a folder: an operator of PyTorch, and a test of it */
    BRIDGE_KERNELBENCH, /* one file with ModelNew, C and inline C++ */
};

struct bridge_export {
    enum bridge_form form;
    const struct source *kernel;
    const char *module; /* the text of the module that the task came from, or NULL */
};

struct bridge_output {
    const char *name, *text;
};

/* The files of a kernel for this program, which is one case of its task. STATUS_INPUT: it is no
 * kernel. */
enum status
bridge_export(struct arena *arena, const struct program *program, const struct bridge_export *wish,
              struct bridge_output **outputs, size_t *count, struct diags *diags);

#endif
