/* CodeBLEU (Ren et al., 2020): four likenesses of a candidate and a reference, a quarter each. */
#include "report/code_int.h"
#include "report/metrics.h"

#include <math.h>

#define MOST_GRAM 4
#define OTHER_WEIGHT 0.2 /* of a token that is no keyword; a keyword counts 1 */
#define EPSILON 0.1      /* stands for no match at all (NLTK's smoothing method 1) */

static struct code_list
grams(struct arena *arena, const struct code_text *text, size_t length)
{
    struct code_list list = {0};
    for (size_t i = 0; i + length <= text->count; i++) {
        uint64_t hash = CODE_HASH_START;
        for (size_t j = i; j < i + length; j++)
            hash = code_hash(hash, &text->tokens[j].hash, sizeof text->tokens[j].hash);
        code_list_add(arena, &list, hash);
    }
    code_list_sort(&list);
    return list;
}

static struct code_list
keywords(struct arena *arena, const struct code_text *text)
{
    struct code_list list = {0};
    for (size_t i = 0; i < text->count; i++)
        if (text->tokens[i].kind == CODE_KEYWORD)
            code_list_add(arena, &list, text->tokens[i].hash);
    code_list_sort(&list);
    return list;
}

/* What is shorter than its reference has been spared mistakes. */
static double
brevity(const struct code_text *reference, const struct code_text *candidate)
{
    if (candidate->count == 0)
        return 0;
    return fmin(1, exp(1 - (double)reference->count / (double)candidate->count));
}

struct ratio {
    double some, all;
};

static double
log_ratio(struct ratio ratio)
{
    return log((ratio.some > 0 ? ratio.some : EPSILON) / fmax(1, ratio.all));
}

/* exp of the mean of the logarithms, with the penalty. */
static double
combine(const struct ratio ratios[MOST_GRAM], double penalty)
{
    double sum = 0;
    if (!(ratios[0].some > 0))
        return 0;
    for (size_t i = 0; i < MOST_GRAM; i++)
        sum += log_ratio(ratios[i]) / MOST_GRAM;
    return penalty * exp(sum);
}

/* BLEU: of the candidate's n-grams, those that the reference has too. */
static double
ngram_match(struct arena *arena, const struct code_text *reference,
            const struct code_text *candidate)
{
    struct ratio ratios[MOST_GRAM];
    for (size_t i = 0; i < MOST_GRAM; i++) {
        struct code_list ours = grams(arena, candidate, i + 1);
        struct code_list theirs = grams(arena, reference, i + 1);
        ratios[i] = (struct ratio){(double)code_list_common(&ours, &theirs), (double)ours.count};
    }
    return combine(ratios, brevity(reference, candidate));
}

static double
weigh(size_t tokens, size_t keyword_count)
{
    return OTHER_WEIGHT * (double)(tokens - keyword_count) + (double)keyword_count;
}

/* Of the reference's n-grams, those that the candidate has too; single keywords count more. */
static double
weighted_match(struct arena *arena, const struct code_text *reference,
               const struct code_text *candidate)
{
    struct ratio ratios[MOST_GRAM];
    struct code_list our_words = keywords(arena, candidate);
    struct code_list their_words = keywords(arena, reference);
    for (size_t i = 0; i < MOST_GRAM; i++) {
        struct code_list ours = grams(arena, candidate, i + 1);
        struct code_list theirs = grams(arena, reference, i + 1);
        size_t common = code_list_common(&ours, &theirs);
        ratios[i] = (struct ratio){(double)common, (double)theirs.count};
        if (i == 0)
            ratios[i] = (struct ratio){weigh(common, code_list_common(&our_words, &their_words)),
                                       weigh(theirs.count, their_words.count)};
    }
    return combine(ratios, brevity(reference, candidate));
}

static double
list_match(const struct code_list *reference, const struct code_list *candidate)
{
    return reference->count
               ? (double)code_list_common(reference, candidate) / (double)reference->count
               : 0;
}

struct metrics_code_bleu
metrics_code_bleu(struct arena *arena, const char *reference, const char *candidate)
{
    struct code_text theirs = code_tokens(arena, reference), ours = code_tokens(arena, candidate);
    const struct code_node *their_tree = code_tree(arena, &theirs);
    const struct code_node *our_tree = code_tree(arena, &ours);
    struct code_list their_parts = code_subtrees(arena, their_tree);
    struct code_list our_parts = code_subtrees(arena, our_tree);
    struct code_list their_flow = code_flow(arena, &theirs, their_tree);
    struct code_list our_flow = code_flow(arena, &ours, our_tree);
    struct metrics_code_bleu bleu = {
        .ngram = ngram_match(arena, &theirs, &ours),
        .weighted = weighted_match(arena, &theirs, &ours),
        .syntax = list_match(&their_parts, &our_parts),
        .flow = list_match(&their_flow, &our_flow),
    };
    bleu.score = (bleu.ngram + bleu.weighted + bleu.syntax + bleu.flow) / 4;
    return bleu;
}
