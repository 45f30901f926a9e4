/* Every operator of the library and every example becomes a task that stands alone; sizes go where
 * they are clear. */
#include "lang/lang.h"
#include "unit.h"

static const struct lang_entry *
find(struct unit *unit, const char *name)
{
    struct lang_entry *entries;
    size_t count = lang_catalogue(unit->arena, &entries);
    for (size_t i = 0; i < count; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    fail_msg("no entry %s", name);
    return NULL;
}

/* The text for a wish; NULL if it is refused. */
static const char *
made(struct unit *unit, const char *name, const struct lang_wish *wish, const char **unused)
{
    struct buf buf = buf_in(unit->arena);
    enum status status =
        lang_instance(unit->arena, &buf, find(unit, name), wish, unused, unit->diags);
    return status == STATUS_OK ? buf.data : NULL;
}

static void
has(const char *text, const char *words)
{
    assert_non_null(text);
    if (strstr(text, words) == NULL)
        print_message("'%s' is not in\n%s\n", words, text);
    assert_non_null(strstr(text, words));
}

static void
everything_becomes_a_task(void **state)
{
    struct unit *unit = *state;
    struct lang_entry *entries;
    size_t count = lang_catalogue(unit->arena, &entries), failed = 0;
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_F16};
    assert_true(count > 250);
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < 2; d++) {
            struct lang_wish wish = {.dtype = dtypes[d]};
            struct buf buf = buf_in(unit->arena);
            struct diags *diags = diags_create(unit->arena, 4);
            const char *unused;
            if (d == 1 && (entries[i].kind == LANG_EXAMPLE || strstr(entries[i].name, "_int")))
                continue; /* it may be about its types */
            if (lang_instance(unit->arena, &buf, &entries[i], &wish, &unused, diags) == STATUS_OK)
                continue;
            print_message("%s %s: %s\n", entries[i].file, entries[i].name,
                          diags_count(diags) ? diags_get(diags, 0)->message : "");
            failed++;
        }
    assert_int_equal(failed, 0);
}

static void
shapes_set_the_dims(void **state)
{
    struct unit *unit = *state;
    const char *unused;
    int64_t sizes[] = {4096, 1024};
    struct lang_shape shape = {sizes, 2};
    struct lang_wish wish = {.dtype = DTYPE_F32, .shapes = &shape, .shape_count = 1};
    const char *text = made(unit, "rms_norm", &wish, &unused);
    has(text, "R=4096");
    has(text, "N=1024");
    has(text, "in X: f32[R,N]");
    has(text, "Y[r,j] = X[r,j]*rsqrt(S[r]+eps)*G[j]");
    assert_string_equal(unused, "");
    has(made(unit, "softmax", &wish, &unused), "R=4096");
}

static void
two_shapes_must_agree(void **state)
{
    struct unit *unit = *state;
    const char *unused;
    int64_t a[] = {512, 1024}, b[] = {1024, 256}, c[] = {768, 256};
    struct lang_shape fit[] = {{a, 2}, {b, 2}}, misfit[] = {{a, 2}, {c, 2}};
    struct lang_wish wish = {.dtype = DTYPE_F32, .shapes = fit, .shape_count = 2};
    const char *text = made(unit, "matmul", &wish, &unused);
    has(text, "M=512");
    has(text, "K=1024");
    has(text, "N=256");
    wish.shapes = misfit;
    assert_null(made(unit, "matmul", &wish, &unused));
    has(unit_message(unit, 0), "K would be both 1024 and 768");
}

static void
names_set_dims_and_constants(void **state)
{
    struct unit *unit = *state;
    const char *unused;
    struct lang_size sizes[] = {{"C", 32}, {"groups", 8}, {"X", 3}};
    int64_t window[] = {5, 5}, image[] = {224, 224};
    struct lang_shape shapes[] = {{image, 2}, {window, 2}};
    struct lang_wish wish = {
        .dtype = DTYPE_F32, .shapes = shapes, .shape_count = 2, .sizes = sizes, .size_count = 3};
    const char *text = made(unit, "conv2d", &wish, &unused);
    has(text, "C=32");
    has(text, "H=224");
    has(text, "R=5");
    has(text, "groups=8");
    has(text, "CG=4");
    assert_string_equal(unused, "X=3");
}

static void
types_are_filled_in(void **state)
{
    struct unit *unit = *state;
    const char *unused;
    struct lang_wish wish = {.dtype = DTYPE_BF16};
    has(made(unit, "layer_norm_all", &wish, &unused), "in G, B: bf16[");
    has(made(unit, "layer_norm_all", &wish, &unused), "]: bf16 = ");
    has(made(unit, "gelu", &wish, &unused), "in X: bf16[");
}

static void
what_an_operator_refuses_is_told(void **state)
{
    struct unit *unit = *state;
    const char *unused;
    struct lang_size sizes[] = {{"groups", 7}};
    struct lang_wish wish = {.dtype = DTYPE_F32, .sizes = sizes, .size_count = 1};
    assert_null(made(unit, "group_norm", &wish, &unused));
    assert_true(diags_errors(unit->diags) > 0);
}

/* ---- words and replies ---- */

static const char *
nearest(struct unit *unit, const char *text)
{
    struct lang_words words;
    struct lang_entry *entries;
    struct lang_match *matches;
    size_t count = lang_catalogue(unit->arena, &entries);
    if (lang_read_words(unit->arena, text, &words, unit->diags) != STATUS_OK)
        return "(refused)";
    size_t found = lang_rank(unit->arena, &words, entries, count, &matches);
    return found ? matches[0].entry->name : "(none)";
}

static void
words_find_operators(void **state)
{
    struct unit *unit = *state;
    assert_string_equal(nearest(unit, "a fast RMSNorm kernel"), "rms_norm");
    assert_string_equal(nearest(unit, "max pooling 2d backward"), "max_pool2d_backward");
    assert_string_equal(nearest(unit, "grouped attention"), "grouped_attention");
    assert_string_equal(nearest(unit, "log softmax"), "log_softmax");
    assert_string_equal(nearest(unit, "mse loss"), "mse_loss");
    assert_string_equal(nearest(unit, "gru"), "gru");
    assert_string_equal(nearest(unit, "the of 12"), "(none)");
    assert_string_equal(nearest(unit, ""), "(none)");
    assert_string_equal(nearest(unit, "softmax 0x4"), "(refused)");
}

static void
every_name_finds_itself(void **state)
{
    struct unit *unit = *state;
    struct lang_entry *entries;
    size_t count = lang_catalogue(unit->arena, &entries), missed = 0;
    for (size_t i = 0; i < count; i += 3) {
        const char *found = nearest(unit, entries[i].name);
        if (strcmp(found, entries[i].name) != 0)
            print_message("%s leads to %s\n", entries[i].name, found);
        missed += strcmp(found, entries[i].name) != 0;
    }
    assert_int_equal(missed, 0);
}

static void
programs_are_found_in_replies(void **state)
{
    struct unit *unit = *state;
    const char *program;
    const char *reply = "Sure:\n```op\nop a\ndim N=4\nin X: f32[N]\nY[i]=X[i]\nout Y\n```\nDone.";
    assert_int_equal(lang_draft(unit->arena, reply, "a.op", &program, unit->diags), STATUS_OK);
    assert_string_equal(program, "op a\ndim N=4\nin X: f32[N]\nY[i] = X[i]\nout Y\n");
    assert_int_equal(lang_draft(unit->arena, "```no```", "a.op", &program, unit->diags),
                     STATUS_INPUT);
    assert_true(diags_errors(unit->diags) > 0);
    struct diags *diags = diags_create(unit->arena, 0);
    assert_int_equal(lang_draft(unit->arena, "dim N=4\nin X: f32[N]\nY[i] = X[i+1]\nout Y\n",
                                "a.op", &program, diags),
                     STATUS_INPUT);
    assert_non_null(strstr(diags_get(diags, 0)->message, "i")); /* with a place and a remedy */
    assert_true(diags_get(diags, 0)->place.line == 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(everything_becomes_a_task),     UNIT_TEST(shapes_set_the_dims),
        UNIT_TEST(two_shapes_must_agree),         UNIT_TEST(names_set_dims_and_constants),
        UNIT_TEST(types_are_filled_in),           UNIT_TEST(what_an_operator_refuses_is_told),
        UNIT_TEST(words_find_operators),          UNIT_TEST(every_name_finds_itself),
        UNIT_TEST(programs_are_found_in_replies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
