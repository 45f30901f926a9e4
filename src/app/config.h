/* Settings: what a flag does not say is said by the environment, by .hone in this folder or above
 * it (up to the repository's root), by config in the configuration folder, or by the default. */
#ifndef HONE_APP_CONFIG_H
#define HONE_APP_CONFIG_H

#include "app/cli.h"
#include "llm/llm.h"

/*    id       key        variable */
#define CONFIG_SETTINGS(X)                         \
    X(MODEL, "model", "HONE_MODEL")                \
    X(COST, "cost", "HONE_COST")                   \
    X(THREADS, "threads", "HONE_THREADS")          \
    X(ARCHIVE, "archive", "HONE_ARCHIVE")          \
    X(RECIPE, "recipe", "HONE_RECIPE")             \
    X(EMBEDDINGS, "embeddings", "HONE_EMBEDDINGS") \
    X(TORCH, "torch", "HONE_TORCH")

enum config_id {
#define X(id, key, variable) CONFIG_##id,
    CONFIG_SETTINGS(X)
#undef X
        CONFIG_COUNT
};

extern const char *const config_key[CONFIG_COUNT];

struct config_value {
    const char *text; /* NULL: nothing is set, and there is no default */
    const char *from; /* "default", "HONE_COST", "~/.config/hone/config:3" */
};

struct config {
    struct config_value values[CONFIG_COUNT];
    struct llm_provider *providers;
    size_t provider_count;
    const char *folder; /* of configuration; NULL without a home */
};

/* Once a run of the program; what is wrong in a file is told with its line. */
enum status
config_read(struct cli *cli, const struct config **config);

/* --threads, else the setting; 0: nobody says. */
enum status
config_threads(struct cli *cli, unsigned *threads);

/* A path as people write it: "~/.config/hone/config". */
const char *
config_shorten(struct arena *arena, const char *path);

/* A client for models, with the user's providers and prices. --env-file, which the verb must have,
 * is read first: its lines NAME=VALUE become variables where there are none yet. `replay` answers
 * replay:NAME (NULL: nothing does); offline as in llm_options. */
enum status
config_open_llm(struct cli *cli, const struct llm_source *replay, bool offline, struct llm **llm);

#endif
