/* What the files that read replies share.
 *
 * A reader looks for one form of answer. What it finds is one of three: the answer; something that
 * was meant to be one and cannot be used, with the reason; nothing of the kind. */
#ifndef HONE_AGENT_REPLY_INT_H
#define HONE_AGENT_REPLY_INT_H

#include "agent/agent.h"
#include "base/c_text.h"

#include <jansson.h>

enum reply_found { REPLY_NOTHING, REPLY_BROKEN, REPLY_FOUND };

struct reply_block {  /* between fences */
    const char *info; /* behind the opening one: "c stage Y"; "" */
    const char *text;
    size_t start, end; /* in the whole text, with the fences */
    bool closed;
};

struct reply_reading {
    struct arena *arena;
    const struct agent_role *role;
    unsigned formats;
    char *text; /* clean, without thoughts */
    size_t length;
    struct reply_block *blocks;
    size_t block_count;
    const char *reason; /* of the last REPLY_BROKEN */
};

/* ---- the text (reply_blocks.c) ---- */

/* Lines of a text, without their newlines: true as long as there is one. */
struct reply_line {
    const char *start;
    size_t length;
    const char *next; /* where the next one begins; set it to the text at first */
};

bool
reply__next_line(struct reply_line *line);

/* The line without blanks around it is this word. */
bool
reply__line_is(const struct reply_line *line, const char *word);

/* What stands behind a label at the beginning of the line, whatever ornaments are around it:
 * "**Title:** wider tiles". NULL: there is none. */
const char *
reply__labelled(struct arena *arena, const struct reply_line *line, const char *label);

/* Copies and cleans the reply and cuts it into blocks. False with a reason: there is nothing. */
bool
reply__open(struct reply_reading *reading, const char *text, size_t length);

/* What stands outside of all fences and outside of [start, end), without blanks around it, and not
 * longer than a paragraph or two. */
const char *
reply__prose(const struct reply_reading *reading, size_t start, size_t end);

/* Is there such a word in the info of the block, whatever its case? */
bool
reply__info_has(const struct reply_block *block, const char *word);

/* Sets the reason. Always REPLY_BROKEN. */
enum reply_found
reply__broken(struct reply_reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- readers ---- */

enum reply_found
reply__read_edits(struct reply_reading *reading, struct agent_reply *reply);
enum reply_found
reply__read_stage(struct reply_reading *reading, struct agent_reply *reply);
enum reply_found
reply__read_program(struct reply_reading *reading, struct agent_reply *reply);
enum reply_found
reply__read_fill(struct reply_reading *reading, struct agent_reply *reply);
enum reply_found
reply__read_file(struct reply_reading *reading, struct agent_reply *reply);
enum reply_found
reply__read_schedule(struct reply_reading *reading, struct agent_reply *reply);
enum reply_found
reply__read_list(struct reply_reading *reading, struct agent_reply *reply);
enum reply_found
reply__read_object(struct reply_reading *reading, struct agent_reply *reply);
enum reply_found
reply__read_pick(struct reply_reading *reading, struct agent_reply *reply);
enum reply_found
reply__read_text(struct reply_reading *reading, struct agent_reply *reply);

/* ---- JSON (reply_json.c) ---- */

/* All values in the text that are objects or lists, in their order; comments, trailing commas,
 * other quotes and bare words are forgiven. To be given back with reply__drop(). *cut: one of them
 * does not end. */
size_t
reply__find_json(struct reply_reading *reading, json_t **values, size_t most, bool *cut);
void
reply__drop(json_t **values, size_t count);

/* ---- numbers (reply_number.c) ---- */

/* The figures of a text: one, or a range such as "5-12 %". False: there is none.
 * A gain is told as a factor: "5 %" and "0.05" are 1.05, "1.05x" and "1.05" are themselves. */
bool
reply__figures(const char *text, bool gain, double *low, double *high);

/* Is a field of this name a gain? */
bool
reply__is_gain(const char *name);

/* ---- C (c_look.c) ---- */

/* Does a list of parameters and a body follow? The reader stands behind a name. */
bool
agent__is_definition(struct c_reader reader);

/* Does the text define a function of this name? */
bool
agent__defines(const char *text, size_t length, const char *name);

/* Are all brackets of the text closed? */
bool
agent__balanced(const char *text, size_t length);

/* ---- protected regions (fill.c) ---- */

#define AGENT__IMPROVE "improve" /* //! improve ... //! end */
#define AGENT__END "end"

/* Is the line a mark of this word? */
bool
agent__is_mark(const struct reply_line *line, const char *word);

/* Behind the last line that includes something. */
const char *
agent__below_includes(const char *kernel);

enum status
agent__fill(struct arena *arena, const char *base, const char *text, const char **result,
            const char **reason);

/* ---- one stage as C (stage.c) ---- */

enum status
agent__put_stage(struct arena *arena, const char *base, const char *stage, const char *text,
                 const char **result, const char **reason);

#endif
