/* What the files that write prompts share. */
#ifndef HONE_AGENT_PROMPT_INT_H
#define HONE_AGENT_PROMPT_INT_H

#include "agent/agent.h"

/* Between fences longer than any in the text, so that it cannot end them. */
void
prompt__put_fenced(struct buf *buf, const char *text, const char *language);

/* ---- words (prompt_words.c) ---- */

/* Who it is and what it does. */
const char *
prompt__task(struct arena *arena, const struct agent_role *role);

/* How to reply, in these formats, with an example of each. */
const char *
prompt__form(struct arena *arena, const struct agent_role *role, unsigned formats);

/* JSON Schema, where the reply is JSON of one form alone; else NULL. */
const char *
prompt__schema(struct arena *arena, const struct agent_role *role, unsigned formats);

#endif
