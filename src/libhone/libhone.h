/* libhone: tensor programs from C.
 *
 *     struct hone_task *task;
 *     if (hone_open("softmax.op", &task) != HONE_OK)
 *         fputs(hone_error(task), stderr);
 *     ...
 *     hone_close(task);
 *
 * A task is an operator with its cases; case 0 is "default". A program asks for the sizes of inputs
 * and outputs in a case, gives the inputs, and gets the values that the program means, in double
 * precision, with the error that a kernel in the task's own arithmetic may make.
 *
 * Ownership law: what is returned belongs to the task and lives until hone_close(). Arrays that the
 * caller passes stay the caller's. A task is used by one thread at a time; different tasks are
 * independent.
 *
 * Errors: functions that can fail return one of the codes below; hone_error() then tells what was
 * wrong, with file, line and what to write instead. Nothing is ever printed. Memory that runs out
 * is HONE_MACHINE.
 */
#ifndef LIBHONE_H
#define LIBHONE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_VERSION "0.1"
#define HONE_MAX_RANK 8

enum hone_code {
    HONE_OK = 0,
    HONE_INPUT = -2,   /* the caller's mistake: the program's text, a number out of range */
    HONE_MACHINE = -3, /* this machine's: no memory, no compiler */
};

struct hone_task;

/* The version of the library in use, as in HONE_VERSION. */
const char *
hone_version(void);

/* Reads a program from a file, or from memory (`name` stands for the file's name in messages and
 * gives the task's name if the text has none). *task is set also after an error, for hone_error(),
 * and is to be closed then too; it is NULL only when there was no memory for it. */
int
hone_open(const char *path, struct hone_task **task);
int
hone_parse(const char *name, const char *text, size_t length, struct hone_task **task);

void
hone_close(struct hone_task *task); /* NULL is allowed */

/* What went wrong in the last call that failed, one line or more, "" if none did. For a NULL task:
 * that memory ran out. */
const char *
hone_error(const struct hone_task *task);

/* Remarks on the program that are not errors, such as an input that is never read; "" if none. */
const char *
hone_warnings(const struct hone_task *task);

const char *
hone_name(const struct hone_task *task);

/* 64 hex digits: equal for programs that compute the same in the same way, whatever their names. */
const char *
hone_hash(const struct hone_task *task);

size_t
hone_case_count(const struct hone_task *task);
const char *
hone_case_name(const struct hone_task *task, size_t number); /* NULL: no such case */

size_t
hone_input_count(const struct hone_task *task);
size_t
hone_output_count(const struct hone_task *task);

struct hone_tensor {
    const char *name;
    const char *dtype;   /* "f64" "f32" "f16" "bf16" "i32" "i8" "u8" "bool" */
    size_t element_size; /* bytes of an element of that type */
    unsigned rank;
    int64_t shape[HONE_MAX_RANK]; /* dense, row-major */
    int64_t count;                /* elements: the product of the shape */
};

/* Input or output number `number` in a case. HONE_INPUT if there is no such case or tensor. */
int
hone_input(struct hone_task *task, size_t case_number, size_t number, struct hone_tensor *tensor);
int
hone_output(struct hone_task *task, size_t case_number, size_t number, struct hone_tensor *tensor);

/* The description that `hone task --json` prints: one object, its field names are stable. */
int
hone_json(struct hone_task *task, const char **json);

/* Fills `data` (count * element_size bytes) with values that input may have. The distribution is
 * one of normal, uniform, heavy, small, offset, constant, ramp, integers, denormal, infinite,
 * mixed; the same seed gives the same values. */
int
hone_draw(struct hone_task *task, size_t case_number, size_t number, const char *distribution,
          uint64_t seed, void *data);

/* What the program means for these inputs (one pointer an input, elements in its dtype). values[i]
 * has room for the elements of output i, as doubles. allowed may be NULL; else allowed[i] has the
 * same room and receives how far a right kernel may be from each value (NaN: not judged, because
 * rounding decides it). The first call for a case builds the reference with gcc and keeps it. */
int
hone_evaluate(struct hone_task *task, size_t case_number, const void *const *inputs,
              double *const *values, double *const *allowed);

#ifdef __cplusplus
}
#endif

#endif
