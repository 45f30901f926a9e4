/* The pieces of `hone task`. */
#ifndef HONE_APP_TASK_H
#define HONE_APP_TASK_H

#include "app/cli.h"
#include "libhone/face.h"

/* A task with the cases that were asked for. */
struct view {
    struct lang *lang;
    struct program *first; /* of case 0, whatever was asked for: names and the hash come from it */
    const char *hash;
    struct face_case *rows;
    size_t count;
    struct lang_machine machine;
    bool see; /* --see: it is also said if there is nothing to say */
};

/* The screen: title, inputs and outputs, stages in short form, the table of cases. */
void
task_screen(struct buf *buf, const struct view *view, int verbosity);

/* --eval */
enum status
task_eval(struct cli *cli, const struct view *view);

/* The inputs of a program from the .npy files in a folder, in their dtypes. */
enum status
task_read_inputs(struct cli *cli, const struct program *program, const char *folder,
                 void ***inputs);

/* Values of a tensor as folder/name, in double, as task_read_inputs() reads them again. */
enum status
task_write_array(struct cli *cli, const char *folder, const char *name, const struct tensor *tensor,
                 double *values);

/* "3 stages", "1 input" */
void
put_plural(struct buf *buf, size_t count, const char *noun);

/* By tensor: its stage was split off another by expansion (Y.1 of Y) and is shown inside it. */
const bool *
find_split_off(struct arena *arena, const struct program *program);

/* What a stage does, in a few words: "max", "E / sum". */
void
put_short_stage(struct buf *buf, const bool *split, const struct stage *stage);

/* "f32[R,2*H]" */
void
put_type(struct buf *buf, const struct tensor *tensor);

#endif
