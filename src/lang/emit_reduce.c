/* Reductions as loops.
 *
 * Kernels keep one accumulator (SIXTEEN: sixteen, taken in turn); the reference keeps what the rule
 * of the reduction needs. Terms come in index order, in RANDOM in a fixed random one.
 */
#include "lang/emit_int.h"

#include <assert.h>

struct reducing {
    struct emitter *em;
    struct node *node;
    const struct expr *body, *filter;
    enum reduction form;
    enum kind kind; /* of the terms */
    unsigned id;    /* names the accumulators */
    int64_t terms;
    bool exact; /* plain accumulators will do */
    bool sixteen;
    bool count; /* the terms that pass are counted, in n<id> */
};

bool
emit_sums_products(const struct emitter *em, const struct expr *reduce, enum kind kind)
{
    const struct expr *body = reduce->args[0];

    return em->bounds && reduce->binder->reduction <= REDUCE_MEAN && kind > KIND_INT &&
           body->op == OP_MUL && emit_kind(body, kind) == kind &&
           emit_is_exact(em, body->args[0], kind) && emit_is_exact(em, body->args[1], kind);
}

/* ---- loops ---- */

static bool
is_shuffled(const struct reducing *r)
{
    return r->em->options.form == EMIT_RANDOM && r->form <= REDUCE_PROD && r->kind > KIND_INT;
}

const char *
emit_order(struct emitter *em, int64_t terms, const char *flat)
{
    return emit_text(em, "shuffled(%s, %lld)", flat, (long long)terms);
}

void
emit_decode(struct emitter *em, uint32_t levels, const char *flat)
{
    int64_t stride = 1;

    for (int l = LANG_MAX_LEVELS - 1; l >= 0; l--) {
        if (!(levels >> l & 1))
            continue;
        const char *text = stride == 1 ? flat : emit_text(em, "%s / %lld", flat, (long long)stride);
        if (levels & ((1u << l) - 1))
            text = emit_text(em, "%s %% %lld", text, (long long)em->extent[l]);
        emit_line(em, "INDEX %s = %s;", em->index[l], text);
        stride *= em->extent[l];
    }
}

/* Opens the loops and prints what belongs in them, filter included; returns how many to close. */
static unsigned
open_loops(const struct reducing *r)
{
    struct emitter *em = r->em;
    const struct binder *binder = r->node->e->binder;

    if (em->options.form == EMIT_RANDOM) {
        uint32_t levels = ((1u << binder->count) - 1) << binder->level;
        const char *flat = emit_text(em, "q%u", r->id);
        emit_open(em, "for (int64_t %s = 0; %s < %lld; %s++)", flat, flat, (long long)r->terms,
                  flat);
        if (is_shuffled(r)) {
            emit_line(em, "const int64_t o%u = %s;", r->id, emit_order(em, r->terms, flat));
            flat = emit_text(em, "o%u", r->id);
        }
        emit_decode(em, levels, flat);
        emit_scope(em, r->node->below);
        return 1;
    }
    for (unsigned i = 0; i < binder->count; i++) {
        unsigned level = binder->level + i;
        const char *index = em->index[level];
        emit_open(em, "for (int64_t %s = 0; %s < %s; %s++)", index, index, em->size[level], index);
        emit_scope(em, r->node->below + (int)i);
    }
    return binder->count;
}

static int
passing_scope(const struct reducing *r)
{
    bool flat = r->em->options.form == EMIT_RANDOM;

    return r->node->below + (flat ? 1 : (int)r->node->e->binder->count);
}

/* `dropped` is what is done for a term that the filter drops, `doubt` for one in doubt. */
static void
print_filter(const struct reducing *r, const char *dropped, const char *doubt)
{
    struct emitter *em = r->em;

    if (!r->filter)
        return;
    if (emit_is_exact(em, r->filter, KIND_BOOL)) {
        const char *test = emit_bare(em, emit_number(em, r->filter, KIND_BOOL));
        emit_line(em, "if (!(%s))%s", test, *dropped ? " {" : "");
    } else {
        emit_line(em, "const val f%u = %s;", r->id, emit_val(em, r->filter, KIND_BOOL));
        emit_line(em, "if (f%u.g != 0)", r->id);
        emit_line(em, "    %s;", doubt);
        emit_line(em, "if (f%u.v == 0)%s", r->id, *dropped ? " {" : "");
    }
    if (*dropped)
        emit_line(em, "    %s;", dropped);
    emit_line(em, "    continue;");
    if (*dropped)
        emit_line(em, "}");
    emit_scope(em, passing_scope(r));
}

static void
close_loops(const struct reducing *r, unsigned loops)
{
    for (unsigned i = 0; i < loops; i++)
        emit_close(r->em);
}

/* The inner statement is made by a function, since it reads what the loops have printed. */
typedef const char *
statement_of(const struct reducing *r);

static void
print_pass(const struct reducing *r, const char *doubt, statement_of *statement)
{
    unsigned loops = open_loops(r);

    print_filter(r, "", doubt);
    emit_line(r->em, "%s;", statement(r));
    if (r->count)
        emit_line(r->em, "n%u++;", r->id);
    close_loops(r, loops);
}

static const char *
count_text(const struct reducing *r)
{
    if (r->count)
        return emit_text(r->em, "n%u", r->id);
    if (!r->em->general)
        return emit_text(r->em, "%lld", (long long)r->terms);
    const struct binder *binder = r->node->e->binder;
    const char *text = r->em->size[binder->level];
    for (unsigned i = 1; i < binder->count; i++)
        text = emit_text(r->em, "%s * %s", text, r->em->size[binder->level + i]);
    return binder->count > 1 ? emit_text(r->em, "(%s)", text) : text;
}

/* ---- plain accumulators ---- */

static const char *
accumulator(const struct reducing *r)
{
    return emit_text(r->em, r->sixteen ? "s%u[n%u & 15]" : "s%u", r->id, r->id);
}

static const char *
plain_statement(const struct reducing *r)
{
    struct emitter *em = r->em;
    const char *body = emit_bare(em, emit_number(em, r->body, r->kind));
    const char *suffix = r->kind <= KIND_INT                  ? "i64"
                         : r->kind == KIND_F32 && !em->bounds ? "f32"
                                                              : "f64";

    switch (r->form) {
    case REDUCE_SUM:
    case REDUCE_MEAN:
        return emit_text(em, "%s += %s", accumulator(r), body);
    case REDUCE_PROD:
        return emit_text(em, "%s *= %s", accumulator(r), body);
    case REDUCE_MAX:
        return emit_text(em, "s%u = max_%s(s%u, %s)", r->id, suffix, r->id, body);
    default:
        return emit_text(em, "s%u = min_%s(s%u, %s)", r->id, suffix, r->id, body);
    }
}

static const char *
empty_value(const struct reducing *r)
{
    switch (r->form) {
    case REDUCE_PROD:
        return "1";
    case REDUCE_MAX:
        return r->kind <= KIND_INT ? "INT64_MIN" : "-INFINITY";
    case REDUCE_MIN:
        return r->kind <= KIND_INT ? "INT64_MAX" : "INFINITY";
    default:
        return "0";
    }
}

static void
print_sixteen(const struct reducing *r)
{
    struct emitter *em = r->em;
    const char *op = r->form == REDUCE_PROD ? "*" : "+";

    emit_line(em, "%s s%u[16];", emit_c_type(em, r->kind), r->id);
    emit_line(em, "for (int l = 0; l < 16; l++)");
    emit_line(em, "    s%u[l] = %s;", r->id, empty_value(r));
    print_pass(r, "", plain_statement);
    emit_line(em, "for (int w = 8; w > 0; w /= 2)");
    emit_line(em, "    for (int l = 0; l < w; l++)");
    emit_line(em, "        s%u[l] %s= s%u[l + w];", r->id, op, r->id);
    r->node->text = emit_text(em, "s%u[0]", r->id);
}

static void
print_plain(const struct reducing *r)
{
    struct emitter *em = r->em;

    if (r->sixteen) {
        print_sixteen(r);
    } else {
        emit_line(em, "%s s%u = %s;", emit_c_type(em, r->kind), r->id, empty_value(r));
        print_pass(r, "", plain_statement);
        r->node->text = emit_text(em, "s%u", r->id);
    }
    if (r->form == REDUCE_MEAN)
        r->node->text =
            emit_text(em, "(%s / (%s)%s)", r->node->text, emit_c_type(em, r->kind), count_text(r));
    if (r->form >= REDUCE_MAX && r->kind <= KIND_INT && r->count)
        r->node->text = emit_text(em, "(n%u ? s%u : %s)", r->id, r->id,
                                  r->form == REDUCE_MAX ? "INT32_MIN" : "INT32_MAX");
}

/* ---- argmax, argmin ---- */

/* Where the term stands in the arrays that show what was compared. */
static const char *
term_place(const struct reducing *r)
{
    const struct tensor *tensor = r->em->stage->tensor;

    return emit_text(r->em, "(%s)*%lld + %s", emit_address(r->em, tensor, r->em->index, 0),
                     (long long)r->terms, r->em->index[r->node->e->binder->level]);
}

static bool
shows_terms(const struct reducing *r)
{
    return r->em->bounds && r->node->e == r->em->stage->code &&
           emit_shows_terms(r->em->stage->tensor);
}

static const char *
dropped_term(const struct reducing *r)
{
    if (!shows_terms(r) || !r->filter)
        return "";
    const char *text = emit_text(r->em, "m->term_v[output][%s] = NAN", term_place(r));
    if (emit_is_exact(r->em, r->filter, KIND_BOOL))
        return text;
    return emit_text(r->em, "%s, m->term_g[output][%s] = f%u.g == 0 ? 0 : NAN", text, term_place(r),
                     r->id);
}

static void
print_race(const struct reducing *r)
{
    struct emitter *em = r->em;
    const char *type = emit_c_type(em, r->kind);
    const char *index = em->index[r->node->e->binder->level];
    const char *beats = r->form == REDUCE_ARGMAX ? ">" : "<";

    emit_line(em, "int64_t k%u = -1;", r->id);
    emit_line(em, "%s s%u = 0;", type, r->id);
    unsigned loops = open_loops(r);
    print_filter(r, dropped_term(r), "");
    emit_line(em, "const %s x%u_ = %s;", type, r->id, emit_number(em, r->body, r->kind));
    if (shows_terms(r))
        emit_line(em, "m->term_v[output][%s] = (double)x%u_;", term_place(r), r->id);
    emit_open(em, "if (k%u < 0 || x%u_ %s s%u)", r->id, r->id, beats, r->id);
    emit_line(em, "s%u = x%u_;", r->id, r->id);
    emit_line(em, "k%u = %s;", r->id, index);
    emit_close(em);
    close_loops(r, loops);
    r->node->text = emit_text(em, "k%u", r->id);
}

static void
show_term(const struct reducing *r)
{
    struct emitter *em = r->em;
    const char *at = term_place(r);
    const char *doubt = "";

    if (!shows_terms(r))
        return;
    if (r->filter && !emit_is_exact(em, r->filter, KIND_BOOL))
        doubt = emit_text(em, "f%u.g != 0 ? NAN : ", r->id);
    emit_line(em, "m->term_v[output][%s] = x%u_.v;", at, r->id);
    emit_line(em, "m->term_g[output][%s] = %sg_size(x%u_.g);", at, doubt, r->id);
    emit_line(em, "m->term_c[output][%s] = x%u_.c;", at, r->id);
}

/* The first pass finds the winner, the second whether another term could have won. */
static void
print_race_in_doubt(const struct reducing *r)
{
    struct emitter *em = r->em;
    const char *index = em->index[r->node->e->binder->level];
    const char *beats = r->form == REDUCE_ARGMAX ? ">" : "<";
    const char *doubt = emit_text(em, "d%u = 1", r->id);

    emit_line(em, "int64_t k%u = -1;", r->id);
    emit_line(em, "int d%u = 0; /* in doubt */", r->id);
    emit_line(em, "val s%u = {0, 0, 0};", r->id);
    unsigned loops = open_loops(r);
    print_filter(r, dropped_term(r), doubt);
    emit_line(em, "const val x%u_ = %s;", r->id, emit_val(em, r->body, r->kind));
    show_term(r);
    emit_line(em, "d%u |= x%u_.v != x%u_.v || x%u_.g != x%u_.g;", r->id, r->id, r->id, r->id,
              r->id);
    emit_open(em, "if (k%u < 0 || x%u_.v %s s%u.v)", r->id, r->id, beats, r->id);
    emit_line(em, "s%u = x%u_;", r->id, r->id);
    emit_line(em, "k%u = %s;", r->id, index);
    emit_close(em);
    close_loops(r, loops);
    loops = open_loops(r);
    print_filter(r, "", "(void)0");
    emit_line(em, "d%u |= %s != k%u && !decided(%s, s%u);", r->id, index, r->id,
              emit_val(em, r->body, r->kind), r->id);
    close_loops(r, loops);
    emit_line(em, "const val r%u = d%u ? unjudged((double)k%u) : exactly((double)k%u);", r->id,
              r->id, r->id, r->id);
    r->node->text = emit_text(em, "r%u", r->id);
}

/* ---- with bounds ---- */

static const char *
product_statement(const struct reducing *r)
{
    return emit_text(r->em, "const double x%u_ = %s * %s", r->id,
                     emit_number(r->em, r->body->args[0], r->kind),
                     emit_number(r->em, r->body->args[1], r->kind));
}

static const char *
exact_statement(const struct reducing *r)
{
    return emit_text(r->em, "const double x%u_ = %s", r->id, emit_number(r->em, r->body, r->kind));
}

/* Terms that are exact, or products of exact numbers: three sums are enough. */
static void
print_short_sum(const struct reducing *r, bool products)
{
    struct emitter *em = r->em;
    unsigned id = r->id;

    bool few = tensor_is_few(em->stage->tensor);

    emit_line(em, "double s%u = 0, q%u_ = 0, a%u = 0, g%u_ = 0, p%u_ = 0;", id, id, id, id, id);
    unsigned loops = open_loops(r);
    print_filter(r, "", emit_text(em, "g%u_ = NAN", id));
    emit_line(em, "%s;", products ? product_statement(r) : exact_statement(r));
    emit_line(em, "s%u += x%u_;", id, id);
    emit_line(em, "q%u_ += x%u_ * x%u_;", id, id, id);
    emit_line(em, "a%u += fabs(x%u_);", id, id);
    if (few)
        emit_line(em, "p%u_ += s%u * s%u;", id, id, id);
    if (r->count)
        emit_line(em, "n%u++;", id);
    close_loops(r, loops);
    if (products)
        emit_line(em, "val r%u = sum_of_few_products(s%u, q%u_, a%u, p%u_, %s, %s);", id, id, id,
                  id, id, count_text(r), emit_rule(r->kind));
    else
        emit_line(em, "val r%u = sum_end((sum){s%u, q%u_, a%u, 0, 0, p%u_}, %s, %s);", id, id, id,
                  id, id, count_text(r), emit_rule(r->kind));
    emit_line(em, "if (g%u_ != 0)", id);
    emit_line(em, "    r%u = unjudged(s%u);", id, id);
}

static const char *
sum_statement(const struct reducing *r)
{
    const char *text =
        emit_text(r->em, "sum_term(&s%u, %s)", r->id, emit_val(r->em, r->body, r->kind));

    if (!tensor_is_few(r->em->stage->tensor))
        return text;
    return emit_text(r->em, "%s, s%u.p += s%u.s * s%u.s", text, r->id, r->id, r->id);
}

static void
print_sum(const struct reducing *r)
{
    struct emitter *em = r->em;
    bool products = emit_sums_products(em, r->node->e, r->kind);

    if (products || (r->kind > KIND_INT && emit_is_exact(em, r->body, r->kind))) {
        print_short_sum(r, products);
    } else {
        emit_line(em, "sum s%u = {0, 0, 0, 0, 0, 0};", r->id);
        print_pass(r, emit_text(em, "s%u.g = NAN", r->id), sum_statement);
        if (r->kind > KIND_INT)
            emit_line(em, "val r%u = sum_end(s%u, %s, %s);", r->id, r->id, count_text(r),
                      emit_rule(r->kind));
        else
            emit_line(em, "val r%u = sum_whole(s%u);", r->id, r->id);
    }
    if (r->form == REDUCE_MEAN)
        emit_line(em, "r%u = mean_end(r%u, %s, %s);", r->id, r->id, count_text(r),
                  emit_rule(r->kind));
    r->node->text = emit_text(em, "r%u", r->id);
}

static const char *
prod_statement(const struct reducing *r)
{
    return emit_text(r->em, "product_term(&s%u, %s, %s)", r->id, emit_val(r->em, r->body, r->kind),
                     emit_rule(r->kind));
}

static void
print_prod(const struct reducing *r)
{
    struct emitter *em = r->em;

    emit_line(em, "product s%u = {{1, 0, 0}, 1, 1};", r->id);
    print_pass(r, emit_text(em, "s%u.total.g = NAN", r->id), prod_statement);
    emit_line(em, "const val r%u = product_end(s%u, %s);", r->id, r->id, emit_rule(r->kind));
    r->node->text = emit_text(em, "r%u", r->id);
}

static const char *
extreme_statement(const struct reducing *r)
{
    return emit_text(r->em, "extreme_term(&s%u, %s, %s)", r->id, emit_val(r->em, r->body, r->kind),
                     r->form == REDUCE_MAX ? "1" : "-1");
}

static void
print_extreme(const struct reducing *r)
{
    struct emitter *em = r->em;
    bool most = r->form == REDUCE_MAX;
    const char *empty = r->kind > KIND_INT ? most ? "-INFINITY" : "INFINITY"
                        : most             ? "INT32_MIN"
                                           : "INT32_MAX";

    emit_line(em, "extreme s%u = {.reach_g = -INFINITY, .reach_c = -INFINITY};", r->id);
    print_pass(r, emit_text(em, "s%u.unjudged = 1", r->id), extreme_statement);
    emit_line(em, "const val r%u = extreme_end(s%u, %s, %s);", r->id, r->id, most ? "1" : "-1",
              empty);
    r->node->text = emit_text(em, "r%u", r->id);
}

/* Whether the result depends on how many terms passed the filter. */
static bool
needs_count(const struct reducing *r)
{
    switch (r->form) {
    case REDUCE_SUM:
        return !r->exact && r->kind > KIND_INT;
    case REDUCE_MEAN:
        return true;
    case REDUCE_MAX:
    case REDUCE_MIN:
        return r->exact && r->kind <= KIND_INT;
    default:
        return false;
    }
}

void
emit_reduction(struct emitter *em, struct node *node)
{
    const struct expr *e = node->e;
    struct reducing r = {.em = em, .node = node, .body = e->args[0], .filter = expr_filter(e)};
    enum reduction form = e->binder->reduction;

    r.form = form;
    r.kind = emit_met(e, 0, node->kind);
    r.id = node->ordinal;
    r.terms = expr_terms(e);
    r.exact = emit_is_exact(em, e, node->kind);
    r.sixteen = em->options.form == EMIT_SIXTEEN && form <= REDUCE_PROD && r.kind > KIND_INT;
    r.count = r.sixteen || (r.filter && needs_count(&r));
    if (r.count)
        emit_line(em, "int64_t n%u = 0;", r.id);
    if (form >= REDUCE_ARGMAX)
        (r.exact ? print_race : print_race_in_doubt)(&r);
    else if (r.exact)
        print_plain(&r);
    else if (form <= REDUCE_MEAN)
        print_sum(&r);
    else if (form == REDUCE_PROD)
        print_prod(&r);
    else
        print_extreme(&r);
}
