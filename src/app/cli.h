/* The command line: one table of verbs, from which the parser of options, the help, the manual page
 * and the completion are made. */
#ifndef HONE_APP_CLI_H
#define HONE_APP_CLI_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/status.h"
#include "lang/lang.h"

struct cli;
struct config;

struct option {
    char letter;       /* 0: none */
    const char *name;  /* NULL: only the letter; first of all, NULL and 0 end the list */
    const char *value; /* what follows, as the help writes it; NULL: a flag. "X[,X]": a list, and
                          the option may be repeated */
    const char *help;
};

enum group { GROUP_START, GROUP_LOOK, GROUP_GO_ON, GROUP_COUNT };

struct verb {
    const char *name;
    enum group group;
    const char *summary;  /* one line */
    const char *operands; /* behind the verb, for the usage line */
    const char *details;  /* paragraphs, lines of at most 92 columns */
    const char *example;  /* "hone task x.op", or NULL: shown by `hone` alone, with example_note */
    const char *example_note;
    const struct option *options;
    size_t least, most; /* operands */
    bool paged;         /* its result may be long: on a terminal $PAGER shows it */
    enum status (*run)(struct cli *cli);
};

extern const struct verb verbs[];            /* ended by a NULL name */
extern const struct option global_options[]; /* which every verb has */
extern const char *const group_name[GROUP_COUNT];

/* One run of the program. */
struct cli {
    struct arena *arena;
    struct diags *diags; /* printed at the end, on stderr */
    struct log log;
    struct buf out; /* the result, written to stdout at the end */
    const struct verb *verb;
    const char **given; /* by the verb's option: NULL, its value, or "" for a flag */
    const char **operands;
    size_t operand_count;
    bool json, help;
    const char *archive; /* --archive; NULL: as the settings say */
    int verbosity;
    enum log_colour colour;
    const struct config *config; /* what config_read() found; NULL: nobody has looked */
};

/* Sets verb, given and operands; without a verb cli->verb is NULL. */
enum status
cli_parse(struct cli *cli, int argc, char **argv);

/* The value of an option of this verb, "" for a flag, NULL if it was not given. */
const char *
cli_given(const struct cli *cli, const char *name);

/* A message without a position; always STATUS_INPUT. */
enum status
cli_wrong(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The numbers of the cases that --case names; without it the first `otherwise` ones. */
enum status
cli_cases(struct cli *cli, const struct lang *lang, size_t otherwise, size_t **numbers,
          size_t *count);

/* The one case that --case names, else the first. */
enum status
cli_one_case(struct cli *cli, const struct lang *lang, size_t *number);

/* --seed, at most so many hex digits; *seed stays as it is if none was given. */
enum status
cli_seed(struct cli *cli, size_t digits, uint64_t *seed);

/* All of the standard input, at most as much as a program may have. */
enum status
cli_stdin(struct cli *cli, struct source *source);

const struct verb *
cli_find_verb(const char *name);

/* "task": no such verb; did you mean ... */
enum status
cli_no_verb(struct cli *cli, const char *name);

/* ---- the texts made from the table ---- */

void
help_overview(struct buf *buf);
void
help_verb(struct buf *buf, const struct verb *verb);
void
man_page(struct buf *buf);
void
completion(struct buf *buf);

/* "--case NAME", "-o DIR", "-q, --quiet" */
void
put_option(struct buf *buf, const struct option *option);

/* ---- the verbs ---- */

enum status
verb_task(struct cli *cli);
enum status
verb_fmt(struct cli *cli);
enum status
verb_contract(struct cli *cli);
enum status
verb_judge(struct cli *cli);
enum status
verb_optimize(struct cli *cli);
enum status
verb_bench(struct cli *cli);
enum status
verb_resume(struct cli *cli);
enum status
verb_replay(struct cli *cli);
enum status
verb_schedule(struct cli *cli);
enum status
verb_export(struct cli *cli);
enum status
verb_import(struct cli *cli);
enum status
verb_new(struct cli *cli);
enum status
verb_show(struct cli *cli);
enum status
verb_explain(struct cli *cli);
enum status
verb_report(struct cli *cli);
enum status
verb_diff(struct cli *cli);
enum status
verb_say(struct cli *cli);
enum status
verb_add(struct cli *cli);
enum status
verb_machine(struct cli *cli);
enum status
verb_models(struct cli *cli);
enum status
verb_recipes(struct cli *cli);
enum status
verb_config(struct cli *cli);
enum status
verb_help(struct cli *cli);
enum status
verb_version(struct cli *cli);

#endif
