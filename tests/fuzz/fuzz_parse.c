/* Any bytes as a program: parsed, built for every case, printed, counted and emitted. Nothing may
 * crash, hang or eat memory; what is accepted must survive formatting with the same hash. */
#include "lang/lang.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_format(struct arena *arena, const char *text, size_t length, const char *hash)
{
    struct diags *diags = diags_create(arena, 0);
    struct buf once = buf_in(arena), twice = buf_in(arena);
    if (lang_format(&once, "f.op", text, length, diags) != STATUS_OK ||
        lang_format(&twice, "f.op", once.data, once.length, diags) != STATUS_OK ||
        strcmp(once.data, twice.data) != 0)
        abort();
    struct lang *lang = lang_parse(arena, "f.op", once.data, once.length, diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, diags) : NULL;
    if (program == NULL || strcmp(hash, lang_hash(arena, program)) != 0)
        abort();
}

static void
use_program(struct arena *arena, const struct program *program)
{
    struct buf text = buf_in(arena);
    struct cost cost;
    struct lang_needs needs;
    lang_expand(&text, program);
    lang_cost(program, &cost);
    if (program->foreign != NULL)
        return;
    lang_reference_needs(program, &needs);
    for (int form = EMIT_REFERENCE; form <= EMIT_GENERAL; form++)
        lang_emit(&text, program, &(struct emit_options){.form = (enum emit)form});
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    char *text = arena_alloc(arena, size + 1);
    memcpy(text, data, size);
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_parse(arena, "f.op", text, size, diags);
    for (size_t i = 0; lang != NULL && i < lang_case_count(lang) && i < 4; i++) {
        struct program *program = lang_program(lang, i, NULL, 0, diags);
        if (program == NULL && diags_errors(diags) == 0)
            abort(); /* refused without a word */
        if (program == NULL)
            break;
        use_program(arena, program);
        if (i == 0)
            check_format(arena, text, size, lang_hash(arena, program));
    }
    arena_destroy(arena);
    return 0;
}
