/* A task in words: sizes, types, and which operator of the catalogue fits best. */
#include "lang/lang.h"

#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORDS 64
#define MOST_SHAPES 8
#define MOST_RANK 8
#define LARGEST_SIZE (INT64_C(1) << 40)

/* ---- words ---- */

/* Words that say nothing about the operator. */
static const char *const empty_words[] = {
    "a",    "an",   "the",    "of",     "over",     "in",      "on",    "and",    "with", "for",
    "to",   "by",   "from",   "is",     "each",     "all",     "its",   "it",     "that", "i",
    "want", "need", "please", "kernel", "operator", "op",      "fast",  "some",   "my",   "dim",
    "dims", "size", "sizes",  "shape",  "tensor",   "tensors", "input", "inputs", "data", "torch",
    "f",    "x",    "y",      "then",   "as",       "at",      "be",    "one",    "two",  "which",
};

/* What people say, and what the library says. */
static const struct {
    const char *said, *meant;
} synonyms[] = {
    {"multiplication", "matmul"},
    {"multiply", "matmul"},
    {"gemm", "matmul"},
    {"sgemm", "matmul"},
    {"convolution", "conv2d"},
    {"conv", "conv2d"},
    {"normalization", "norm"},
    {"normalisation", "norm"},
    {"layernorm", "layer_norm"},
    {"rmsnorm", "rms_norm"},
    {"batchnorm", "batch_norm"},
    {"groupnorm", "group_norm"},
    {"gradient", "backward"},
    {"grad", "backward"},
    {"swish", "silu"},
    {"pooling", "pool"},
    {"maxpool", "max_pool"},
    {"avgpool", "avg_pool"},
    {"crossentropy", "cross_entropy"},
    {"prefix", "cumsum"},
    {"average", "mean"},
    {"average_pool", "avg_pool"},
    {"mean_pool", "avg_pool"},
    {"cumulative", "cumsum"},
    {"quantized", "qlinear"},
    {"quantised", "qlinear"},
    {"maximum", "max"},
    {"minimum", "min"},
    {"transposed", "transpose"},
    {"gpt", "transformer"},
    {"dense", "linear"},
    {"concatenate", "concat"},
};

static const struct {
    const char *word;
    enum dtype dtype;
} types[] = {
    {"float", DTYPE_F32},  {"floats", DTYPE_F32},    {"f32", DTYPE_F32},  {"fp32", DTYPE_F32},
    {"double", DTYPE_F64}, {"doubles", DTYPE_F64},   {"f64", DTYPE_F64},  {"fp64", DTYPE_F64},
    {"half", DTYPE_F16},   {"f16", DTYPE_F16},       {"fp16", DTYPE_F16}, {"float16", DTYPE_F16},
    {"bf16", DTYPE_BF16},  {"bfloat16", DTYPE_BF16}, {"int8", DTYPE_I8},  {"i8", DTYPE_I8},
};

static bool
among(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* ---- sizes ---- */

/* "4096x1024", also with a * between; false: it is none. */
static bool
read_shape(struct arena *arena, const char *word, struct lang_shape *shape)
{
    int64_t *sizes = arena_array(arena, MOST_RANK, sizeof *sizes);
    size_t rank = 0;
    for (const char *at = word;; at++) {
        char *end;
        if (!isdigit((unsigned char)*at) || rank == MOST_RANK)
            return false;
        sizes[rank++] = strtoll(at, &end, 10);
        if (*end == '\0')
            break;
        if (*end != 'x' && *end != '*')
            return false;
        at = end;
    }
    *shape = (struct lang_shape){sizes, rank};
    return rank >= 2;
}

/* "N=512" */
static bool
read_size(struct arena *arena, const char *word, struct lang_size *size)
{
    const char *equals = strchr(word, '=');
    if (equals == NULL || equals == word || !text_integer(equals + 1, &size->size))
        return false;
    size->dim = arena_strndup(arena, word, (size_t)(equals - word));
    return true;
}

static enum status
check_size(struct diags *diags, const char *word, int64_t size)
{
    if (size >= 1 && size <= LARGEST_SIZE)
        return STATUS_OK;
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s: a size is a number from 1 on", word);
    return STATUS_INPUT;
}

/* ---- reading ---- */

struct reading {
    struct arena *arena;
    struct diags *diags;
    struct lang_shape *shapes;
    struct lang_size *sizes;
    const char **words;
    bool *without;
    size_t shape_count, size_count, count;
    enum dtype dtype;
    bool negative; /* "without" stands before what comes */
};

static const char *
lower(struct arena *arena, const char *word)
{
    char *copy = arena_strdup(arena, word);
    for (char *at = copy; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return copy;
}

static const char *
meaning(const char *word)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(word, synonyms[i].said) == 0)
            return synonyms[i].meant;
    return word;
}

static enum status
take_shape(struct reading *reading, const char *word, const struct lang_shape *shape)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < shape->rank && status == STATUS_OK; i++)
        status = check_size(reading->diags, word, shape->sizes[i]);
    if (reading->shape_count < MOST_SHAPES)
        reading->shapes[reading->shape_count++] = *shape;
    return status;
}

static void
take_plain(struct reading *reading, const char *word)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(word, types[i].word) == 0) {
            reading->dtype = types[i].dtype;
            if (reading->dtype == DTYPE_I8) /* there are operators for these */
                reading->words[reading->count++] = "int";
            return;
        }
    if (strcmp(word, "without") == 0 || strcmp(word, "no") == 0) {
        reading->negative = true;
        return;
    }
    int64_t number;
    if (text_integer(word, &number) ||
        among(word, empty_words, sizeof empty_words / sizeof *empty_words))
        return;
    reading->words[reading->count] = meaning(word);
    reading->without[reading->count++] = reading->negative;
    reading->negative = false;
}

static enum status
take_word(struct reading *reading, const char *word)
{
    struct arena *arena = reading->arena;
    struct lang_shape shape;
    struct lang_size size;
    const char *small = lower(arena, word);
    if (read_shape(arena, small, &shape))
        return take_shape(reading, word, &shape);
    if (read_size(arena, word, &size)) {
        if (reading->size_count < MOST_WORDS)
            reading->sizes[reading->size_count++] = size;
        return check_size(reading->diags, word, size.size);
    }
    if (reading->count < MOST_WORDS)
        take_plain(reading, small);
    return STATUS_OK;
}

enum status
lang_read_words(struct arena *arena, const char *text, struct lang_words *words,
                struct diags *diags)
{
    struct reading reading = {
        .arena = arena,
        .diags = diags,
        .shapes = arena_array(arena, MOST_SHAPES, sizeof *reading.shapes),
        .sizes = arena_array(arena, MOST_WORDS, sizeof *reading.sizes),
        .words = arena_array(arena, MOST_WORDS, sizeof *reading.words),
        .without = arena_array(arena, MOST_WORDS, sizeof *reading.without),
        .dtype = DTYPE_F32,
    };
    enum status status = STATUS_OK;
    char *rest = arena_strdup(arena, text);
    for (char *word; status == STATUS_OK && (word = strsep(&rest, " ,;:()[]\"'\t\n")) != NULL;)
        if (*word != '\0')
            status = take_word(&reading, word);
    *words = (struct lang_words){.wish = {.dtype = reading.dtype,
                                          .shapes = reading.shapes,
                                          .shape_count = reading.shape_count,
                                          .sizes = reading.sizes,
                                          .size_count = reading.size_count},
                                 .words = reading.words,
                                 .without = reading.without,
                                 .count = reading.count};
    return status;
}

/* ---- which operator ---- */

/* How well two words agree: 1 the same, less if one begins the other. */
static double
agreement(const char *a, size_t m, const char *b, size_t n)
{
    size_t common = 0, least = m < n ? m : n;
    while (common < least && tolower((unsigned char)a[common]) == tolower((unsigned char)b[common]))
        common++;
    if (common == m && common == n)
        return 1;
    return common == least && common >= 4 ? 0.6 : 0;
}

/* The best agreement of a word with one of those in a text; *negative: that one stands behind
 * "without" or "no". */
static double
best_agreement(const char *word, const char *text, bool *negative)
{
    double best = 0;
    bool behind = false;
    for (const char *at = text; *at;) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]))
            length++;
        double here = length ? agreement(word, strlen(word), at, length) : 0;
        if (here > best) {
            best = here;
            *negative = behind;
        }
        if (length > 0)
            behind = (length == 7 && strncasecmp(at, "without", 7) == 0) ||
                     (length == 2 && strncasecmp(at, "no", 2) == 0);
        at += length + (length == 0);
    }
    return best;
}

/* Rare words say more. */
static double
weight(const char *word, const struct lang_entry *entries, size_t count)
{
    size_t having = 0;
    bool negative;
    for (size_t i = 0; i < count; i++)
        having += best_agreement(word, entries[i].name, &negative) > 0 ||
                  best_agreement(word, entries[i].about, &negative) > 0;
    return having ? log(1 + (double)count / (double)having) : 0;
}

/* Whether a part of a name was said; "rms_norm" says both of its parts. */
static bool
is_said(const struct lang_words *request, const char *part, size_t length)
{
    for (size_t i = 0; i < request->count; i++)
        for (const char *at = request->words[i]; *at;) {
            size_t here = strcspn(at, "_");
            if (agreement(at, here, part, length) > 0)
                return true;
            at += here + (at[here] == '_');
        }
    return false;
}

/* Parts of a name that nobody said: rms_norm_backward is not rms_norm. */
static double
unsaid(const struct lang_words *request, const char *name)
{
    double parts = 0;
    for (const char *at = name; *at;) {
        size_t length = strcspn(at, "_");
        parts += !is_said(request, at, length);
        at += length + (at[length] == '_');
    }
    return parts;
}

static double
word_score(const char *word, bool without, const struct lang_entry *entry)
{
    bool negative = false, behind = false, pair = strchr(word, '_') != NULL;
    double in_name =
        pair ? text_starts(entry->name, word) : best_agreement(word, entry->name, &negative);
    double in_about = pair ? 0 : best_agreement(word, entry->about, &behind);
    if (strcmp(word, entry->name) == 0)
        in_name = 1.2;
    if (in_name + in_about == 0) /* said, and not there; pairs of words are only guesses */
        return without || pair ? 0 : -1;
    double named = without ? -in_name : in_name;
    return 3 * named + (in_about > 0 ? (behind == without ? in_about : -in_about) : 0);
}

static double
score(const struct lang_words *request, const double *weights, const struct lang_entry *entry)
{
    double sum = 0;
    for (size_t i = 0; i < request->count; i++)
        sum += weights[i] * word_score(request->words[i], request->without[i], entry);
    if (sum <= 0)
        return 0;
    /* An example has sizes and cases that somebody chose. */
    return sum - 4 * unsaid(request, entry->name) + (entry->kind == LANG_EXAMPLE ? 0.5 : 0);
}

static int
best_first(const void *a, const void *b)
{
    double left = ((const struct lang_match *)a)->score,
           right = ((const struct lang_match *)b)->score;
    if (left != right)
        return left > right ? -1 : 1;
    const struct lang_entry *x = ((const struct lang_match *)a)->entry;
    const struct lang_entry *y = ((const struct lang_match *)b)->entry;
    return x < y ? -1 : x > y; /* as they stand in the library */
}

/* "rms norm" is "rms_norm" too. */
static struct lang_words
with_pairs(struct arena *arena, const struct lang_words *request)
{
    struct lang_words more = *request;
    const char **words = arena_array(arena, 2 * request->count + 1, sizeof *words);
    bool *without = arena_array(arena, 2 * request->count + 1, sizeof *without);
    more.count = 0;
    for (size_t i = 0; i < request->count; i++) {
        words[more.count] = request->words[i];
        without[more.count++] = request->without[i];
        if (i + 1 < request->count) {
            words[more.count] =
                meaning(arena_printf(arena, "%s_%s", request->words[i], request->words[i + 1]));
            without[more.count++] = request->without[i];
        }
    }
    more.words = words;
    more.without = without;
    return more;
}

size_t
lang_rank(struct arena *arena, const struct lang_words *request, const struct lang_entry *entries,
          size_t count, struct lang_match **matches)
{
    struct lang_words all = with_pairs(arena, request);
    double *weights = arena_array(arena, all.count, sizeof *weights);
    size_t found = 0;
    *matches = arena_array(arena, count, sizeof **matches);
    for (size_t i = 0; i < all.count; i++)
        weights[i] = strchr(all.words[i], '_') ? 5 : weight(all.words[i], entries, count);
    for (size_t i = 0; i < count; i++) {
        double here = score(&all, weights, &entries[i]);
        if (here > 0)
            (*matches)[found++] = (struct lang_match){&entries[i], here};
    }
    qsort(*matches, found, sizeof **matches, best_first);
    return found;
}
