/* What the files of store share. */
#ifndef HONE_STORE_STORE_INT_H
#define HONE_STORE_STORE_INT_H

#include "store/store.h"

#include <sqlite3.h>

#define STORE_STATEMENTS 128 /* that are kept; there are fewer in the program */

struct store_statement {
    const char *text; /* known again by its address */
    sqlite3_stmt *statement;
    bool busy;
};

struct store {
    struct arena *arena; /* of the store itself; nothing is added after opening */
    sqlite3 *db;
    const char *path, *folder; /* as the caller named it */
    char *runs_path;           /* the file whose locks say which runs have a process */
    int runs_file;             /* -1: none of ours */
    double patience;
    bool has_log; /* a write-ahead log */
    bool loose;   /* the connection does not sync what it writes: SQL_JOTS */
    struct store_statement statements[STORE_STATEMENTS];
    size_t statement_count;
    /* The first error of the call that is under way; what comes after it does nothing. */
    int error, system_error;
    char message[200];
};

/* ---- steps.c, schema.c ---- */

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

/* An error of our own finding; the message is a constant of the program. */
void
store__fail(struct store *store, int code, const char *message);

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

/* Benchmarks are owned in the same way, by the bytes from here on. */
#define STORE_OWNED_BENCH ((int64_t)1 << 40)

/* ---- name.c ---- */

/* A name that no run and no benchmark has, within a transaction. */
void
store__new_name(struct store *store, char name[STORE_NAME]);

/* The id of a run named by a prefix, `last` or `best`; within a transaction. 0: *why (in the arena)
 * says why there is none, or store->error is set. */
int64_t
store__run_named(struct store *store, struct arena *arena, const char *name, const char **why);

/* The same for benchmarks; there is no `best`. */
int64_t
store__bench_named(struct store *store, struct arena *arena, const char *name, const char **why);

/* ---- text.c ---- */

/* Stays where it is, instead of in the table `text`. */
bool
store__is_short(size_t count);

/* The row of a text, which is made if it is new; within a transaction that writes. */
int64_t
store__text_add(struct store *store, const char *bytes, size_t count);

/* Ends with a zero, which is not counted. */
char *
store__text_get(struct store *store, struct arena *arena, int64_t id, size_t *count);

/* hone_keep(), for steps. */
void
store__text_functions(struct store *store);

/* ---- run.c ---- */

enum status
store__no_such_run(const struct store *store, int64_t run, struct diags *diags);

/* A candidate of the run was judged: is it the leader, is it still? */
void
store__lead(struct store *store, int64_t run, int64_t candidate);

/* ---- candidate.c ---- */

/* False: no such candidate, or store->error is set. */
bool
store__read_candidate(struct store *store, struct arena *arena, int64_t id,
                      enum store_detail detail, struct store_candidate *candidate);

/* ---- words.c ---- */

struct store_words { /* statements of a full-text table */
    const char *insert, *merge;
};

extern const struct store_words store__candidate_words, store__item_words;

/* Gives a row of it its two texts. */
void
store__add_words(struct store *store, const struct store_words *words, int64_t row,
                 const char *first, size_t first_count, const char *second);

/* The different pieces of a text between the characters that `parts` names, at most `most`. */
size_t
store__pieces(struct arena *arena, const char *text, bool (*parts)(char c), size_t most,
              const char ***pieces);
bool
store__is_blank(char c);
bool
store__is_no_letter(char c); /* nor a digit */

/* A full-text query for the pieces, joined by "AND" or "OR". */
const char *
store__words_query(struct arena *arena, const char *const *pieces, size_t count, const char *joint);

/* A word is rare as long as fewer rows have it. bm25 looks at all that have a word, which is fast
 * for rare ones only; of the rows that have another the newest so many are looked at. */
#define STORE_FEW 200

/* Brings the pieces that some row has into order, the rarest first, and counts them; *rare of them
 * are rare. `query` gives the newest rows that match, at most so many. */
size_t
store__weigh_words(struct store *store, struct arena *arena, const char *query, const char **pieces,
                   size_t count, size_t *rare);

/* ---- call.c ---- */

/* Within a transaction; false: there is no such call, or it has ended. */
bool
store__end_call(struct store *store, const struct store_call *call);
/* Ends the transaction, and says so. */
enum status
store__no_such_call(struct store *store, const struct store_call *call, struct diags *diags);

/* ---- like.c ---- */

/* The kinds that the words name; without any, all that there are. Within a transaction. */
size_t
store__kinds(struct store *store, struct arena *arena, const char *words, const char ***kinds);

/* ---- vector.c ---- */

struct store_near {
    int64_t item;
    double cosine;
};

/* The items of a kind whose texts are nearest to this one by the model's vectors, unordered; within
 * a transaction. None: the text has no vector. */
size_t
store__near(struct store *store, struct arena *arena, const char *model, const char *text,
            const char *kind, struct store_near **near);

/* ---- item.c ---- */

bool
store__read_item(struct store *store, struct arena *arena, int64_t id, struct store_item *item);

/* Within a transaction. */
void
store__add_event(struct store *store, struct store_event *event);

#endif
