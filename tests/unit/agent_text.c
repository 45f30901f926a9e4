/* Texts of kernels: edits made, parts filled, stages exchanged, numbers set, objections, likeness.
 */
#include "target_unit.h"

#include "agent/agent.h"
#include "base/hash.h"
#include "coder/coder.h"

static const char base[] = "#include <math.h>\n"
                           "\n"
                           "static float\n"
                           "twice(float x)\n"
                           "{\n"
                           "    return x + x;\n"
                           "}\n"
                           "\n"
                           "void\n"
                           "kernel(const float *restrict X, float *restrict Y)\n"
                           "{\n"
                           "    for (int r = 0; r < R; r++)\n"
                           "        Y[r] = twice(X[r]);   \n"
                           "    for (int r = 0; r < R; r++)\n"
                           "        Y[r] += 1;\n"
                           "}\n";

static enum status
apply(struct unit *unit, const char *from, const struct agent_reply *reply, const char **text,
      const char **reason)
{
    *reason = NULL;
    return agent_apply(unit->arena, from, reply, text, reason);
}

/* ---- edits ---- */

static const char *
edited(struct unit *unit, const char *search, const char *replace)
{
    struct agent_edit edit = {search, replace};
    struct agent_reply reply = {.format = AGENT_FORMAT_EDITS, .edits = &edit, .edit_count = 1};
    const char *text, *reason;
    return apply(unit, base, &reply, &text, &reason) == STATUS_OK ? text : reason;
}

static void
has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in:\n%s", part, text);
}

static void
edits_are_made(void **state)
{
    struct unit *unit = *state;
    has(edited(unit, "    return x + x;\n", "    return 2 * x;\n"), "{\n    return 2 * x;\n}\n");
    /* blanks at ends of lines, and blank lines around, do not matter */
    has(edited(unit, "\n        Y[r] = twice(X[r]);\n\n", "        Y[r] = X[r];\n"),
        "r++)\n        Y[r] = X[r];\n    for");
    has(edited(unit, "{\t\n    return x + x;  \n}\n", "{\n}\n"), "twice(float x)\n{\n}\n\nvoid\n");
    /* nor does the depth of indentation, where nothing else fits */
    has(edited(unit, "Y[r] += 1;\n", "        Y[r] += 2;\n"), "        Y[r] += 2;\n}\n");
    /* a part of a line */
    has(edited(unit, "twice(X[r])", "X[r]"), "        Y[r] = X[r];   \n");
    has(edited(unit, "    return x + x;\n", ""), "{\n}\n");
}

static void
edits_that_do_not_fit(void **state)
{
    struct unit *unit = *state;
    has(edited(unit, "    return x * x;\n", "x"),
        "edit 1: its lines, from `return x * x;` on, stand "
        "nowhere in the base");
    has(edited(unit, "    for (int r = 0; r < R; r++)\n", "x"), "stand 2 times in the base");
    has(edited(unit, "{\n    // ... existing code ...\n}\n", "x"), "`...` stands for lines");
    has(edited(unit, "    return x + x;\n", "    return x + x;\n"), "change nothing");
    has(edited(unit, "r", "q"), "times in the base");
}

static void
edits_follow_one_another(void **state)
{
    struct unit *unit = *state;
    struct agent_edit edits[] = {{"    return x + x;\n", "    return 2 * x;\n"},
                                 {"    return 2 * x;\n", "    return 3 * x;\n"},
                                 {"no such line\n", "x\n"}};
    struct agent_reply reply = {.format = AGENT_FORMAT_EDITS, .edits = edits, .edit_count = 2};
    const char *text, *reason;
    assert_int_equal(apply(unit, base, &reply, &text, &reason), STATUS_OK);
    has(text, "    return 3 * x;\n");
    reply.edit_count = 3;
    assert_int_equal(apply(unit, base, &reply, &text, &reason), STATUS_NO);
    has(reason, "edit 3:");
    size_t length = 400000;
    char *flood = arena_alloc(unit->arena, length + 1);
    memset(flood, 'x', length);
    edits[2] = (struct agent_edit){"    return 3 * x;\n", flood};
    assert_int_equal(apply(unit, base, &reply, &text, &reason), STATUS_NO);
    has(reason, "256 kB");
}

/* ---- protected parts ---- */

static const char *
filled(struct unit *unit, const char *from, const char *given)
{
    struct agent_reply reply = {.format = AGENT_FORMAT_FILL, .text = given};
    const char *text, *reason;
    return apply(unit, from, &reply, &text, &reason) == STATUS_OK ? text : reason;
}

static void
only_open_parts_change(void **state)
{
    struct unit *unit = *state;
    static const char one[] = "a\n//! improve\nb\n//! end\nc\n";
    static const char two[] = "a\n//! improve A\nb\n//! end\nc\n  //! improve B\nd\n  //! end\ne\n";
    assert_string_equal(filled(unit, one, "a\n//! improve\nx\ny\n//! end\nc\n"),
                        "a\n//! improve\nx\ny\n//! end\nc\n");
    assert_string_equal(filled(unit, one, "//! improve\nx\n//! end\n"),
                        "a\n//! improve\nx\n//! end\nc\n");
    assert_string_equal(filled(unit, one, "x\n"), "a\n//! improve\nx\n//! end\nc\n");
    assert_string_equal(filled(unit, one, "x"), "a\n//! improve\nx\n//! end\nc\n");
    assert_string_equal(filled(unit, one, "a\n//! improve\n//! end\nc\n\n"),
                        "a\n//! improve\n//! end\nc\n");
    assert_string_equal(filled(unit, two, "//! improve\nx\n//! end\n//! improve\ny\n//! end"),
                        "a\n//! improve A\nx\n//! end\nc\n  //! improve B\ny\n  //! end\ne\n");
    has(filled(unit, one, "a\n//! improve\nx\n//! end\nC\n"),
        "line 5 of the base, `c`, is protected");
    has(filled(unit, one, "a \n//! improve\nx\n//! end\nc\n"), "line 1 of the base");
    has(filled(unit, two, "x\n"), "2 parts");
    has(filled(unit, two, "a\n//! improve A\nb\n//! end\nc\n"), "the reply 1");
    has(filled(unit, one, "a\n//! improve\nx\nc\n"), "no line //! end");
    has(filled(unit, "a\n", "b\n"), "the base has no part");
}

/* ---- stages ---- */

#define OP \
    "dim R=8, N=32\nin X: f32[R,N]\nM[r] = max[j](X[r,j])\nY[r,j] = X[r,j] - M[r]\nout Y, M\n"

static const char *
emitted(struct unit *unit, const struct program *program, unsigned width)
{
    struct source source = {"s", "", 0};
    struct coder_options options = {.vector_bytes = width};
    struct schedule *schedule = coder_read(unit->arena, program, &source, &options, unit->diags);
    struct buf buf = buf_in(unit->arena);
    assert_non_null(schedule);
    assert_true(coder_emit(&buf, unit->arena, schedule, unit->diags));
    return buf.data;
}

static const char *
staged(struct unit *unit, const char *from, const char *stage, const char *given)
{
    struct agent_reply reply = {.format = AGENT_FORMAT_STAGE, .stage = stage, .text = given};
    const char *text, *reason;
    return apply(unit, from, &reply, &text, &reason) == STATUS_OK ? text : reason;
}

static void
a_stage_is_exchanged(void **state)
{
    static const char stage[] = "static void\n"
                                "stage_M(const float *restrict X, float *restrict M)\n"
                                "{\n"
                                "    for (int r = 0; r < R; r++) {\n"
                                "        float m = X[r * N];\n"
                                "        for (int j = 1; j < N; j++)\n"
                                "            m = X[r * N + j] > m ? X[r * N + j] : m;\n"
                                "        M[r] = m;\n"
                                "    }\n"
                                "}\n";
    struct unit *unit = *state;
    const struct program *program = program_of(unit, OP);
    const char *kernel = emitted(unit, program, 16);
    const char *text = staged(unit, kernel, "M", stage);
    has(text, "stage_M(X, M);");
    assert_ptr_not_equal(strstr(text, "stage_M"), NULL);
    compiles(unit, program, text);
    has(staged(unit, kernel, "Z", stage), "no stage Z with loops of its own; it has M, Y");
    has(staged(unit, kernel, "Y", stage), "write `static void stage_Y(...)`");
    has(staged(unit, base, "M", stage), "no stages of the micro-coder");
    has(staged(unit, arena_printf(unit->arena, "%s%s", kernel, kernel), "M", stage), "2 times");
}

/* Larger programs have a function for each stage. */
static void
a_function_is_exchanged(void **state)
{
    static const char program_text[] =
        "in X: f32[8,32]\nA[r] = max[j](X[r,j])\nB[r] = sum[j](X[r,j])\nC[r] = min[j](X[r,j])\n"
        "D[r] = sum[j](X[r,j]*X[r,j])\nout A, B, C, D\n";
    static const char own[] =
        "static void\nstage_B(const float *restrict X, float *restrict B)\n"
        "{\n    for (int r = 0; r < 8; r++) {\n        float s = 0;\n"
        "        for (int j = 0; j < 32; j++)\n            s += X[r * 32 + j];\n"
        "        B[r] = s;\n    }\n}\n";
    struct unit *unit = *state;
    const struct program *program = program_of(unit, program_text);
    const char *kernel = emitted(unit, program, 16);
    has(kernel, "stage1_B(");
    const char *text = staged(unit, kernel, "B", own);
    has(text, "stage_B(X, B);");
    compiles(unit, program, text);
    const char *same = arena_printf(unit->arena, "static void\nstage1_B(%s", strchr(own, '(') + 1);
    text = staged(unit, kernel, "B", same);
    has(text, "s += X[r * 32 + j];");
    compiles(unit, program, text);
}

/* ---- numbers ---- */

static void
numbers_are_found_and_set(void **state)
{
    static const char kernel[] = "//! tune T = 8 4, 16 8\n"
                                 "//! tune U = 1 2\n"
                                 "//! tune bad = x\n"
                                 "#define U 2 /* rows */\n"
                                 "void kernel(void) { int a[T]; }\n"
                                 "//! tune W = 5\n"
                                 "#define W 7\n";
    struct unit *unit = *state;
    struct agent_tunable *list;
    assert_int_equal(agent_tunables(unit->arena, kernel, &list), 3);
    assert_string_equal(list[0].name, "T");
    assert_int_equal(list[0].value_count, 3);
    assert_int_equal(list[0].values[0], 4);
    assert_int_equal(list[0].values[2], 16);
    assert_int_equal(list[0].now, 1);
    assert_int_equal(list[1].now, 1);
    assert_int_equal(list[2].value_count, 2); /* what is defined belongs to the list */
    assert_int_equal(list[2].values[list[2].now], 7);
    list[0].now = 2;
    list[1].now = 0;
    const char *text = agent_tune(unit->arena, kernel, list, 3);
    has(text, "//! tune T = 16 4 8\n");
    has(text, "//! tune U = 1 2\n");
    has(text, "#define U 1 /* rows */\n");
    has(text, "//! tune bad = x\n");
    struct agent_tunable *again;
    assert_int_equal(agent_tunables(unit->arena, text, &again), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(again[i].now, list[i].now);
        assert_int_equal(again[i].value_count, list[i].value_count);
    }
    assert_int_equal(agent_tunables(unit->arena, "", &list), 0);
    assert_string_equal(agent_tune(unit->arena, "", NULL, 0), "");
}

/* What counts above the code only is moved there. */
static void
declarations_move_up(void **state)
{
    struct unit *unit = *state;
    struct agent_reply reply = {.format = AGENT_FORMAT_FILE,
                                .text = "/* mine */\n//! flags -O3\n#include <math.h>\n"
                                        "//! tune T = 4 8\n#define T 8\n"
                                        "void kernel(const float *X, float *Y) { Y[0] = X[T]; }\n"};
    const char *text, *reason;
    const struct program *program = program_of(unit, SMALL);
    assert_non_null(agent_objection(unit->arena, reply.text, cpu(), program));
    assert_int_equal(apply(unit, "", &reply, &text, &reason), STATUS_OK);
    assert_string_equal(text, "//! tune T = 4 8\n/* mine */\n//! flags -O3\n#include <math.h>\n\n"
                              "#define T 8\n"
                              "void kernel(const float *X, float *Y) { Y[0] = X[T]; }\n");
    assert_null(agent_objection(unit->arena, text, cpu(), program));
}

/* ---- objections ---- */

static const char *
objection(struct unit *unit, const char *text)
{
    const char *said = agent_objection(unit->arena, text, cpu(), program_of(unit, SMALL));
    return said != NULL ? said : "";
}

static void
what_is_wrong_is_told(void **state)
{
#define BODY "void kernel(const float *X, float *Y) { Y[0] = X[0]; }\n"
    struct unit *unit = *state;
    struct buf buf = buf_in(unit->arena);
    assert_string_equal(objection(unit, BODY), "");
    assert_string_equal(objection(unit, "#include <immintrin.h>\n#include \"hone.h\"\n" BODY), "");
    assert_string_equal(objection(unit, "#if N == 4\n" BODY "#else\n" BODY "#endif\n"), "");
    assert_string_equal(objection(unit, "// no bf16 here, kernel(x) { }\n" BODY), "");
    assert_string_equal(objection(unit, BODY "// tails: ...\n"), "");
    has(objection(unit, "#include <pthread.h>\n" BODY), "line 1: #include of pthread.h");
    has(objection(unit, "#include \"mine.h\"\n" BODY), "mine.h");
    has(objection(unit, "#include <../immintrin.h>\n" BODY), "immintrin.h");
    has(objection(unit, BODY "\n" BODY), "line 3: a second function kernel");
    has(objection(unit, "static _Float16 x;\n" BODY), "line 1: _Float16: the task has no f16");
    has(objection(unit, BODY "static bf16 x;\n"), "line 2: bf16");
    has(objection(unit, "void kernel(const float *X, float *Y);\n"),
        "no function kernel is defined");
    has(objection(unit, "int x;\n"), "no function `kernel`");
    has(objection(unit, "//! flags -fplugin=x\n" BODY), "line 1:");
    has(objection(unit, BODY "// ... rest of the code unchanged ...\n"), "stands for code");
    has(objection(unit, BODY "/* ... existing helpers ... */\n"), "stands for code");
    for (int i = 0; i < 801; i++)
        buf_putc(&buf, '\n');
    buf_puts(&buf, BODY);
    has(objection(unit, buf.data), "802 lines");
    buf = buf_in(unit->arena);
    for (int i = 0; i < 66000; i++)
        buf_putc(&buf, ' ');
    buf_puts(&buf, BODY);
    has(objection(unit, buf.data), "64 kB; at most 800 and 64");
}

/* ---- likeness ---- */

static const char *
hash(struct unit *unit, const char *text)
{
    char *hash = arena_alloc(unit->arena, HASH_TEXT);
    agent_normal_hash(unit->arena, text, hash);
    return hash;
}

static void
same(struct unit *unit, const char *a, const char *b)
{
    if (strcmp(hash(unit, a), hash(unit, b)) != 0)
        fail_msg("these differ:\n%s\n%s", a, b);
}

static void
differ(struct unit *unit, const char *a, const char *b)
{
    if (strcmp(hash(unit, a), hash(unit, b)) == 0)
        fail_msg("these are the same:\n%s\n%s", a, b);
}

static void
likeness(void **state)
{
    struct unit *unit = *state;
    same(unit, "int a = 1; // x\n", "/* y */ int   b=1;");
    same(unit, "for (int i = 0; i < N; i++) y[i] += 1;", "for (int k=0;k<N;k++)\n\ty[k] += 1;");
    same(unit, "void f(const float *restrict X) { X[0]; }",
         "void f(const float *restrict in) { in[0]; }");
    same(unit, "#define T 4\nint a;", "#define   T 4 // rows\nint b;");
    same(unit, "//! tune T = 4  8\nint a;", "//!tune T = 4, 8\nint a;");
    differ(unit, "//! tune T = 4 8\nint a;", "//! tune T = 8 4\nint a;");
    differ(unit, "//! flags -O3\nint a;", "int a;");
    differ(unit, "int a = 1;", "int a = 2;");
    differ(unit, "int a = x * N;", "int a = x * R;");
    differ(unit, "float y = expf(x);", "float y = logf(x);");
    differ(unit, "float a, b; a = b;", "float a, b; b = a;");
    differ(unit, "int i; int j; f(i, j);", "int i; int j; f(j, i);");
    differ(unit, "int a; s.a = 1;", "int b; s.b = 1;");
    differ(unit, "#define A 1\nint x;", "#define A 1 int x;");
    differ(unit, "vf32 a = vf32_load(p);", "vf32 a = vf64_load(p);");
    same(unit, "", "// nothing\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(edits_are_made),
        UNIT_TEST(edits_that_do_not_fit),
        UNIT_TEST(edits_follow_one_another),
        UNIT_TEST(only_open_parts_change),
        UNIT_TEST(a_stage_is_exchanged),
        UNIT_TEST(a_function_is_exchanged),
        UNIT_TEST(numbers_are_found_and_set),
        UNIT_TEST(declarations_move_up),
        UNIT_TEST(what_is_wrong_is_told),
        UNIT_TEST(likeness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
