/* From a file to the program of a case: the main flow of the module. */
#include "lang/build_int.h"

#include "base/file.h"
#include "lang/library_int.h"

#include <string.h>

#define MAX_USED 64

/* ---- loading ---- */

static bool
use_files(struct lang *lang, struct unit *unit, size_t depth, size_t *total, struct diags *diags);

static struct unit *
use_file(struct lang *lang, struct unit *unit, const struct statement *s, size_t depth,
         size_t *total, struct diags *diags)
{
    struct source source;
    char *path = file_join(lang->arena, file_folder_of(lang->arena, unit->source.path), s->name);
    if (depth == 16 || ++*total > MAX_USED) {
        diags_add(diags, DIAG_ERROR, s->place,
                  "files that use files, more than %d of them; does one use itself?", MAX_USED);
        return NULL;
    }
    struct diags *reading = diags_create(lang->arena, 1);
    if (file_read(lang->arena, path, LANG_MAX_FILE, &source, reading) != STATUS_OK) {
        diags_add(diags, DIAG_ERROR, s->place, "use: %s; paths are relative to this file",
                  diags_count(reading) ? diags_get(reading, 0)->message : "cannot be read");
        return NULL;
    }
    struct unit *used = parse(lang->arena, lang->names, &source, diags);
    return use_files(lang, used, depth + 1, total, diags) ? used : NULL;
}

static bool
use_files(struct lang *lang, struct unit *unit, size_t depth, size_t *total, struct diags *diags)
{
    for (size_t i = 0; i < unit->operator_count; i++)
        for (size_t j = 0; j < unit->operators[i].count; j++) {
            const struct statement *s = &unit->operators[i].statements[j];
            if (s->form != STATEMENT_USE)
                continue;
            struct unit *used = use_file(lang, unit, s, depth, total, diags);
            if (used == NULL)
                return false;
            unit->used = arena_grow(lang->arena, unit->used, unit->used_count, unit->used_count + 1,
                                    sizeof *unit->used);
            unit->used[unit->used_count++] = used;
        }
    return true;
}

static void
collect_cases(struct lang *lang, struct diags *diags)
{
    const struct operator* op = lang->task;
    lang->cases = arena_array(lang->arena, op->count + 1, sizeof *lang->cases);
    lang->case_count = 1;
    for (size_t i = 0; i < op->count; i++) {
        const struct statement *s = &op->statements[i];
        if (s->form != STATEMENT_CASE)
            continue;
        bool taken = strcmp(s->name, "default") == 0;
        for (size_t j = 1; j < lang->case_count; j++)
            taken |= lang->cases[j]->name == s->name;
        if (taken)
            diags_add(diags, DIAG_ERROR, s->place,
                      "there is a case %s already; choose another "
                      "name",
                      s->name);
        lang->cases[lang->case_count++] = s;
    }
}

struct lang *
lang_parse(struct arena *arena, const char *path, const char *text, size_t length,
           struct diags *diags)
{
    struct lang *lang = arena_alloc(arena, sizeof *lang);
    struct source source = {path, text, length};
    size_t total = 0, library = 0;
    lang->arena = arena;
    lang->names = names_create(arena);
    while (library_files[library].path != NULL)
        library++;
    lang->library = arena_array(arena, library + 1, sizeof *lang->library);
    if (length > LANG_MAX_FILE) {
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "%s: %zu bytes; a program has at most 1 MB, split it with `use`", path, length);
        return NULL;
    }
    lang->unit = parse(arena, lang->names, &source, diags);
    if (lang->unit->operator_count == 0) {
        if (diags_errors(diags) == 0)
            diags_add(diags, DIAG_ERROR, (struct place){&lang->unit->source, 1, 1},
                      "there is no operator in this file; write in, stages and out");
        return NULL;
    }
    lang->task = &lang->unit->operators[lang->unit->operator_count - 1];
    collect_cases(lang, diags);
    if (!use_files(lang, lang->unit, 0, &total, diags) || diags_errors(diags) > 0)
        return NULL;
    return lang;
}

struct lang *
lang_open(struct arena *arena, const char *path, struct diags *diags)
{
    struct source source;
    if (file_read(arena, path, LANG_MAX_FILE, &source, diags) != STATUS_OK)
        return NULL;
    return lang_parse(arena, path, source.text, source.length, diags);
}

const char *
lang_name(const struct lang *lang)
{
    return lang->task->name;
}

const char *
lang_text(const struct lang *lang)
{
    return arena_strndup(lang->arena, lang->unit->source.text, lang->unit->source.length);
}

size_t
lang_case_count(const struct lang *lang)
{
    return lang->case_count;
}

const char *
lang_case_name(const struct lang *lang, size_t number)
{
    return number == 0 ? "default" : lang->cases[number]->name;
}

/* ---- the program of a case ---- */

/* A pass may find that an i32 input is a subscript, which limits its values: then everything that
 * was concluded from its interval is built again. */
struct program *
lang_program(struct lang *lang, size_t case_number, const struct lang_size *sizes,
             size_t size_count, struct diags *diags)
{
    struct task_request request = {lang->cases[case_number], sizes, size_count};
    const int64_t *known = NULL;
    struct program *program = NULL;
    for (int pass = 0; pass < 4; pass++) {
        struct builder b = {.lang = lang,
                            .arena = lang->arena,
                            .case_name = lang_case_name(lang, case_number),
                            .known_limit = known};
        b.diags = diags_create(lang->arena, 0);
        b.ir = ir_create(lang->arena);
        b.subscript_limit =
            arena_array(lang->arena, lang->task->inputs + 1, sizeof *b.subscript_limit);
        program = build_task(&b, &request, case_number == 0);
        known = b.subscript_limit;
        if (b.limits_changed && pass < 3)
            continue;
        for (size_t i = 0; i < diags_count(b.diags); i++) {
            const struct diag *diag = diags_get(b.diags, i);
            diags_add(diags, diag->level, diag->place, "%s", diag->message);
        }
        return diags_errors(b.diags) == 0 ? program : NULL;
    }
    return program;
}
