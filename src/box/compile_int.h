/* The parts of box_compile(). */
#ifndef HONE_BOX_COMPILE_INT_H
#define HONE_BOX_COMPILE_INT_H

#include "box/box_int.h"

/* One start of the compiler in the jail. */
struct box__command {
    const char *argv[256];
    uint32_t argc;
    struct box_text files[BOX__FDS];
    uint32_t file_count;
    const char *cache; /* the folder of the precompiled prelude, which is then file 0; or NULL */
    struct box_compile_limits limits;
};

void
box__command_arg(struct box__command *command, const char *text);
void
box__command_file(struct box__command *command, const char *name, const char *text, size_t length);

/* Runs it. `result->object` is the file "object", of whatever kind; the rest as for box_compile().
 */
enum status
box__command_run(const struct box *box, struct arena *arena, const struct box__command *command,
                 struct box_compile_result *result, struct box__why *why);

/* The folder with prelude.h.gch for these flags, made now if it is not there yet; NULL where there
 * can be none (the prelude is then read as a text). */
const char *
box__prelude_folder(const struct box *box, struct arena *arena, const char *compiler,
                    const struct box_compile_request *request);

#endif
