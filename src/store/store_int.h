/* What the files of store share. */
#ifndef HONE_STORE_STORE_INT_H
#define HONE_STORE_STORE_INT_H

#include "store/store.h"

#include <sqlite3.h>

struct store {
    struct arena *arena; /* of the store itself; nothing is added after opening */
    sqlite3 *db;
    const char *path, *folder; /* as the caller named it */
    char *runs_path;           /* the file whose locks say which runs have a process */
    int runs_file;             /* -1: none of ours */
    double patience;
    /* The first error of the call that is under way; what comes after it does nothing. */
    int error, system_error;
    char message[200];
};

/* ---- schema.c ---- */

#define STORE_APPLICATION 0x486f6e65 /* "Hone" */

/* Step n brings schema n to n + 1. Steps are only ever added. */
extern const char *const store__steps[];
extern const size_t store__step_count;

/* Is it an archive, and one that `count` steps suffice for? Changes nothing. */
enum status
store__identify(struct store *store, size_t count, struct diags *diags);

/* All missing steps in one transaction. */
enum status
store__migrate(struct store *store, const char *const *steps, size_t count, const char *program,
               double now, struct diags *diags);

/* store_open() with other steps, for the tests of migration. */
enum status
store__open(const char *path, const struct store_options *options, const char *const *steps,
            size_t count, struct store **store, struct diags *diags);

/* ---- error.c ---- */

/* Keeps `code` as the call's error, if it is one and the first. */
void
store__note(struct store *store, int code);

/* Turns the kept error into a message. Only when no transaction is open: messages need memory. */
enum status
store__failed(struct store *store, struct diags *diags);

enum status
store__no_memory(struct diags *diags);

enum status
store__say(enum status status, struct diags *diags, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- owner.c ---- */

/* The run's process is this one, until it ends. False: another has it, or store->error is set. */
bool
store__own(struct store *store, int64_t run);
void
store__disown(struct store *store, int64_t run);
bool
store__has_owner(const struct store *store, int64_t run);

/* ---- name.c ---- */

/* A name that no run has, within a transaction. */
void
store__new_name(struct store *store, char name[STORE_NAME]);

/* The id of a run named by a prefix, `last` or `best`; within a transaction. 0: *why (in the arena)
 * says why there is none, or store->error is set. */
int64_t
store__run_named(struct store *store, struct arena *arena, const char *name, const char **why);

/* ---- read.c ---- */

/* Room for one element more in an array that grows by doubling. */
void *
store__room_for(struct arena *arena, void *array, size_t count, size_t size);

/* The number of the best candidate of a run, -1: none. */
int64_t
store__best_number(struct store *store, int64_t run);

/* False: no such candidate, or store->error is set. */
bool
store__read_candidate(struct store *store, struct arena *arena, int64_t id,
                      enum store_detail detail, struct store_candidate *candidate);

#endif
