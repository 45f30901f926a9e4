/* Any bytes as two texts of C, separated by a line of %%: their likeness is always a number from 0
 * to 1, and a text is wholly like itself. Nothing may crash, hang or overflow the stack. */
#include "report/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_share(double share)
{
    assert(share >= 0 && share <= 1 + 1e-9);
}

static void
compare(struct arena *arena, const char *reference, const char *candidate)
{
    struct metrics_code_bleu bleu = metrics_code_bleu(arena, reference, candidate);
    check_share(bleu.ngram);
    check_share(bleu.weighted);
    check_share(bleu.syntax);
    check_share(bleu.flow);
    check_share(bleu.score);
    struct metrics_code_bleu same = metrics_code_bleu(arena, reference, reference);
    assert(fabs(same.syntax - 1) < 1e-9 && (same.flow == 0 || fabs(same.flow - 1) < 1e-9));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char mark[] = "\n%%\n";
    struct arena *arena = size > 1 << 16 ? NULL : arena_create();
    if (arena == NULL)
        return 0;
    char *reference = arena_strndup(arena, (const char *)data, size);
    char *cut = strstr(reference, mark);
    if (cut != NULL)
        *cut = '\0';
    compare(arena, reference, cut ? cut + strlen(mark) : "int f(void) { return 1; }");
    arena_destroy(arena);
    return 0;
}
