/* The names of moments, tools and memories. */
#include "recipe/recipe.h"

const char *const recipe_moment_name[RECIPE_MOMENT_COUNT] = {
#define X(id, name) name,
    RECIPE_MOMENTS(X)
#undef X
};

const char *const recipe_tool_name[RECIPE_TOOL_COUNT] = {
#define X(id, name, words) name,
    RECIPE_TOOLS(X)
#undef X
};

const char *const recipe_tool_words[RECIPE_TOOL_COUNT] = {
#define X(id, name, words) words,
    RECIPE_TOOLS(X)
#undef X
};

const struct recipe_memory_info recipe_memory_info[RECIPE_MEMORY_COUNT] = {
#define X(id, name, words) {name, words},
    RECIPE_MEMORIES(X)
#undef X
};
