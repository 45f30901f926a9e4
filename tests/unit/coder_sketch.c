/* Sketches of every library operator: the usual one is legal and becomes a kernel, the same genome
 * gives the same text, and most random genomes are legal too. */
#include "expected.h"

#include "base/rng.h"
#include "coder/coder.h"
#include "lang/lang.h"

enum { RANDOM = 1 }; /* genomes of each task */

static const struct coder_machine machines[] = {
    {.vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288},
    {.vector_bytes = 64, .registers = 32, .threads = 8, .l1 = 49152, .l2 = 2097152},
};

struct counts {
    unsigned tasks, random, legal;
};

static struct program *
load(struct arena *arena, const char *path)
{
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_open(arena, path, diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, diags) : NULL;
    return program != NULL && program->foreign == NULL ? program : NULL;
}

static bool
becomes_kernel(struct arena *arena, const struct program *program, const char *text,
               unsigned vector_bytes, struct diags *diags)
{
    struct source source = {"schedule", text, strlen(text)};
    struct coder_options options = {.vector_bytes = vector_bytes};
    struct schedule *schedule = coder_read(arena, program, &source, &options, diags);
    struct buf kernel = buf_in(arena);
    return schedule != NULL && coder_emit(&kernel, arena, schedule, diags) && kernel.length > 0;
}

static void
try_task(const char *path, struct counts *counts)
{
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        struct arena *arena = arena_create();
        struct diags *diags = diags_create(arena, 0);
        struct program *program = load(arena, path);
        struct rng rng = rng_stream(m, path);
        if (program == NULL) {
            arena_destroy(arena);
            return;
        }
        struct coder_space *space = coder_space_open(arena, program, &machines[m]);
        struct coder_genome usual = {{0}};
        struct coder_sketch sketch = coder_sketch(space, &usual);
        assert_string_equal(sketch.text, coder_sketch(space, &usual).text);
        if (!becomes_kernel(arena, program, sketch.text, machines[m].vector_bytes, diags)) {
            diags_print(diags, stderr, false);
            fail_msg("%s: the usual sketch is illegal:\n%s", path, sketch.text);
        }
        for (int i = 0; i < RANDOM; i++) {
            struct coder_genome genome = {{0}};
            for (size_t h = 0; h < sketch.hole_count; h++) {
                assert_true(sketch.holes[h].answers >= 2);
                genome.gene[sketch.holes[h].gene] =
                    (uint8_t)rng_below(&rng, sketch.holes[h].answers);
            }
            const char *text = coder_sketch(space, &genome).text;
            counts->random++;
            counts->legal += becomes_kernel(arena, program, text, machines[m].vector_bytes, diags);
        }
        counts->tasks++;
        arena_destroy(arena);
    }
}

static void
every_operator_has_sketches(void **state)
{
    struct counts counts = {0};
    struct arena *arena = arena_create();
    size_t count;
    (void)state;
    const char *const *paths = expected_tasks(arena, &count);
    for (size_t i = 0; i < count; i++)
        try_task(paths[i], &counts);
    arena_destroy(arena);
    print_message("%u programs and machines, %u of %u random genomes legal\n", counts.tasks,
                  counts.legal, counts.random);
    assert_true(counts.tasks > 600);
    assert_true(counts.legal > counts.random * 9 / 10);
}

static struct coder_genome
random_genome(struct rng *rng, const struct coder_sketch *sketch)
{
    struct coder_genome genome = {{0}};
    for (size_t h = 0; h < sketch->hole_count; h++)
        genome.gene[sketch->holes[h].gene] = (uint8_t)rng_below(rng, sketch->holes[h].answers);
    return genome;
}

/* The tokens of a stage's line. */
static const char *
line_of(struct arena *arena, const char *text, const char *stage)
{
    const char *start = strstr(text, stage) + strlen(stage);
    return arena_strndup(arena, start, strcspn(start, "\n"));
}

/* A, B and D are equal, each with its part of the weights; E has other sizes. */
static void
equal_stages_are_asked_once(void **state)
{
    static const char text[] =
        "in X: f32[64,96]; in F: f32[3,96,96]; in W: f32[96,40]\n"
        "A[n,k] = sum[c](X[n,c]*F[0,k,c])\nB[n,k] = sum[c](A[n,c]*F[1,k,c])\n"
        "D[n,k] = sum[c](B[n,c]*F[2,k,c])\nE[n,k] = sum[c](D[n,c]*W[c,k])\n"
        "out E\n";
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    struct rng rng = rng_stream(1, "equal stages");
    struct lang *lang = lang_parse(arena, "layers.op", text, strlen(text), diags);
    struct program *program = lang_program(lang, 0, NULL, 0, diags);
    struct coder_space *space = coder_space_open(arena, program, &machines[0]);
    struct coder_sketch usual = coder_sketch(space, &(struct coder_genome){{0}});
    unsigned first = 0, last = 0;
    (void)state;
    for (size_t h = 0; h < usual.hole_count; h++) {
        assert_true(usual.holes[h].what[0] != 'B' && usual.holes[h].what[0] != 'D');
        first += usual.holes[h].what[0] == 'A';
        last += usual.holes[h].what[0] == 'E';
    }
    assert_true(first > 2 && last > 2);
    for (int i = 0; i < 8; i++) {
        struct coder_genome genome = random_genome(&rng, &usual);
        const char *lines = coder_sketch(space, &genome).text;
        const char *line = line_of(arena, lines, "A:");
        const char *a = strstr(line, "pack("); /* what is copied has another name in each */
        if (a == NULL)
            assert_string_equal(line, line_of(arena, lines, "B:"));
        assert_int_equal(strlen(line), strlen(line_of(arena, lines, "B:")));
        assert_int_equal(strlen(line), strlen(line_of(arena, lines, "D:")));
    }
    arena_destroy(arena);
}

/* Four products, two of them equal; what only follows a product goes with it. */
static const char network_text[] =
    "in X: f32[64,96]; in F: f32[2,96,96]; in W: f32[40,96]; in V: f32[300,40]\n"
    "A[n,k] = sum[c](X[n,c]*F[0,k,c])\nA2[n,k] = max(A[n,k], 0)\nS[n] = sum[k](A2[n,k])\n"
    "B[n,k] = sum[c](A2[n,c]*F[1,k,c]) + S[n]\nD[n,k] = sum[c](A2[n,c]*W[k,c])\n"
    "E[n,k] = sum[c](D[n,c]*V[k,c])\nout B, E\n";

static void
layers_are_the_heavy_stages(void **state)
{
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_parse(arena, "network.op", network_text, strlen(network_text), diags);
    struct program *program = lang_program(lang, 0, NULL, 0, diags);
    struct coder_space *space = coder_space_open(arena, program, &machines[0]);
    struct coder_layer layers[8];
    double total = 0;
    (void)state;
    size_t count = coder_layers(space, layers, 8);
    assert_true(count >= 3);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || layers[i].share <= layers[i - 1].share);
        assert_true(layers[i].first + layers[i].count <= program->stage_count);
        for (size_t k = 0; k < i; k++) /* none is in two of them */
            assert_true(layers[i].first + layers[i].count <= layers[k].first ||
                        layers[k].first + layers[k].count <= layers[i].first);
        total += layers[i].share;
    }
    assert_true(total > 0.9 && total <= 1 + 1e-9);
    assert_int_equal(coder_layers(space, layers, 2), 2);
    arena_destroy(arena);
}

/* A layer's line is the whole's, whatever either takes for usual. */
static void
answers_of_a_layer_are_the_wholes(void **state)
{
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    struct rng rng = rng_stream(3, "answers");
    struct lang *lang = lang_parse(arena, "network.op", network_text, strlen(network_text), diags);
    struct program *whole = lang_program(lang, 0, NULL, 0, diags);
    const struct program *programs[] = {whole};
    struct coder_space *space = coder_space_open(arena, whole, &machines[0]);
    size_t number = 0, changed = 0;
    struct lang_part part;
    (void)state;
    while (strcmp(whole->stages[number].tensor->name, "E") != 0)
        number++;
    assert_true(lang_part(arena, programs, 1, number, 1, &part));
    struct program *layer = lang_program(
        lang_parse(arena, "part", part.text, strlen(part.text), diags), 0, NULL, 0, diags);
    struct coder_space *alone = coder_space_open(arena, layer, &machines[0]);
    const char *before = coder_sketch(space, &(struct coder_genome){{0}}).text;
    for (int i = 0; i < 8; i++) {
        struct coder_sketch usual = coder_sketch(alone, &(struct coder_genome){{0}});
        struct coder_genome found = random_genome(&rng, &usual), genome = {{0}};
        coder_adopt(space, &genome, alone, &found);
        const char *line = line_of(arena, coder_sketch(alone, &found).text, "E:");
        const char *lines = coder_sketch(space, &genome).text;
        if (strstr(line, "@p") != NULL) /* how many threads there are is asked of the whole */
            assert_string_equal(line_of(arena, lines, "E:"), line);
        changed += strcmp(lines, before) != 0;
    }
    assert_true(changed > 4);
    arena_destroy(arena);
}

static size_t
count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

/* 343 stages: a few functions, called for each of them. */
static void
a_deep_network_is_a_few_functions(void **state)
{
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    const char *root = getenv("ROOT");
    struct rng rng = rng_stream(2, "deep network");
    struct program *program =
        load(arena, arena_printf(arena, "%s/examples/resnet_deep.op", root ? root : "."));
    struct coder_space *space = coder_space_open(arena, program, &machines[0]);
    struct coder_sketch sketch = coder_sketch(space, &(struct coder_genome){{0}});
    (void)state;
    assert_true(sketch.hole_count > 20 && sketch.hole_count < CODER_GENES / 2);
    unsigned emitted = 0;
    for (int i = 0; i < 8 && emitted < 2; i++) {
        struct coder_genome genome =
            i == 0 ? (struct coder_genome){{0}} : random_genome(&rng, &sketch);
        const char *text = coder_sketch(space, &genome).text;
        struct source source = {"schedule", text, strlen(text)};
        struct coder_options options = {.vector_bytes = machines[0].vector_bytes};
        struct schedule *schedule = coder_read(arena, program, &source, &options, diags);
        struct buf kernel = buf_in(arena);
        assert_non_null(schedule);
        if (!coder_emit(&kernel, arena, schedule, diags)) {
            assert_true(i > 0); /* some unroll too much: more lines than a kernel may have */
            continue;
        }
        emitted++;
        size_t functions = count_of(kernel.data, "\nstatic void\nstage");
        size_t calls = count_of(kernel.data, "\n    stage");
        assert_true(functions < 40);
        assert_true(calls > (i == 0 ? 100 : 2 * functions)); /* one may be of several stages */
    }
    assert_int_equal(emitted, 2);
    arena_destroy(arena);
}

/* What the search begins with, by the shape of the program. */
static void
shapes_have_their_schedules(void **state)
{
    static const struct {
        const char *program, *schedule;
    } rows[] = {
        /* threads with columns of their own; what is read down the rows stays in the second cache
         */
        {"in A: f32[512,512]; in B: f32[512,512]\nY[m,n] = sum[k](A[m,k]*B[k,n])\nout Y\n",
         "Y: n/128@p pack(B) m/126 n/2v m/6 acc k m@u n/v@u n@v\n"},
        {"in A: f32[1024,1000]; in B: f32[1000,1024]\nY[m,n] = sum[k](A[m,k]*B[k,n])\nout Y\n",
         "Y: n/512@p k/504 pack(B) m/126 pack(A) n/2v m/6 acc k m@u n/v@u n@v\n"},
        /* with rows of their own */
        {"in A: f32[4096,512]; in B: f32[512,64]\nY[m,n] = sum[k](A[m,k]*B[k,n])\nout Y\n",
         "Y: m/2052@p pack(B) m/126 n/2v m/6 acc k m@u n/v@u n@v\n"},
        /* what is counted is read by the filter */
        {"in X: f32[8,1024]\nY[r]: i32 = sum[n ? X[r,n] != 0](1)\nout Y\n",
         "Y: r acc n/4v n/v@a n@v\n"},
        /* two terms are no vector */
        {"in X: f32[64,16,8]\nY[n,y:8,x:4] = sum[r:2,s:2](X[n,2*y+r,2*x+s])\nout Y\n",
         "Y: n y acc r@u s@u x@v\n"},
        /* few rows: both sides are read where they are; names that meet are told apart */
        {"in X: f32[10,2048]; in W: f32[512,2048]\nY[b,n] = sum[k](X[b,k]*W[n,k])\nout Y\n",
         "Y: n/32@p n/2 b/5 acc k/v n@u b@u k@v\n"},
        {"in X: f32[10,2048]; in W: f32[512,2048]; in M: f32[512]\n"
         "Z[n,k] = sum[c](X[n,c]*W[k,c])\nY[n,c] = Z[n,c] - M[c]\nout Y\n",
         "Y: c/32@p c/2 n/5 acc c_2/v c@u n@u c_2@v\n"},
        /* rows of a triangle differ in length: blocks, which threads take one by one */
        {"in A: f32[256,256]; in B: f32[256,256]\n"
         "Y[m,n] = sum[k ? k <= m](A[m,k]*B[k,n])\nout Y\n",
         "Y: pack(B) m/132@p n/2v m/6 acc k m@u n/v@u n@v\n"},
        /* columns are added up row by row, near rows together */
        {"in X: f32[64,256,512]\nY[b,c] = sum[a](X[a,b,c])\nout Y\n",
         "Y: b/16@p a/8 b c/4v acc a@u c/v@u c@v\n"},
        {"in X: f32[64,256,512]\nY[a,c] = max[b](X[a,b,c])\nout Y\n",
         "Y: a@p b/8 c/4v acc b@u c/v@u c@v\n"},
        /* products that wait for each other: several rows at a time */
        {"in X: f32[128,4000]\nY[r,t] = X[r,t] * Y[r,t-1 | 1]\nout Y\n", "Y: r/16@p t r@u\n"},
        /* few results: the terms are shared among the threads */
        {"in X, T: f32[128,4096]\nY[] = mean[i,j]((X[i,j]-T[i,j])*(X[i,j]-T[i,j]))\nout Y\n",
         "! split Y i 64\nY: acc ic@u\nY.i: ic@p acc i j/4v pre(X,8) pre(T,8) j/v@a j@v\n"},
        /* from the last cache, in time; what is in the nearer ones anyway is not asked for */
        {"in X: f32[64,4096]; in B: f32[4096]\nY[r,n] = X[r,n] + B[n]\nout Y\n",
         "Y: r@p n/4v pre(X,8) n/v@u n@v\n"},
        /* rows of a window share what they read: its own index is innermost */
        {"in X: f32[16,3,128,258]; in F: f32[3,3,3]\n"
         "Y[n,c,y:126,x:256] = sum[r,s](F[c,r,s]*X[n,c,y+r,x+s])\nout Y\n",
         "Y: n@p c y/6 x/v acc s@u r@u y@u x@v\n"},
        /* weights as large as an image: a part of them for all images */
        {"in X: f32[16,64,128,256]; in G: f32[64,128,256]\nY[n,c,y,x] = X[n,c,y,x] * G[c,y,x]\nout "
         "Y\n",
         "Y: c@p y/21 n y nt x/2v x/v@u x@v\n"},
        /* short rows that begin anywhere go past the caches together */
        {"in X: f32[16,64,64,33,33]\nY[n,c,z,y,x] = X[n,c,z,y,x] * 2\nout Y\n",
         "Y: n@p c z/7 nt z y x/2v x/v@u x@v\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena *arena = arena_create();
        struct diags *diags = diags_create(arena, 0);
        struct lang *lang =
            lang_parse(arena, "shape.op", rows[i].program, strlen(rows[i].program), diags);
        struct program *program = lang_program(lang, 0, NULL, 0, diags);
        struct coder_space *space = coder_space_open(arena, program, &machines[0]);
        const char *text = coder_sketch(space, &(struct coder_genome){{0}}).text;
        assert_string_equal(text, rows[i].schedule);
        arena_destroy(arena);
    }
}

/* ---- convolutions ---- */

struct written {
    const char *schedule, *kernel;
};

/* The usual schedule of a program and its C. */
static struct written
write_usual(struct arena *arena, const char *text)
{
    struct diags *diags = diags_create(arena, 0);
    struct lang *lang = lang_parse(arena, "conv.op", text, strlen(text), diags);
    struct program *program = lang != NULL ? lang_program(lang, 0, NULL, 0, diags) : NULL;
    struct coder_options options = {.vector_bytes = machines[0].vector_bytes};
    struct buf kernel = buf_in(arena);
    assert_non_null(program);
    struct coder_space *space = coder_space_open(arena, program, &machines[0]);
    const char *schedule = coder_sketch(space, &(struct coder_genome){{0}}).text;
    struct source source = {"schedule", schedule, strlen(schedule)};
    struct schedule *read = coder_read(arena, program, &source, &options, diags);
    assert_true(read != NULL && coder_emit(&kernel, arena, read, diags));
    return (struct written){schedule, kernel.data};
}

static void
assert_has(const char *text, const char *what)
{
    if (strstr(text, what) == NULL)
        fail_msg("no %s in:\n%s", what, text);
}

/* Filters outside, points inside; what is padded is padded for each block of points. */
static void
convolutions_go_by_filters(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    struct written plain =
        write_usual(arena, "in X: f32[16,3,64,64]; in F: f32[64,3,3,3]\n"
                           "Y[n,k,y:62,x:62] = sum[c,r,s](X[n,c,y+r,x+s]*F[k,c,r,s])\nout Y\n");
    assert_has(plain.schedule, "Y: n@p k/6 y x/2v acc c r@u s@u k@u x/v@u x@v");
    struct written padded = write_usual(
        arena, "in X: f32[2,32,128,128]; in F: f32[64,32,3,3]\n"
               "Y[n,k,y:128,x:128] = sum[c,r,s](X[n,c,y+r-1,x+s-1|0]*F[k,c,r,s])\nout Y\n");
    assert_has(padded.schedule, "! pad Y X\n");
    assert_has(padded.schedule, "Y: pack(F) n@p y/");
    assert_has(padded.schedule, "@p do(Y.X) k/6 y x/2v acc");
    arena_destroy(arena);
}

/* Rows of 14 would leave lanes idle: filters are in lanes, a few of them at a time, and the
 * window's innermost loop is not the one along the row. */
static void
small_images_have_filters_in_lanes(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    struct written small = write_usual(
        arena, "in X: f32[16,64,14,14]; in F: f32[64,64,3,3]\n"
               "Y[n,k,y:14,x:14] = sum[c,r,s](X[n,c,y+r-1,x+s-1|0]*F[k,c,r,s])\nout Y\n");
    assert_has(small.schedule, "! pad Y X\n");
    assert_null(strstr(small.schedule, "! flat"));
    assert_has(small.schedule, "acc c s r x@u k/v@u k@v");
    assert_has(small.kernel, "vf32_store_apart(Y + ");
    struct written few =
        write_usual(/* too few points for the copies of the filters */
                    arena, "in X: f32[1,64,7,7]; in F: f32[64,64,3,3]\n"
                           "Y[n,k,y:7,x:7] = sum[c,r,s](X[n,c,y+r-1,x+s-1|0]*F[k,c,r,s])\nout Y\n");
    assert_has(few.schedule, "! flat Y y x\n");
    arena_destroy(arena);
}

/* Several passes over a row: the last one that reads it fetches the next row. */
static void
next_rows_are_fetched(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    struct written softmax = write_usual(
        arena, "in X: f32[1024,4096]\nM[r] = max[j](X[r,j])\nE[r,j] = exp(X[r,j]-M[r])\n"
               "Y[r,j] = E[r,j]/sum[k](E[r,k])\nout Y\n");
    assert_has(softmax.schedule, "E: r with(Y.1, k=j) j/2v pre(X,1,r) j/v@u j@v\n");
    struct written small =
        write_usual(/* it is in the second cache anyway */
                    arena,
                    "in X: f32[64,512]\nM[r] = max[j](X[r,j])\nY[r,j] = X[r,j]-M[r]\nout Y\n");
    assert_null(strstr(small.schedule, "pre("));
    arena_destroy(arena);
}

/* What six rows of a tile read is loaded once. */
static void
rows_of_a_tile_share_loads(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    struct written conv =
        write_usual(arena, "in X: f32[16,3,64,64]; in F: f32[66,3,3,3]\n"
                           "Y[n,k,y:62,x:64] = sum[c,r](X[n,c,y+r,x]*F[k,c,r,0])\nout Y\n");
    const char *kernel = strstr(conv.kernel, "\nkernel(");
    size_t held = count_of(kernel, "vf32_hold(vf32_load(X"), loads = count_of(kernel, "vf32_load(");
    assert_has(conv.schedule, "k/6 y x/2v nt acc c r@u k@u x/v@u x@v");
    assert_int_equal(held, 3 * 2);
    assert_int_equal(loads, held);
    arena_destroy(arena);
}

/* Each phase of a stride is a copy that has only its own terms, and their results are zipped. */
static void
phases_have_their_terms_only(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    struct written conv =
        write_usual(arena, "in X: f32[8,64,28,28]; in F: f32[64,36,3,3]\n"
                           "Y[n,k,y:56,x:56] = sum[c,r,s ? (y+1-r)%2 == 0 && (x+1-s)%2 == 0]"
                           "(X[n,c,(y+1-r)/2,(x+1-s)/2|0]*F[c,k,r,s])\nout Y\n");
    const char *kernel = strstr(conv.kernel, "\nkernel(");
    assert_has(conv.schedule, "! phase Y X\n");
    assert_has(conv.schedule, "k/6 yp@u xp@u y x/2v acc c r@u s@u k@u");
    assert_null(strstr(kernel, "== 0)"));
    /* 9 terms of 2 vectors, once for whole tiles and once for the row's last */
    assert_int_equal(count_of(kernel, "vf32_hold("), 9 * 2 * 2);
    assert_has(kernel, "vf32_load_zip(");
    arena_destroy(arena);
}

/* Rows that leave lanes idle: filters are in lanes, of phases too. */
static void
phases_have_filters_in_lanes(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    struct written conv =
        write_usual(arena, "in X: f32[64,128,10,10]; in F: f32[128,64,4,4]\n"
                           "Y[n,k,y:20,x:20] = sum[c,r,s ? (y+1-r)%2 == 0 && (x+1-s)%2 == 0]"
                           "(X[n,c,(y+1-r)/2,(x+1-s)/2|0]*F[c,k,r,s])\nout Y\n");
    const char *kernel = strstr(conv.kernel, "\nkernel(");
    assert_has(conv.schedule, "! phase Y X\n! pad Y.X X\n");
    assert_has(conv.schedule, "acc c r@u s@u x@u k/v@u k@v");
    assert_null(strstr(kernel, "== 0)"));
    arena_destroy(arena);
}

/* Groups have an index of their own, so that the filters of one share what they read. */
static void
groups_are_parted(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    struct written conv = write_usual(
        arena, "in X: f32[8,32,56,56]; in F: f32[48,8,3,3]\n"
               "Y[n,k,y:54,x:54] = sum[c:8,r,s](X[n,k/12*8+c,y+r,x+s]*F[k,c,r,s])\nout Y\n");
    assert_has(conv.schedule, "! part Y k 12\n");
    assert_has(conv.schedule, "Y.k: n@p kc k/6 y x/2v acc");
    arena_destroy(arena);
}

/* A convolution for each channel and a product of channels: both along the rows of the image. */
static void
lanes_are_shared(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    struct written conv =
        write_usual(arena, "in X: f32[4,3,66,66]; in F: f32[3,3,3]; in P: f32[64,3]\n"
                           "Z[n,c,y:64,x:64] = sum[r,s](X[n,c,y+r,x+s]*F[c,r,s])\n"
                           "Y[n,k,y,x] = sum[c](Z[n,c,y,x]*P[k,c])\nout Y\n");
    assert_null(strstr(conv.schedule, "x@p"));
    assert_has(conv.schedule, "do(Z)");
    assert_int_equal(count_of(conv.schedule, "x@v"), 2);
    arena_destroy(arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_have_their_schedules),
        cmocka_unit_test(convolutions_go_by_filters),
        cmocka_unit_test(small_images_have_filters_in_lanes),
        cmocka_unit_test(next_rows_are_fetched),
        cmocka_unit_test(rows_of_a_tile_share_loads),
        cmocka_unit_test(phases_have_their_terms_only),
        cmocka_unit_test(phases_have_filters_in_lanes),
        cmocka_unit_test(groups_are_parted),
        cmocka_unit_test(lanes_are_shared),
        cmocka_unit_test(every_operator_has_sketches),
        cmocka_unit_test(equal_stages_are_asked_once),
        cmocka_unit_test(layers_are_the_heavy_stages),
        cmocka_unit_test(answers_of_a_layer_are_the_wholes),
        cmocka_unit_test(a_deep_network_is_a_few_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
