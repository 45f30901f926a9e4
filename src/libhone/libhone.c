/* The C library's face. Every function that may allocate begins by setting task->no_memory, so that
 * memory running out anywhere below comes back here as a code. */
#include "libhone/libhone.h"

#include "libhone/face.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

struct hone_task {
    struct arena *arena;   /* the task's own */
    struct arena *scratch; /* of the evaluation under way, or NULL */
    jmp_buf no_memory;
    const char *error, *warnings;
    struct lang *lang;
    struct program **programs; /* by case, made when first asked for */
    const char *hash, *json;
};

_Static_assert(HONE_MAX_RANK == LANG_MAX_RANK, "the public limit is the language's");
_Static_assert(HONE_INPUT == (int)STATUS_INPUT && HONE_MACHINE == (int)STATUS_MACHINE,
               "public codes are the internal ones");

static const char out_of_memory[] = "out of memory\n";

const char *
hone_version(void)
{
    return HONE_VERSION;
}

/* ---- failing ---- */

static int
lacking_memory(struct hone_task *task)
{
    arena_destroy(task->scratch);
    task->scratch = NULL;
    task->error = out_of_memory;
    return HONE_MACHINE;
}

static int
failed(struct hone_task *task, const struct diags *diags, enum status status)
{
    struct buf buf = buf_in(task->arena);
    face_put_diags(&buf, diags, DIAG_ERROR);
    task->error = buf.length > 0 ? buf.data : out_of_memory;
    return status == STATUS_MACHINE ? HONE_MACHINE : HONE_INPUT;
}

static int
refused(struct hone_task *task, const char *what, size_t number)
{
    task->error = arena_printf(task->arena, "%s %zu: there is none\n", what, number);
    return HONE_INPUT;
}

const char *
hone_error(const struct hone_task *task)
{
    return task == NULL ? out_of_memory : task->error;
}

const char *
hone_warnings(const struct hone_task *task)
{
    return task->warnings;
}

/* ---- opening ---- */

static int
create(struct hone_task **task)
{
    *task = calloc(1, sizeof **task);
    if (*task == NULL)
        return HONE_MACHINE;
    (*task)->error = (*task)->warnings = "";
    (*task)->arena = arena_create();
    if ((*task)->arena != NULL)
        return HONE_OK;
    free(*task);
    *task = NULL;
    return HONE_MACHINE;
}

/* The program of a case; NULL after errors, which are in *code. */
static struct program *
program_of(struct hone_task *task, size_t number, int *code)
{
    *code = HONE_OK;
    if (number >= hone_case_count(task)) {
        *code = refused(task, "case", number);
        return NULL;
    }
    if (task->programs[number] != NULL)
        return task->programs[number];
    struct diags *diags = diags_create(task->arena, 0);
    struct program *program = lang_program(task->lang, number, NULL, 0, diags);
    if (program == NULL)
        *code = failed(task, diags, STATUS_INPUT);
    task->programs[number] = program;
    if (program != NULL && diags_count(diags) > 0) {
        struct buf buf = buf_in(task->arena);
        buf_puts(&buf, task->warnings);
        face_put_diags(&buf, diags, DIAG_WARNING);
        task->warnings = buf.data;
    }
    return program;
}

/* path for a file, else name, text and length. */
static int
open_task(struct hone_task *task, const char *name, const char *text, size_t length)
{
    if (setjmp(task->no_memory) != 0)
        return lacking_memory(task);
    arena_on_no_memory(task->arena, &task->no_memory);
    struct diags *diags = diags_create(task->arena, 0);
    struct lang *lang = text == NULL ? lang_open(task->arena, name, diags)
                                     : lang_parse(task->arena, name, text, length, diags);
    if (lang == NULL)
        return failed(task, diags, STATUS_INPUT);
    task->programs = arena_array(task->arena, lang_case_count(lang), sizeof *task->programs);
    task->lang = lang;
    int code;
    struct program *program = program_of(task, 0, &code);
    if (program == NULL) {
        task->lang = NULL;
        return code;
    }
    task->hash = lang_hash(task->arena, program);
    return HONE_OK;
}

int
hone_open(const char *path, struct hone_task **task)
{
    int code = create(task);
    return code == HONE_OK ? open_task(*task, path, NULL, 0) : code;
}

int
hone_parse(const char *name, const char *text, size_t length, struct hone_task **task)
{
    int code = create(task);
    return code == HONE_OK ? open_task(*task, name, text, length) : code;
}

void
hone_close(struct hone_task *task)
{
    if (task == NULL)
        return;
    arena_destroy(task->scratch);
    arena_destroy(task->arena);
    free(task);
}

/* ---- asking ---- */

const char *
hone_name(const struct hone_task *task)
{
    return task->lang ? lang_name(task->lang) : "";
}

const char *
hone_hash(const struct hone_task *task)
{
    return task->hash ? task->hash : "";
}

size_t
hone_case_count(const struct hone_task *task)
{
    return task->lang ? lang_case_count(task->lang) : 0;
}

const char *
hone_case_name(const struct hone_task *task, size_t number)
{
    return number < hone_case_count(task) ? lang_case_name(task->lang, number) : NULL;
}

size_t
hone_input_count(const struct hone_task *task)
{
    return task->lang ? task->programs[0]->input_count : 0;
}

size_t
hone_output_count(const struct hone_task *task)
{
    return task->lang ? task->programs[0]->output_count : 0;
}

static void
fill_tensor(struct hone_tensor *into, const struct tensor *tensor)
{
    *into = (struct hone_tensor){
        .name = tensor->name,
        .dtype = dtype_info[tensor->dtype].name,
        .element_size = dtype_info[tensor->dtype].size,
        .rank = tensor->rank,
        .count = tensor->count,
    };
    memcpy(into->shape, tensor->size, sizeof into->shape);
}

int
hone_input(struct hone_task *task, size_t case_number, size_t number, struct hone_tensor *tensor)
{
    int code;
    if (setjmp(task->no_memory) != 0)
        return lacking_memory(task);
    struct program *program = program_of(task, case_number, &code);
    if (program == NULL)
        return code;
    if (number >= program->input_count)
        return refused(task, "input", number);
    fill_tensor(tensor, program->tensors[number]);
    return HONE_OK;
}

int
hone_output(struct hone_task *task, size_t case_number, size_t number, struct hone_tensor *tensor)
{
    int code;
    if (setjmp(task->no_memory) != 0)
        return lacking_memory(task);
    struct program *program = program_of(task, case_number, &code);
    if (program == NULL)
        return code;
    if (number >= program->output_count)
        return refused(task, "output", number);
    fill_tensor(tensor, program->outputs[number]);
    return HONE_OK;
}

static int
describe(struct hone_task *task)
{
    struct lang_machine machine;
    size_t count = hone_case_count(task);
    struct face_case *rows = arena_array(task->arena, count, sizeof *rows);
    task_machine(task->arena, &machine);
    for (size_t i = 0; i < count; i++) {
        int code;
        rows[i].program = program_of(task, i, &code);
        if (rows[i].program == NULL)
            return code;
        if (face_measure(&rows[i], &machine) != STATUS_OK)
            return lacking_memory(task);
    }
    struct buf buf = buf_in(task->arena);
    face_json(&buf, rows, count, task->hash, &machine);
    task->json = buf.data;
    return HONE_OK;
}

int
hone_json(struct hone_task *task, const char **json)
{
    if (setjmp(task->no_memory) != 0)
        return lacking_memory(task);
    if (task->lang == NULL)
        return refused(task, "case", 0);
    int code = task->json == NULL ? describe(task) : HONE_OK;
    *json = task->json;
    return code;
}

/* ---- evaluating ---- */

int
hone_draw(struct hone_task *task, size_t case_number, size_t number, const char *distribution,
          uint64_t seed, void *data)
{
    int code;
    if (setjmp(task->no_memory) != 0)
        return lacking_memory(task);
    struct program *program = program_of(task, case_number, &code);
    if (program == NULL)
        return code;
    if (number >= program->input_count)
        return refused(task, "input", number);
    for (unsigned d = 0; d < DRAW_COUNT; d++)
        if (!strcmp(distribution, distribution_name[d])) {
            task_draw(program, number, (enum distribution)d, seed, data);
            return HONE_OK;
        }
    task->error = arena_printf(task->arena, "%s: no such distribution\n", distribution);
    return HONE_INPUT;
}

static void
copy_result(const struct lang_result *result, const struct tolerance *tolerance, double *values,
            double *allowed)
{
    memcpy(values, result->v, (size_t)result->tensor->count * sizeof *values);
    for (int64_t at = 0; allowed != NULL && at < result->tensor->count; at++)
        allowed[at] = task_gate(result, tolerance, at);
}

/* In task->scratch, which the caller destroys. */
static int
evaluate(struct hone_task *task, const struct program *program, const void *const *inputs,
         double *const *values, double *const *allowed)
{
    struct arena *arena = task->scratch;
    struct diags *diags = diags_create(arena, 0);
    size_t count = program->output_count;
    struct lang_result *results = arena_array(arena, count, sizeof *results);
    struct tolerance *tolerances = arena_array(arena, count, sizeof *tolerances);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < program->input_count && status == STATUS_OK; i++)
        status = task_check_input(program->tensors[i], program->tensors[i]->name, inputs[i], diags);
    if (status == STATUS_OK)
        status = task_evaluate(arena, program, inputs, results, diags);
    if (status == STATUS_OK && allowed != NULL)
        status = task_calibrate(arena, program, inputs, results, 0, tolerances, diags);
    if (status != STATUS_OK)
        return failed(task, diags, status);
    for (size_t i = 0; i < count; i++)
        copy_result(&results[i], &tolerances[i], values[i], allowed ? allowed[i] : NULL);
    return HONE_OK;
}

int
hone_evaluate(struct hone_task *task, size_t case_number, const void *const *inputs,
              double *const *values, double *const *allowed)
{
    int code;
    if (setjmp(task->no_memory) != 0)
        return lacking_memory(task);
    struct program *program = program_of(task, case_number, &code);
    if (program == NULL)
        return code;
    task->scratch = arena_create();
    if (task->scratch == NULL)
        return lacking_memory(task);
    arena_on_no_memory(task->scratch, &task->no_memory);
    code = evaluate(task, program, inputs, values, allowed);
    arena_destroy(task->scratch);
    task->scratch = NULL;
    return code;
}
