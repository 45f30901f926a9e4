/* The names of roles, sections and formats. */
#include "agent/agent.h"

const struct agent_name agent_role_name[AGENT_KIND_COUNT] = {
#define X(id, name, words) {name, words},
    AGENT_ROLES(X)
#undef X
};

const struct agent_section_info agent_section_info[AGENT_SECTION_COUNT] = {
#define X(id, name, drop, tokens, words) {name, words, drop, tokens},
    AGENT_SECTIONS(X)
#undef X
};

const struct agent_name agent_format_name[AGENT_FORMAT_COUNT] = {
#define X(id, name, words) {name, words},
    AGENT_FORMATS(X)
#undef X
};
