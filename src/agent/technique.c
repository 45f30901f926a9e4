/* The technique table: what is known to help, and when. The conditions are over the figures of a
 * profile; the gains are measured ones, on two cores, or left open.
 *
 * The order is that of a diagnosis: first what makes a kernel slow by a factor, then what costs a
 * tenth of its time. A critic with no model of its own names the first row that holds. */
#include "agent/agent.h"

#include <ctype.h>
#include <string.h>

const struct agent_technique agent_techniques[] = {
    {
        .name = "vector-math",
        .when = "libm_calls > 0 or (exps_per_element > 0.5 and vector_share < 80)",
        .what = "call vf32_exp and its like of hone.h on whole vectors instead of libm on elements",
        .measured = "272 -> 37 us, softmax, together with lanes-for-reductions",
        .holes = "unroll lanes",
    },
    {
        .name = "lanes-for-reductions",
        .when = "scalar_chains > 0 or reduction_remarks > 0",
        .what = "keep 2 to 4 vector accumulators for a float sum or maximum, and one horizontal "
                "step at the end",
        .measured = "272 -> 37 us, softmax, together with vector-math",
        .holes = "unroll lanes rows",
    },
    {
        .name = "unit-stride",
        .when = "stride > 1 or gathers > 0",
        .what = "exchange the loops so that neighbours are read one after the other, or pack the "
                "operand transposed",
        .measured = "3.6 -> 13.8 GFLOP/s",
        .holes = "lanes pack",
    },
    {
        .name = "register-tile",
        .when = "contraction > 0 and accumulators < 10",
        .what = "compute MR x NR results in registers: 6x16 floats with 16 registers, 12x32 to "
                "14x32 with 32",
        .measured = "13.8 -> 28 GFLOP/s; 51 -> 176 and more",
        .holes = "tile window",
    },
    {
        .name = "parallel-inside",
        .when = "parallel_inside > 0 and light < 50",
        .what = "lift the parallel region out of the loop that begins it every time",
        .measured = "",
        .holes = "threads",
    },
    {
        .name = "spills",
        .when = "spills > 0",
        .what = "make the tile smaller, or split what follows it off",
        .measured = "4x24 tile with 16 registers: 65 -> 95 GFLOP/s without",
        .holes = "tile window unroll",
    },
    {
        .name = "fewer-loads",
        .when = "loads_per_fma > 1.3 and free_registers > 1",
        .what = "widen the tile along the operand that is used again",
        .measured = "",
        .holes = "tile window rows",
    },
    {
        .name = "tighten",
        .when = "filter > 0",
        .what = "take loop bounds from the filter, so that what it drops is never visited",
        .measured = "2x and more",
        .holes = "",
    },
    {
        .name = "threads",
        .when = "us > 20 and not threads == 1 and (parallel_regions == 0 or scaling < 1.2)",
        .what = "share the outermost dimension without races between threads, in chunks of at "
                "least 10 us",
        .measured = "",
        .holes = "threads part block",
    },
    {
        .name = "no-threads",
        .when = "us < 5 and parallel_regions > 0",
        .what = "stay on one thread below a size: beginning a region costs 0.3 to 0.6 us where "
                "threads are bound, and far more where they are not",
        .measured = "",
        .holes = "threads",
    },
    {
        .name = "fuse",
        .when = "intermediate_l2 > 0.5",
        .what = "compute the intermediate at the tile that reads it, do(S), or inline it",
        .measured = "",
        .holes = "fuse online rows",
    },
    {
        .name = "one-pass",
        .when = "shared_reductions > 0",
        .what = "do both reductions in one pass over the data, with(S)",
        .measured = "",
        .holes = "with",
    },
    {
        .name = "store-past-cache",
        .when = "output_l2 > 1 and output_read == 0 and not streaming_stores > 0",
        .what = "store past the caches (nt): nobody reads the output again",
        .measured = "1.4-1.5x where stores are the limit",
        .holes = "nt",
    },
    {
        .name = "phase-pack",
        .when = "window_stride > 1",
        .what = "store the input by the remainder of its stride, so that it is read with stride 1",
        .measured = "1.5-1.8x of a library's strided convolution, together with flatten",
        .holes = "phase",
    },
    {
        .name = "flatten",
        .when = "padding > 0",
        .what = "pad the input once and put its rows end to end, so that lanes do not stay empty",
        .measured = "1.5-1.8x of a library's strided convolution, together with phase-pack",
        .holes = "pad flat",
    },
    {
        .name = "pack",
        .when = "contraction > 0 and (row_bytes >= 4096 or row_power > 0)",
        .what = "copy the panel that is used again in the order it is visited: the wider operand "
                "first, then the other",
        .measured = "+5-10 % or -5 %: try both",
        .holes = "pack",
    },
    {
        .name = "split-k",
        .when = "k_over_mn >= 64",
        .what = "share the sum itself between threads, partial results joined in a fixed order",
        .measured = "",
        .holes = "depth width",
    },
    {
        .name = "denormals",
        .when = "exp_open > 0 and light < 50",
        .what = "clamp the argument of exp from below: results near zero are denormal and slow",
        .measured = "6.7x where most results are denormal",
        .holes = "",
    },
    {
        .name = "algebra",
        .when = "row_divisions > 0",
        .what = "fold or lift what is constant along a row: one reciprocal instead of many "
                "divisions, a scale before the sum, statistics into the weights",
        .measured = "",
        .holes = "",
    },
    {
        .name = "exp2",
        .when = "exp_scaled > 0",
        .what = "fold the factor and log2(e) into the operand and call exp2",
        .measured = "",
        .holes = "",
    },
    {
        .name = "recompute",
        .when = "cheap_stages > 0",
        .what = "compute the cheap intermediate again where it is read instead of storing it",
        .measured = "0.44 -> 0.69 in three passes: it can lose, so measure it",
        .holes = "fuse",
    },

    {
        .name = "online-softmax",
        .when = "exps_per_element > 0 and contraction == 0",
        .what = "a running maximum for a plain softmax: on CPUs it never won",
        .measured = "",
        .holes = "online",
        .anti = true,
    },
    {
        .name = "scalar-unroll",
        .when = "vector_share < 80 or remarks > 0",
        .what = "unrolling by 8 scalars, or -O3 and its like: vectors at -O2 are better",
        .measured = "",
        .holes = "",
        .anti = true,
    },
    {
        .name = "lower-precision",
        .when = "light < 100",
        .what = "computing in a narrower type than the operator says: the judge refuses it",
        .measured = "",
        .holes = "",
        .anti = true,
    },
    {
        .name = "prefetch",
        .when = "light < 100",
        .what = "prefetching what comes from memory: the hardware does it for streams",
        .measured = "",
        .holes = "",
        .anti = true,
    },
};

const size_t agent_technique_count = sizeof agent_techniques / sizeof *agent_techniques;

static bool
is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* Where a text has this word, or NULL: "no-threads" is not "threads". */
static const char *
find_word(const char *text, const char *word)
{
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || !is_of_name(at[-1])) && !is_of_name(at[strlen(word)]))
            return at;
    return NULL;
}

const struct agent_technique *
agent_technique_in(const char *text)
{
    const struct agent_technique *first = NULL;
    const char *where = NULL;

    for (size_t i = 0; i < agent_technique_count && text; i++) {
        const char *at = find_word(text, agent_techniques[i].name);
        if (at && (!where || at < where)) {
            first = &agent_techniques[i];
            where = at;
        }
    }
    return first;
}

size_t
agent_menu(struct arena *arena, const struct agent_facts *facts, size_t *rows, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < agent_technique_count && count < most; i++) {
        const char *error;
        if (!agent_techniques[i].anti &&
            agent_condition(arena, agent_techniques[i].when, facts, &error) == 1)
            rows[count++] = i;
    }
    return count;
}

static void
put_row(struct buf *buf, const struct agent_technique *row)
{
    buf_printf(buf, "- %s%s: %s", row->anti ? "do not: " : "", row->name, row->what);
    if (*row->measured)
        buf_printf(buf, " (measured: %s)", row->measured);
    buf_putc(buf, '\n');
}

void
agent_put_menu(struct buf *buf, const size_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_row(buf, &agent_techniques[rows[i]]);
    for (size_t i = 0; i < agent_technique_count; i++)
        if (agent_techniques[i].anti)
            put_row(buf, &agent_techniques[i]);
}
