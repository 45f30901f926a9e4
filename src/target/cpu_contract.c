/* The rules for cpu, as a person or a model reads them. Lists and limits come from the tables that
 * are enforced, so that the text cannot promise anything else. A test builds and runs the example.
 */
#include "target/target_int.h"

#include <string.h>

static const char shape[] =
    "A kernel for cpu is one C file (gnu17) that defines\n"
    "\n"
    "    void kernel(const T *restrict in1, ..., T *restrict out1, ...);\n"
    "\n"
    "Parameters: the inputs in the order of the task's `in`, then the outputs in the order of "
    "`out`;\n"
    "a pointer also for a single number. Their names are yours. Tensors are dense and row-major.\n"
    "Everything else in the file should be static.\n"
    "\n"
    "Types      f64 double   f32 float   f16 _Float16   bf16 bf16 (a uint16_t; f32_of_bf16(),\n"
    "           bf16_of_f32())   i32 int32_t   i8 int8_t   u8 uint8_t   bool uint8_t (0 or 1)\n"
    "Sizes      Every dim of the task, and every const that begins with a capital, is a macro with "
    "a\n"
    "           number: R, N. The file is compiled anew for each case, so loop bounds are "
    "constants;\n"
    "           `#if N == 4096` may choose code for a case, with an #else for the others. A task "
    "with\n"
    "           `dim any` is also compiled for sizes that you do not see. Offsets may exceed an "
    "int:\n"
    "           write (size_t)r * N.\n"
    "Prelude    Before your text stand <math.h> <omp.h> <stddef.h> <stdint.h> <stdlib.h> "
    "<string.h>,\n"
    "           the macros, bf16, the prototype, and HONE, a macro that tells they are there. You "
    "may\n"
    "           include <immintrin.h> and other headers of the compiler, no files of your own.\n"
    "hone.h     #include \"hone.h\" gives vf32, vi32, vf64, vi64, as wide as this machine's "
    "registers,\n"
    "           with loads and stores (vf32_load, vf32_load_tail, vf32_load_f16, ...), "
    "vf32_select,\n"
    "           vf32_max, vf32_exp, vf32_tanh and every other function of the language to 2 ulp,\n"
    "           vf32_hsum and vf32_hmax over the lanes. `hone contract hone.h` prints it.\n";

static const char work[] =
    "Outputs    arrive filled with garbage (NaN patterns); every element must be written, in "
    "every\n"
    "           call. Inputs are read-only. No state may be carried from one call to the next: "
    "inputs\n"
    "           change, and every element of calls chosen at random is checked.\n"
    "Precision  Every element must lie within the error that honest arithmetic in the task's own "
    "types\n"
    "           makes, in whatever order: sums may be reordered, -ffast-math may be used, but bf16 "
    "or\n"
    "           tf32 inside an f32 task is found. Infinities must stay infinite.\n"
    "Threads    OpenMP only; the caller sets the number of threads (omp_get_max_threads()). All "
    "work\n"
    "           is done when kernel returns. 1 and all threads are tried; results that differ "
    "between\n"
    "           runs are allowed within the tolerance, and the verdict says so.\n";

static const char example[] = "\n"
                              "A complete example, right for every R and N:\n"
                              "\n"
                              "    op row_sum                          # the task\n"
                              "    dim R=64, N=1000\n"
                              "    in X: f32[R,N]\n"
                              "    Y[r] = sum[j](X[r,j])\n"
                              "    out Y\n"
                              "\n"
                              "    //! flags -O3\n"
                              "    //! tune LANES = 16 8\n"
                              "    void\n"
                              "    kernel(const float *restrict X, float *restrict Y)\n"
                              "    {\n"
                              "    #pragma omp parallel for\n"
                              "        for (int r = 0; r < R; r++) {\n"
                              "            const float *x = X + (size_t)r * N;\n"
                              "            float lane[LANES] = {0}, sum = 0;\n"
                              "            int j = 0;\n"
                              "            for (; j + LANES <= N; j += LANES)\n"
                              "                for (int l = 0; l < LANES; l++) /* one vector: gcc "
                              "keeps float sums in order */\n"
                              "                    lane[l] += x[j + l];\n"
                              "            for (; j < N; j++)\n"
                              "                sum += x[j];\n"
                              "            for (int l = 0; l < LANES; l++)\n"
                              "                sum += lane[l];\n"
                              "            Y[r] = sum;\n"
                              "        }\n"
                              "    }\n";

static void
put_limits(struct buf *buf, const struct target_limits *limits)
{
    size_t block = limits->alignment;

    buf_printf(
        buf,
        "Buffers    begin at multiples of %zu bytes and never overlap. The rest of the last %zu-"
        "byte\n"
        "           block of an input may be read (its content is garbage); nothing else outside\n"
        "           of a buffer may be touched, and nothing behind the end of an output written.\n",
        block, block);
    buf_printf(
        buf,
        "Scratch    is static, at most %zu GB; its pages are touched before the clock starts. "
        "malloc\n"
        "           inside the kernel is allowed and costs time. Stack: at most %zu MB a thread.\n"
        "           The file itself: at most %zu MB.\n",
        limits->scratch_bytes >> 30, limits->stack_bytes >> 20, limits->text_bytes >> 20);
}

static void
put_words(struct filler *filler, const char *words)
{
    while (*words) {
        size_t length = strcspn(words, " ");
        target__fill(filler, arena_strndup(filler->buf->arena, words, length));
        words += length + strspn(words + length, " ");
    }
}

static void
put_symbols(struct buf *buf, const struct target_symbols *rows)
{
    struct filler filler = {.buf = buf, .indent = 11};

    buf_puts(
        buf,
        "Calls      No files, clocks, signals, constructors, or threads but OpenMP's. A kernel "
        "may call\n");
    for (; rows->what; rows++)
        put_words(&filler, arena_printf(buf->arena, "%s%s", rows->what, rows[1].what ? ";" : "."));
    target__fill_end(&filler);
}

/* Flags of one form, each without the first `cut` characters. */
static void
put_form(struct buf *buf, const struct target_flag *flags, enum target_flag_form form, size_t cut,
         const char *label)
{
    struct filler filler = {.buf = buf, .indent = 11};

    if (*label)
        put_words(&filler, label);
    for (; flags->text; flags++) {
        struct buf word = buf_in(buf->arena);
        if (flags->form != form)
            continue;
        target_put_flag(&word, flags);
        target__fill(&filler, word.data + cut);
    }
    target__fill_end(&filler);
}

static void
put_flags(struct buf *buf, const struct target *target)
{
    struct filler filler = {.buf = buf, .indent = 11};

    buf_puts(buf, "Flags      Every kernel is built with\n");
    target__fill(&filler, target->compiler);
    for (const char *const *flag = target->defaults; *flag; flag++)
        target__fill(&filler, *flag);
    target__fill_end(&filler);
    buf_puts(
        buf,
        "           Under these gcc vectorises neither float sums and maxima (write lanes, or\n"
        "           #pragma omp simd reduction) nor calls like expf. A line `//! flags -O3 "
        "...` at the\n"
        "           top of the file adds any of\n");
    put_form(buf, target->flags, TARGET_FLAG_EXACT, 0, "");
    put_form(buf, target->flags, TARGET_FLAG_CHOICE, 0, "");
    put_form(buf, target->flags, TARGET_FLAG_SWITCH, strlen("-f[no-]"),
             "-fX or -fno-X, where X is one of");
    put_form(buf, target->flags, TARGET_FLAG_NUMBER, strlen("--param="), "--param with one of");
}

void
target__cpu_contract(struct buf *buf, const struct target *target)
{
    buf_puts(buf, shape);
    put_limits(buf, &target->limits);
    buf_puts(buf, work);
    put_symbols(buf, target->symbols);
    put_flags(buf, target);
    buf_puts(buf,
             "Numbers    `//! tune T = 4 8 16` at the top declares a macro T; the host tries the "
             "values and\n"
             "           keeps the fastest. The first one is used until then.\n");
    buf_puts(buf, example);
}
