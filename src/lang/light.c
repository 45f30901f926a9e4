/* The speed of light: no kernel that does all the program describes is faster than the largest of
 * three times: its flops at the machine's peak, its bytes at the bandwidth of the memory level that
 * holds inputs and outputs, its functions at their own rate. */
#include "lang/cost_int.h"

#include <math.h>

#define F64_FUNCTIONS 2.0 /* half the lanes; function_ns is for f32 */

static void
compute_time(const struct program *program, const struct cost *cost,
             const struct lang_machine *machine, struct light *light)
{
    struct cost wide = {0};
    bool any = false;
    for (size_t i = 0; i < program->stage_count && !any; i++)
        any = program->stages[i].code->kind == KIND_F64;
    if (any && !cost__flops(program, true, &wide))
        wide = (struct cost){0};
    light->compute_us = (cost->flops - wide.flops) / (machine->gflops_f32 * 1e3) +
                        wide.flops / (machine->gflops_f64 * 1e3);
    double dearest = 0;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        double calls = cost->apart[op] + (F64_FUNCTIONS - 1) * wide.apart[op];
        double us = calls * machine->function_ns[op] * 1e-3;
        light->function_us += us;
        if (us > dearest) {
            dearest = us;
            light->limit = op == OP_DIV ? "division" : op_info[op].spelling;
        }
    }
}

/* The bandwidth of a level is that of data which takes half of it. Going round and round over more
 * of it, a part of the data is gone when its turn comes, taken away by itself or by whoever shares
 * the cache; when it is full, all of it comes from the next level, as it does in every measured
 * copy. In between the part is taken to grow evenly. */
static void
memory_time(const struct cost *cost, const struct lang_machine *machine, struct light *light)
{
    double bytes = cost->bytes_in + cost->bytes_out, gone = 0;
    unsigned level = 0, last = machine->level_count - 1;
    while (level < last && machine->level[level].bytes < bytes)
        level++;
    unsigned next = level < last ? level + 1 : last;
    if (level < last)
        gone = fmax(2 * bytes / machine->level[level].bytes - 1, 0);
    light->level = machine->level[gone > 0.5 ? next : level].name;
    light->memory_us =
        bytes * 1e-3 * ((1 - gone) / machine->level[level].gbs + gone / machine->level[next].gbs);
}

void
lang_light(const struct program *program, const struct cost *cost,
           const struct lang_machine *machine, struct light *light)
{
    *light = (struct light){.limit = ""};
    compute_time(program, cost, machine, light);
    memory_time(cost, machine, light);
    light->us = light->function_us;
    if (light->compute_us >= light->us) {
        light->us = light->compute_us;
        light->limit = "compute";
    }
    if (light->memory_us >= light->us) {
        light->us = light->memory_us;
        light->limit = light->level;
    }
}
