/* What is known of the machine, as an answer of the world: a run that goes on, or is replayed
 * elsewhere, decides by the figures that it began with. */
#include "run/run_int.h"

#include "base/json.h"
#include "task/task.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *
text_of_machine(struct arena *arena, const struct coder_machine *machine)
{
    struct buf buf = buf_in(arena);
    buf_printf(&buf, "[%u,%u,%u,%lld,%lld,%lld", machine->vector_bytes, machine->registers,
               machine->threads, (long long)machine->l1, (long long)machine->l2,
               (long long)machine->l3);
    const double figures[] = {machine->gflops, machine->l2_gbs, machine->l3_gbs,
                              machine->memory_gbs, machine->memory_gbs_all};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        buf_printf(&buf, ",%.17g", figures[i]);
    for (size_t i = 0; i < OP_COUNT; i++)
        buf_printf(&buf, ",%.17g", machine->function_ns[i]);
    buf_putc(&buf, ']');
    return buf.data;
}

static bool
read_machine(const char *answer, struct coder_machine *machine)
{
    json_t *list = json_loads(answer, 0, NULL);
    bool good = json_array_size(list) == 11 + OP_COUNT;
    for (size_t i = 0; good && i < 11 + OP_COUNT; i++) {
        double value = json_number_value(json_array_get(list, i));
        unsigned *counts[] = {&machine->vector_bytes, &machine->registers, &machine->threads};
        int64_t *bytes[] = {&machine->l1, &machine->l2, &machine->l3};
        double *figures[] = {&machine->gflops, &machine->l2_gbs, &machine->l3_gbs,
                             &machine->memory_gbs, &machine->memory_gbs_all};
        if (i < 3)
            *counts[i] = (unsigned)value;
        else if (i < 6)
            *bytes[i - 3] = (int64_t)value;
        else if (i < 11)
            *figures[i - 6] = value;
        else
            machine->function_ns[i - 11] = value;
    }
    json_decref(list);
    return good;
}

enum status
run__read_machine(struct loop *loop, struct coder_machine *machine)
{
    const char *answer;
    enum status status = ledger_recall(loop->ledger, "machine", "", &answer, loop->diags);
    if (status == STATUS_NO)
        return ledger_note(loop->ledger, "machine", "", text_of_machine(loop->arena, machine),
                           loop->diags);
    if (status == STATUS_OK && !read_machine(answer, machine)) {
        diags_add(loop->diags, DIAG_ERROR, (struct place){0},
                  "the archive has no machine where one should be: %.60s", answer);
        status = STATUS_MACHINE;
    }
    return status;
}

enum status
run__read_limits(struct loop *loop)
{
    const struct run_options *options = loop->options;
    const char *answer;
    char *end;
    enum status status = ledger_recall(loop->ledger, "limits", "", &answer, loop->diags);
    if (status == STATUS_NO) {
        answer = arena_printf(loop->arena, "%u %.17g", options->evaluations, options->seconds);
        status = ledger_note(loop->ledger, "limits", "", answer, loop->diags);
    }
    if (status == STATUS_OK) {
        loop->begun_evaluations = (unsigned)strtoul(answer, &end, 10);
        loop->begun_seconds = strtod(end, NULL);
    }
    return status;
}

/* "us limit" a line. */
static const char *
find_lights(struct loop *loop)
{
    struct lang_machine machine;
    struct buf buf = buf_in(loop->arena);
    task_machine(loop->arena, &machine);
    for (size_t i = 0; i < loop->result->case_count; i++) {
        struct cost cost;
        struct light light;
        lang_cost(loop->result->cases[i].program, &cost);
        lang_light(loop->result->cases[i].program, &cost, &machine, &light);
        buf_printf(&buf, "%.17g %s\n", light.us, light.limit);
    }
    return buf.data;
}

enum status
run__read_lights(struct loop *loop)
{
    const char *answer;
    enum status status = ledger_recall(loop->ledger, "light", "", &answer, loop->diags);
    if (status == STATUS_NO) {
        answer = find_lights(loop);
        status = ledger_note(loop->ledger, "light", "", answer, loop->diags);
    }
    for (size_t i = 0; i < loop->result->case_count && status == STATUS_OK; i++) {
        char *end;
        struct light *light = &loop->result->cases[i].light;
        light->us = strtod(answer, &end);
        end += *end == ' ';
        light->limit = arena_strndup(loop->arena, end, strcspn(end, "\n"));
        light->level = light->limit;
        answer = end + strcspn(end, "\n");
        answer += *answer == '\n';
    }
    return status;
}
