/* llvm-mca's opinion of the hot loop: cycles of one turn, and which unit is busiest. It models the
 * processor it runs on and takes all data to be in L1. */
#include "profile/profile_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define TURNS "100"

/* The loop as a text for an assembler. Its last jump goes back; other jumps are taken to fall
 * through. False: it calls somebody, whose time nobody knows. */
static bool
put_loop(struct buf *buf, const struct profile__code *code, const struct profile__loop *loop)
{
    buf_puts(buf, "hot:\n");
    for (size_t i = loop->first; i <= loop->last; i++) {
        const struct profile__insn *insn = &code->insns[i];
        if (!strcmp(insn->name, "call"))
            return false;
        if (insn->name[0] != 'j')
            buf_printf(buf, "%s %s\n", insn->name, insn->operands);
        else if (i == loop->last)
            buf_printf(buf, "%s hot\n", insn->name);
    }
    return true;
}

/* The number behind "Total Cycles:", or NAN. */
static double
number_behind(const char *text, const char *words)
{
    const char *found = strstr(text, words);

    return found ? strtod(found + strlen(words), NULL) : NAN;
}

/* "[3]   - SKXPort1" is the name of unit 3, whose busy cycles are the fourth figure of the line
 * under "Resource pressure per iteration". */
static const char *
busiest_unit(struct arena *arena, const char *text, double *cycles)
{
    const char *table = strstr(text, "Resource pressure per iteration:");
    const char *heads = table ? strchr(table, '\n') : NULL;
    const char *row = heads ? strchr(heads + 1, '\n') : NULL;
    const char *names = strstr(text, "Resources:");
    size_t busiest = 0, unit = 0;

    *cycles = 0;
    if (!row || !names)
        return NULL;
    /* the heads and the figures stand in columns: "-" is none */
    char *figures = arena_strndup(arena, row + 1, strcspn(row + 1, "\n")), *word;
    while ((word = strsep(&figures, " \t"))) {
        if (!*word)
            continue;
        if (strtod(word, NULL) > *cycles) {
            *cycles = strtod(word, NULL);
            busiest = unit;
        }
        unit++;
    }
    const char *at = strchr(names, '\n');
    for (; at && busiest > 0; busiest--)
        at = strchr(at + 1, '\n');
    const char *dash = at ? strstr(at, " - ") : NULL;
    return dash ? text_printable(arena_strndup(arena, dash + 3, strcspn(dash + 3, " \n"))) : NULL;
}

bool
profile__throughput(struct arena *arena, const struct profile__code *code,
                    const struct profile__loop *loop, const struct profile_options *options,
                    struct profile__values *values)
{
    static const char *const args[] = {"-iterations=" TURNS, "hot.s", NULL};
    struct buf text = buf_in(arena);
    double busy;

    if (!put_loop(&text, code, loop))
        return true;
    const char *said = box_look(options->box, arena,
                                &(struct box_look){.tool = "llvm-mca",
                                                   .args = args,
                                                   .file = {"hot.s", text.data, text.length},
                                                   .output = (size_t)1 << 20});
    if (!said)
        return false;
    double cycles = number_behind(said, "Total Cycles:") / strtod(TURNS, NULL);
    if (!isfinite(cycles))
        return true;
    values->value[PROFILE_CYCLES] = cycles;
    const char *unit = busiest_unit(arena, said, &busy);
    if (unit)
        values->note[PROFILE_CYCLES] =
            arena_printf(arena, "the busiest unit is %s: %.1f", unit, busy);
    return true;
}
