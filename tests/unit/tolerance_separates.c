/* Does the tolerance tell honest float kernels from wrong ones?
 *
 * Seven operators are computed here in float, by hand, in many orders and blockings; every result
 * must pass the gate. Then the same kernels are spoiled: inputs rounded to tf32 or bf16, one term
 * dropped from a sum, a wrong epsilon; on inputs of zero mean each of these must fail. The table
 * shows the largest error in units of its gate: below 1 passes, above 1 is caught.
 *
 * What cannot be told apart is not asserted: integers from -4 to 4 lose nothing when they are
 * rounded to tf32, denormals are all smaller than what a kernel may flush.
 */
#include "unit.h"

#include "base/rng.h"
#include "task/task.h"

#include <math.h>
#include <stdlib.h>

/* ---- float kernels in any order ---- */

enum fault_kind { HONEST, TF32, BF16, DROPPED, EPS_LARGE, EPS_SMALL, FAULTS };

static const char *const fault_name[FAULTS] = {"honest",       "tf32",     "bf16",
                                               "dropped term", "eps 1e-3", "eps 1e-6"};

struct style {      /* how a kernel goes about its sums */
    unsigned lanes; /* accumulators */
    unsigned block; /* terms that are summed before they join the rest; 0: all */
    bool shuffled;
    bool fused;      /* multiply-add with one rounding */
    bool reciprocal; /* x * (1/y) for x/y, exp2(x*log2(e)) for exp(x) */
    enum fault_kind fault;
    struct rng rng;
};

static const struct style styles[] = {
    {.lanes = 1},
    {.lanes = 1, .fused = true},
    {.lanes = 16, .fused = true, .reciprocal = true},
    {.lanes = 8, .block = 32},
    {.lanes = 4, .block = 7, .fused = true},
    {.lanes = 1, .shuffled = true},
    {.lanes = 3, .block = 20, .shuffled = true, .reciprocal = true},
};

enum { STYLES = sizeof styles / sizeof *styles, MOST_TERMS = 512, MOST_LANES = 16 };

struct terms { /* a[i]*b[i], i < count, over strides; without b they are a[i] */
    const float *a, *b;
    size_t step_a, step_b, count;
};

static float
term_a(const struct terms *terms, size_t i)
{
    return terms->a[i * terms->step_a];
}

static float
term_b(const struct terms *terms, size_t i)
{
    return terms->b ? terms->b[i * terms->step_b] : 1;
}

/* The term that the fault drops: the last that is not zero, or none. */
static size_t
dropped_term(const struct style *style, const struct terms *terms)
{
    size_t i = terms->count;

    while (style->fault == DROPPED && i-- > 0)
        if (term_a(terms, i) != 0 && term_b(terms, i) != 0)
            return i;
    return terms->count;
}

/* Returns how many there are. */
static size_t
choose_order(struct style *style, const struct terms *terms, size_t *order)
{
    size_t count = 0, dropped = dropped_term(style, terms);

    for (size_t i = 0; i < terms->count; i++)
        if (i != dropped)
            order[count++] = i;
    for (size_t i = count; style->shuffled && i > 1; i--) {
        size_t j = rng_below(&style->rng, i), k = order[i - 1];
        order[i - 1] = order[j];
        order[j] = k;
    }
    return count;
}

static float
sum_terms(struct style *style, const struct terms *terms)
{
    size_t order[MOST_TERMS], block = style->block ? style->block : terms->count;
    size_t count = choose_order(style, terms, order);
    float total = 0;

    for (size_t first = 0; first < count; first += block) {
        float lane[MOST_LANES] = {0}, part = 0;
        for (size_t i = first; i < first + block && i < count; i++) {
            float x = term_a(terms, order[i]), y = term_b(terms, order[i]);
            float *sum = &lane[i % style->lanes];
            *sum = style->fused ? fmaf(x, y, *sum) : *sum + x * y;
        }
        for (unsigned l = 0; l < style->lanes; l++)
            part += lane[l];
        total += part;
    }
    return total;
}

static float
dot(struct style *style, const float *a, size_t step_a, const float *b, size_t step_b, size_t count)
{
    const struct terms terms = {a, b, step_a, step_b, count};

    assert_true(count <= MOST_TERMS);
    return sum_terms(style, &terms);
}

static float
quotient(const struct style *style, float a, float b)
{
    return style->reciprocal ? a * (1 / b) : a / b;
}

static float
exponential(const struct style *style, float x)
{
    return style->reciprocal ? exp2f(x * (float)M_LOG2E) : expf(x);
}

static void
softmax_row(struct style *style, const float *x, float *y, size_t count)
{
    float most = -INFINITY, total;

    for (size_t i = 0; i < count; i++)
        most = fmaxf(most, x[i]);
    for (size_t i = 0; i < count; i++)
        y[i] = exponential(style, x[i] - most);
    total = dot(style, y, 1, NULL, 0, count);
    for (size_t i = 0; i < count; i++)
        y[i] = quotient(style, y[i], total);
}

/* ---- the operators: a text, and the same in float ---- */

enum { GEMM_M = 12, GEMM_N = 12, GEMM_K = 256 };

static const char gemm_text[] = "dim M=12, N=12, K=256\n"
                                "in A: f32[M,K]; in B: f32[K,N]\n"
                                "Y[m,n] = sum[k](A[m,k]*B[k,n])\n"
                                "out Y\n";

static void
gemm(struct style *style, const float *const *in, float *y)
{
    for (size_t m = 0; m < GEMM_M; m++)
        for (size_t n = 0; n < GEMM_N; n++)
            y[m * GEMM_N + n] = dot(style, in[0] + m * GEMM_K, 1, in[1] + n, GEMM_N, GEMM_K);
}

enum { CONV_C = 8, CONV_K = 4, CONV_S = 8, CONV_TERMS = CONV_C * 9 };

static const char conv_text[] = "dim C=8, K=4, H=8, W=8\n"
                                "in X: f32[C,H,W]; in F: f32[K,C,3,3]\n"
                                "Y[k,y:H,x:W] = sum[c,r,s](F[k,c,r,s]*X[c,y+r-1,x+s-1 | 0])\n"
                                "out Y\n";

/* The inputs that one output sees, as a row. */
static void
conv_patch(const float *x, int at_y, int at_x, float *patch)
{
    for (int c = 0; c < CONV_C; c++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int row = at_y + r - 1, column = at_x + s - 1;
                bool inside = row >= 0 && row < CONV_S && column >= 0 && column < CONV_S;
                *patch++ = inside ? x[(c * CONV_S + row) * CONV_S + column] : 0;
            }
}

static void
conv(struct style *style, const float *const *in, float *out)
{
    float patch[CONV_TERMS];

    for (int k = 0; k < CONV_K; k++)
        for (int y = 0; y < CONV_S; y++)
            for (int x = 0; x < CONV_S; x++) {
                conv_patch(in[0], y, x, patch);
                *out++ = dot(style, patch, 1, in[1] + k * CONV_TERMS, 1, CONV_TERMS);
            }
}

#define SOFTMAX_OP                               \
    "op soft\n"                                  \
    "in X[R,N]\n"                                \
    "M[r] = max[j](X[r,j])\n"                    \
    "E[r,j] = exp(X[r,j]-M[r])\n"                \
    "Y[r,j]: like X = E[r,j] / sum[k](E[r,k])\n" \
    "out Y\n"

enum { SOFTMAX_R = 12, SOFTMAX_N = 64 };

static const char softmax_text[] = SOFTMAX_OP "op task\n"
                                              "dim R=12, N=64\n"
                                              "in X: f32[R,N]\n"
                                              "Y = soft(X)\n"
                                              "out Y\n";

static void
softmax(struct style *style, const float *const *in, float *y)
{
    for (size_t r = 0; r < SOFTMAX_R; r++)
        softmax_row(style, in[0] + r * SOFTMAX_N, y + r * SOFTMAX_N, SOFTMAX_N);
}

enum { NORM_R = 12, NORM_N = 64 };

static const char norm_text[] = "op norm\n"
                                "in X[R,N]; in G, B[N]\n"
                                "param eps = 1e-5\n"
                                "U[r] = sum[j](X[r,j]) / N\n"
                                "V[r] = sum[j]((X[r,j]-U[r])*(X[r,j]-U[r])) / N\n"
                                "Y[r,j]: like X = (X[r,j]-U[r])*rsqrt(V[r]+eps)*G[j] + B[j]\n"
                                "out Y\n"
                                "op task\n"
                                "dim R=12, N=64\n"
                                "in X: f32[R,N]; in G, B: f32[N]\n"
                                "Y = norm(X, G, B)\n"
                                "out Y\n";

static void
norm_row(struct style *style, const float *x, const float *const *in, float *y)
{
    float eps = style->fault == EPS_LARGE ? 1e-3F : style->fault == EPS_SMALL ? 1e-6F : 1e-5F;
    float mean = quotient(style, dot(style, x, 1, NULL, 0, NORM_N), NORM_N), apart[NORM_N], scale;

    for (size_t i = 0; i < NORM_N; i++)
        apart[i] = x[i] - mean;
    scale = 1 / sqrtf(quotient(style, dot(style, apart, 1, apart, 1, NORM_N), NORM_N) + eps);
    for (size_t i = 0; i < NORM_N; i++)
        y[i] = style->fused ? fmaf(apart[i] * scale, in[1][i], in[2][i])
                            : apart[i] * scale * in[1][i] + in[2][i];
}

static void
norm(struct style *style, const float *const *in, float *y)
{
    for (size_t r = 0; r < NORM_R; r++)
        norm_row(style, in[0] + r * NORM_N, in, y + r * NORM_N);
}

enum { ATTENTION_S = 24, ATTENTION_D = 16 };

static const char attention_text[] = SOFTMAX_OP "op task\n"
                                                "dim S=24, D=16\n"
                                                "param sc = 1/sqrt(D)\n"
                                                "in Q, K, V: f32[S,D]\n"
                                                "P[i,j] = sc*sum[d](Q[i,d]*K[j,d])\n"
                                                "A = soft(P)\n"
                                                "O[i,d] = sum[j](A[i,j]*V[j,d])\n"
                                                "out O\n";

static void
attention(struct style *style, const float *const *in, float *out)
{
    enum { S = ATTENTION_S, D = ATTENTION_D };

    for (size_t i = 0; i < S; i++) {
        float score[S], share[S];
        for (size_t j = 0; j < S; j++)
            score[j] = 0.25F * dot(style, in[0] + i * D, 1, in[1] + j * D, 1, D);
        softmax_row(style, score, share, S);
        for (size_t d = 0; d < D; d++)
            out[i * D + d] = dot(style, share, 1, in[2] + d, D, S);
    }
}

enum { NET_LAYERS = 100, NET_B = 4, NET_D = 32, NET_DROPS = 50 };

#define NET_OP(step)                                       \
    "dim L=100, B=4, D=32\n"                               \
    "in X: f32[B,D]; in W: f32[L,D,D] scale sqrt(2.0/D)\n" \
    "H[l:L,b:B,n:D] = " step "\n"                          \
    "Y[b:B,n:D] = H[L-1,b,n]\n"                            \
    "out Y\n"
#define NET_LAYER "max(sum[k:D](H[l-1,b,k | X[b,k]]*W[l,k,n]), 0)"

static const char plain_net_text[] = NET_OP(NET_LAYER);
static const char residual_net_text[] = NET_OP("H[l-1,b,n | X[b,n]] + " NET_LAYER);

static void
net_layer(struct style *style, const float *h, const float *w, float *next, bool residual)
{
    for (size_t b = 0; b < NET_B; b++)
        for (size_t n = 0; n < NET_D; n++) {
            float sum = dot(style, h + b * NET_D, 1, w + n, NET_D, NET_D);
            next[b * NET_D + n] = fmaxf(sum, 0) + (residual ? h[b * NET_D + n] : 0);
        }
}

/* The dropped term is missing in one layer only. */
static void
net(struct style *style, const float *const *in, float *y, bool residual)
{
    float h[2][NET_B * NET_D];
    enum fault_kind fault = style->fault;

    memcpy(h[0], in[0], sizeof h[0]);
    for (size_t l = 0; l < NET_LAYERS; l++) {
        style->fault = fault == DROPPED && l != NET_DROPS ? HONEST : fault;
        net_layer(style, h[l % 2], in[1] + l * NET_D * NET_D, h[1 - l % 2], residual);
    }
    style->fault = fault;
    memcpy(y, h[NET_LAYERS % 2], sizeof h[0]);
}

static void
plain_net(struct style *style, const float *const *in, float *y)
{
    net(style, in, y, false);
}

static void
residual_net(struct style *style, const float *const *in, float *y)
{
    net(style, in, y, true);
}

/* ---- the table ---- */

struct subject {
    const char *name;
    const char *text;
    void (*evaluate)(struct style *style, const float *const *in, float *y);
    unsigned faults; /* bit f: fault f applies */
};

#define COMMON (1u << TF32 | 1u << BF16 | 1u << DROPPED)

static const struct subject subjects[] = {
    {"gemm", gemm_text, gemm, COMMON},
    {"conv2d 3x3", conv_text, conv, COMMON},
    {"softmax", softmax_text, softmax, COMMON},
    {"layer norm", norm_text, norm, COMMON | 1u << EPS_LARGE | 1u << EPS_SMALL},
    {"attention", attention_text, attention, COMMON},
    {"100 layers", plain_net_text, plain_net, COMMON},
    {"100 residual", residual_net_text, residual_net, COMMON},
};

struct trial { /* one subject on one set of inputs */
    const struct subject *subject;
    const struct program *program;
    enum distribution distribution;
    const void **inputs;
    struct lang_result result;
    struct tolerance tolerance;
    float *got;
};

static float
rounded(float x, enum fault_kind fault)
{
    uint32_t bits, cut = fault == TF32 ? 13 : 16;

    memcpy(&bits, &x, sizeof bits);
    if (!isfinite(x))
        return x;
    bits += (1u << (cut - 1)) - 1 + (bits >> cut & 1); /* to nearest even */
    bits &= ~((1u << cut) - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static const float *const *
spoiled_inputs(struct arena *arena, const struct trial *trial, enum fault_kind fault)
{
    const struct program *program = trial->program;
    float **inputs = arena_array(arena, program->input_count, sizeof *inputs);

    for (size_t i = 0; i < program->input_count; i++) {
        int64_t count = program->tensors[i]->count;
        const float *from = trial->inputs[i];
        inputs[i] = arena_array(arena, (size_t)count, sizeof **inputs);
        for (int64_t at = 0; at < count; at++)
            inputs[i][at] = fault == TF32 || fault == BF16 ? rounded(from[at], fault) : from[at];
    }
    return (const float *const *)inputs;
}

/* The worst ratio of error to gate over all styles. */
static struct comparison
try_fault(struct arena *arena, struct trial *trial, enum fault_kind fault)
{
    struct comparison worst = {.worst = -1};
    const float *const *inputs = spoiled_inputs(arena, trial, fault);

    for (size_t s = 0; s < STYLES; s++) {
        struct style style = styles[s];
        struct comparison comparison;
        style.fault = fault;
        style.rng = rng_stream(s + 1, "orders");
        trial->subject->evaluate(&style, inputs, trial->got);
        task_compare(&trial->result, &trial->tolerance, trial->got, &comparison);
        if (comparison.worst > worst.worst)
            worst = comparison;
    }
    return worst;
}

/* Weights of the nets are always normal: of any other spread a hundred layers overflow or vanish.
 */
static void
draw_inputs(struct arena *arena, struct trial *trial)
{
    const struct program *program = trial->program;

    trial->inputs = arena_array(arena, program->input_count, sizeof *trial->inputs);
    for (size_t i = 0; i < program->input_count; i++) {
        bool weights = program->tensors[i]->domain.form == DOMAIN_SCALE;
        float *data = arena_array(arena, (size_t)program->tensors[i]->count, sizeof *data);
        task_draw(program, i, weights ? DRAW_NORMAL : trial->distribution, 7, data);
        trial->inputs[i] = data;
    }
}

static void
prepare(struct unit *unit, struct trial *trial)
{
    const struct program *program = trial->program;
    enum status status;

    draw_inputs(unit->arena, trial);
    status = lang_interpret(unit->arena, program, trial->inputs, &trial->result);
    assert_int_equal(status, STATUS_OK);
    status = task_calibrate(unit->arena, program, trial->inputs, &trial->result, 1,
                            &trial->tolerance, unit->diags);
    if (status != STATUS_OK)
        fail_msg("%s", unit_printed(unit, false));
    trial->got = arena_array(unit->arena, (size_t)program->outputs[0]->count, sizeof(float));
}

static const struct program *
load(struct unit *unit, const struct subject *subject)
{
    const char *text = subject->text;
    struct lang *lang = lang_parse(unit->arena, "test.op", text, strlen(text), unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;

    if (!program)
        fail_msg("%s", unit_printed(unit, false));
    return program;
}

/* Infinite inputs are drawn only where the result stays free of NaN. */
static bool
has_nan(const struct lang_result *result)
{
    for (int64_t at = 0; at < result->tensor->count; at++)
        if (isnan(result->v[at]))
            return true;
    return false;
}

/* Epsilon matters where the variance is small. */
static bool
must_separate(enum fault_kind fault, enum distribution distribution)
{
    bool zero_mean = distribution == DRAW_NORMAL || distribution == DRAW_HEAVY;

    return distribution == DRAW_SMALL || (zero_mean && fault <= DROPPED);
}

static void
print_heading(const struct subject *subject)
{
    print_message("%-12s %-12s", subject->name, "");
    for (enum distribution d = 0; d < DRAW_COUNT; d++)
        print_message(" %9s", distribution_name[d]);
    print_message("\n");
}

static void
print_row(const char *name, const double *row)
{
    print_message("%-12s %-12s", "", name);
    for (enum distribution d = 0; d < DRAW_COUNT; d++)
        if (isnan(row[d]))
            print_message(" %9s", "-");
        else
            print_message(" %9.3g", row[d]);
    print_message("\n");
}

struct arranged {
    struct unit unit; /* first: the helpers of unit.h see it */
    const struct subject *subject;
};

static void
separates(void **state)
{
    struct arranged *arranged = *state;
    struct unit *unit = &arranged->unit;
    const struct subject *subject = arranged->subject;
    struct trial trial = {.subject = subject, .program = load(unit, subject)};
    double table[FAULTS][DRAW_COUNT], k[DRAW_COUNT], scale[DRAW_COUNT], judged[DRAW_COUNT];
    double count = (double)trial.program->outputs[0]->count;
    bool right = true;

    for (enum distribution d = 0; d < DRAW_COUNT; d++) {
        trial.distribution = d;
        prepare(unit, &trial);
        k[d] = trial.tolerance.k;
        scale[d] = trial.tolerance.scale;
        judged[d] = NAN;
        for (enum fault_kind f = HONEST; f < FAULTS; f++) {
            table[f][d] = NAN;
            if (has_nan(&trial.result) || !(f == HONEST || subject->faults >> f & 1))
                continue;
            struct comparison comparison = try_fault(unit->arena, &trial, f);
            table[f][d] = comparison.worst;
            judged[d] = (count - (double)comparison.unjudged) / count;
            right = right && !(f == HONEST && comparison.wrong) &&
                    !(f != HONEST && must_separate(f, d) && !comparison.wrong);
        }
    }
    print_heading(subject);
    print_row("k", k);
    print_row("scale", scale);
    print_row("judged", judged);
    for (enum fault_kind f = HONEST; f < FAULTS; f++)
        if (f == HONEST || subject->faults >> f & 1)
            print_row(fault_name[f], table[f]);
    assert_true(right);
}

static int
arrange(void **state)
{
    const struct subject *subject = *state;
    int status = unit_setup(state);
    struct unit *unit = *state;
    struct arranged *arranged = arena_alloc(unit->arena, sizeof *arranged);

    arranged->unit = *unit;
    arranged->subject = subject;
    *state = arranged;
    return status;
}

int
main(void)
{
    enum { SUBJECTS = sizeof subjects / sizeof *subjects };
    struct CMUnitTest tests[SUBJECTS];

    for (size_t i = 0; i < SUBJECTS; i++)
        tests[i] = (struct CMUnitTest){.name = subjects[i].name,
                                       .test_func = separates,
                                       .setup_func = arrange,
                                       .teardown_func = unit_teardown,
                                       .initial_state = (void *)&subjects[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
