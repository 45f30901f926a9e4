/* What the parser makes of a file: statements and expressions as written, with their places.
 * Names are interned per file set, so that equal names are equal pointers. */
#ifndef HONE_LANG_AST_INT_H
#define HONE_LANG_AST_INT_H

#include "lang/lang.h"

#define LANG_MAX_NESTING 256
#define LANG_MAX_HEIGHT 1024 /* of an expression: long chains count too */
#define LANG_MAX_NAME 63
#define LANG_MAX_STAGES 10000
#define LANG_MAX_INPUTS 4096

/* ---- reserved words ---- */

enum word_kind { WORD_NONE, WORD_STATEMENT, WORD_DTYPE, WORD_REDUCTION, WORD_FUNCTION, WORD_OTHER };

/* min and max are both reductions and functions: WORD_REDUCTION. */
enum word_kind
word_kind(const char *name);
bool
word_dtype(const char *name, enum dtype *dtype);
bool
word_reduction(const char *name, enum reduction *reduction);
/* Functions by name; `clamp` is not one (it is min(max())), the caller knows it. */
bool
word_function(const char *name, enum op *op);

/* ---- tokens ---- */

enum token_kind {
    TOKEN_END,
    TOKEN_NEWLINE,
    TOKEN_NAME,
    TOKEN_INTEGER,
    TOKEN_REAL,
    TOKEN_STRING,
    TOKEN_SIGN, /* operators and brackets: told apart by their text */
    TOKEN_ELLIPSIS,
};

struct token {
    enum token_kind kind;
    enum word_kind word; /* names: what the language reserves them for */
    struct place place;
    const char *text; /* names: interned; strings: without the quotes; others: in the source */
    uint32_t length;
    uint32_t offset; /* in the source */
};

struct names; /* interned */

struct names *
names_create(struct arena *arena);
const char *
names_intern(struct names *names, const char *text, size_t length);
enum word_kind
names_word(struct names *names, const char *interned);

struct tokens {
    struct token *items; /* the last one is TOKEN_END */
    size_t count;
};

/* Never fails: what is no token is reported and left out. */
struct tokens
lex(struct arena *arena, struct names *names, const struct source *source, struct diags *diags);

static inline bool
token_is(const struct token *token, const char *text)
{
    size_t i = 0;
    for (; i < token->length; i++)
        if (text[i] != token->text[i])
            return false;
    return text[i] == '\0' && token->kind >= TOKEN_NAME && token->kind != TOKEN_STRING;
}

/* ---- expressions ---- */

enum ast_form {
    AST_INTEGER,
    AST_REAL,
    AST_NAME,
    AST_SIZE,     /* size(name) or size(...): name NULL */
    AST_ELEMENT,  /* name [ args | guard ] */
    AST_REDUCE,   /* reduction [ indices ? guard ] ( args[0] ) */
    AST_CAT,      /* cat [ name ] ( args with extents ) */
    AST_CALL,     /* name ( args ), functions, defs, operators and `if` alike */
    AST_CAST,     /* dtype ( args[0] ) */
    AST_OPERATOR, /* op applied to args */
    AST_ELLIPSIS, /* as a subscript */
};

struct ast_index {    /* an index with its extent, where indices are introduced */
    const char *name; /* NULL: "..." */
    struct place place;
    const struct ast *extent; /* or NULL */
};

struct ast_named { /* NAME = cexpr */
    const char *name;
    struct place place;
    const struct ast *value;
};

struct ast {
    enum ast_form form;
    struct place place;
    unsigned height;
    const char *name;
    int64_t integer;
    double real;
    enum op op;
    enum reduction reduction;
    enum dtype dtype;
    const struct ast **args;
    size_t count;
    const struct ast *guard;    /* default of an element, filter of a reduction, or NULL */
    const struct ast **extents; /* CAT: written extents of pieces, NULL where inferred */
    const struct ast_index *indices;
    size_t index_count;
    const struct ast_named *named; /* CALL: NAME=value arguments */
    size_t named_count;
};

/* ---- statements ---- */

enum statement_form {
    STATEMENT_DIM,
    STATEMENT_CONST,
    STATEMENT_PARAM,
    STATEMENT_IN,
    STATEMENT_OUT,
    STATEMENT_DEF,
    STATEMENT_REQUIRE,
    STATEMENT_CASE,
    STATEMENT_USE,
    STATEMENT_REFERENCE,
    STATEMENT_REC,
    STATEMENT_STAGE,
    STATEMENT_WHOLE,
};

struct type { /* ": f32" or ": like X" */
    bool given;
    enum dtype dtype;
    const char *like; /* or NULL */
    struct place place;
};

struct domain_clause {
    enum domain_form form;
    struct place place;
    const struct ast **values;
    size_t count;
};

struct statement {
    enum statement_form form;
    struct place place;
    const char *name;              /* STAGE, DEF, CASE, REC's index; path of USE, REFERENCE */
    bool flag;                     /* DIM: any; CASE: check */
    const struct ast_named *named; /* DIM CONST PARAM CASE */
    size_t named_count;
    const struct ast_index *names; /* IN, OUT, WHOLE results, DEF parameters; extents unused */
    size_t name_count;
    struct type *types;           /* WHOLE: one a result; STAGE, IN, OUT: one */
    const struct ast_index *left; /* STAGE: left indices. IN, OUT: extents, NULL extent for "..." */
    size_t left_count;
    bool has_shape;               /* OUT */
    struct domain_clause domain;  /* IN */
    const struct ast *value;      /* STAGE, WHOLE, DEF, REQUIRE, REC's extent */
    double relative, absolute;    /* REFERENCE */
    const struct statement *body; /* REC */
    size_t body_count;
};

struct operator
{
    const char *name;
    struct place place;
    const struct statement *statements;
    size_t count;
    size_t inputs;   /* how many */
    size_t position; /* its order in the file */
};

struct def {
    const char *name;
    const struct statement *statement;
    const struct unit *unit;
};

struct unit { /* a parsed file */
    struct source source;
    const struct operator* operators;
    size_t operator_count;
    const struct def *defs;
    size_t def_count;
    struct unit **used; /* by `use`, filled in by lang.c */
    size_t used_count;
};

/* Parses everything it can; mistakes are in diags. Never NULL. */
struct unit *
parse(struct arena *arena, struct names *names, const struct source *source, struct diags *diags);

#endif
