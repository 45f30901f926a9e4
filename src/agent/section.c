/* Sections that are the same for a whole run: what is built how, what a kernel must look like, the
 * machine, the task, an example. Lists and limits come from the tables that are enforced. */
#include "agent/prompt_int.h"

#include "base/num.h"

#include <string.h>

enum {
    PLAIN_BYTES = 1600,  /* of plain C that is shown with the task; longer ones say little */
    STAGES_BYTES = 1600, /* of the expanded program */
    SMALL = 256,         /* a size of the example */
    EXAMPLE_BYTES = 1700,
    MOST_TENSORS = 16, /* whose shapes the contract repeats: the task has them too */
};

/* ---- build ---- */

static const char *
instructions(const struct coder_machine *machine)
{
    return machine->vector_bytes == 64   ? "AVX-512"
           : machine->vector_bytes == 32 ? "AVX2"
                                         : "vectors of 128 bits";
}

static void
put_build(struct buf *buf, const struct agent_scene *scene)
{
    const struct target_kernel plain = {0};
    buf_printf(buf, "%s ", scene->compiler != NULL ? scene->compiler : scene->target->compiler);
    if (scene->flags != NULL && *scene->flags != '\0')
        buf_puts(buf, scene->flags);
    else
        target_put_flags(buf, scene->target, &plain, NULL);
    buf_printf(buf,
               "\nThis machine has %s. Allowed headers: \"hone.h\", <immintrin.h>, <math.h>, "
               "<string.h> and others of the C language.\n"
               "Float sums, maxima and calls of libm are not vectorised under these flags: use "
               "hone.h or vector extensions.\n",
               instructions(scene->machine));
}

/* ---- contract ---- */

static void
put_tensors(struct buf *buf, struct tensor *const *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_printf(buf, "%s%s ", i > 0 ? ", " : "", tensors[i]->name);
        target_put_type(buf, tensors[i]);
    }
}

static void
put_signature(struct buf *buf, const struct agent_scene *scene)
{
    const struct program *program = scene->programs[0];
    buf_puts(buf, "One C file (gnu17) that defines\n\n```c\n");
    if (scene->target->signature)
        scene->target->signature(buf, program);
    buf_puts(buf, ";\n```\n\n");
    if (program->input_count + program->output_count > MOST_TENSORS)
        return;
    buf_puts(buf, "with ");
    put_tensors(buf, program->tensors, program->input_count);
    buf_puts(buf, " in and ");
    put_tensors(buf, program->outputs, program->output_count);
    buf_puts(buf, " out, dense and row-major.\n");
}

static void
put_sizes(struct buf *buf, const struct program *program)
{
    buf_puts(buf, "* ");
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(buf, "%s%s", i > 0 ? ", " : "", program->dims[i].name);
    buf_puts(buf, program->dim_count > 0
                      ? " are macros with numbers; the file is compiled for each case and serves "
                        "all of them, so tails must be right.\n"
                      : "Sizes are numbers, since the task has no dims.\n");
}

static const char contract_example[] = "Complete, for Y[r] = sum[j](X[r,j]):\n\n"
                                       "```c\n"
                                       "#include \"hone.h\"\n"
                                       "void kernel(const float *restrict X, float *restrict Y)\n"
                                       "{\n"
                                       "#pragma omp parallel for\n"
                                       "    for (ptrdiff_t r = 0; r < R; r++) {\n"
                                       "        vf32 s = vf32_all(0);\n"
                                       "        ptrdiff_t j = 0;\n"
                                       "        for (; j + VF32 <= N; j += VF32)\n"
                                       "            s += vf32_load(X + r * N + j);\n"
                                       "        s += vf32_load_tail(X + r * N + j, N - j);\n"
                                       "        Y[r] = vf32_hsum(s);\n"
                                       "    }\n"
                                       "}\n"
                                       "```\n";

static void
put_contract(struct buf *buf, const struct agent_scene *scene)
{
    const struct target_limits *limits = &scene->target->limits;
    put_signature(buf, scene);
    put_sizes(buf, scene->programs[0]);
    buf_printf(
        buf,
        "* Buffers begin at multiples of %zu bytes and never overlap. The rest of an input's "
        "last %zu bytes may be read, nothing else outside.\n"
        "* Outputs arrive as garbage: write every element in every call. No state between "
        "calls.\n"
        "* Scratch is static, at most %zu GB; stack at most %zu MB a thread; no malloc in "
        "loops; no files, clocks, threads of your own.\n",
        limits->alignment, limits->alignment, limits->scratch_bytes >> 30,
        limits->stack_bytes >> 20);
    buf_puts(buf,
             "* OpenMP: one region around all loops; the caller sets the number of threads.\n"
             "* Sums may be in any order; lower precision than the task's types is found.\n"
             "* At the top of the file `//! tune T = 4 8 16` makes T a macro that the host tries, "
             "and `//! flags -O3` adds flags. Helpers are static.\n\n");
    buf_puts(buf, contract_example);
}

static void
put_contract_short(struct buf *buf, const struct agent_scene *scene)
{
    put_signature(buf, scene);
    put_sizes(buf, scene->programs[0]);
    buf_puts(buf, "* Every element of the outputs is written in every call; nothing outside of the "
                  "buffers is touched; no state, files, or threads but OpenMP's.\n"
                  "* Sums in any order, no lower precision than the task's types.\n");
}

/* ---- hone.h ---- */

static const char hone_h[] =
    "vf32_all(x), vf32_iota(): x in every lane; 0, 1, 2, ...\n"
    "vf32_load(p), vf32_store(p, x): at any address; so vi32_, vf64_, vi64_\n"
    "vf32_load_tail(p, n), vf32_store_tail(p, x, n): the first n lanes, n may be 0\n"
    "vf32_stream(p, x), hone_stream_end(): past the caches, p aligned to the vector\n"
    "vf32_load_f16(p), vf32_load_bf16, vf32_load_i8, vf32_load_u8, with _store_ and _tail\n"
    "vf32_load_even(p), vf32_load_odd: p[0], p[2], ... or p[1], ...; vf32_transpose(rows)\n"
    "vf32_select(mask, a, b), vi32_any(mask), vi32_every(mask)\n"
    "vf32_max(a, b), vf32_min, vf32_abs, vf32_copysign, vf32_sign, vf32_floor, vf32_round\n"
    "vf32_exp vf32_exp2 vf32_expm1 vf32_log vf32_log1p vf32_sin vf32_cos vf32_tanh vf32_erf "
    "vf32_sigmoid vf32_softplus vf32_sqrt vf32_rsqrt vf32_pow(a, b): to 4 ulp, many times faster "
    "than libm\n"
    "vf32_hsum(x), vf32_hprod, vf32_hmax, vf32_hmin: a float over the lanes; vf32_scan_add\n"
    "vf32_of_i32, vi32_of_f32, vf64_of_low(x), vf64_of_high(x), vf32_of_f64(low, high)\n";

static void
put_hone_h(struct buf *buf, const struct agent_scene *scene)
{
    buf_printf(buf,
               "#include \"hone.h\" gives vf32 vi32 vf64 vi64, %u bytes wide (VF32 is %u, VF64 is "
               "%u). Operators work on lanes, comparisons give -1 or 0, a number stands for all "
               "lanes, x[i] is a lane, a * b + c is fused. Functions, inlined:\n%s",
               scene->machine->vector_bytes, scene->machine->vector_bytes / 4,
               scene->machine->vector_bytes / 8, hone_h);
}

/* ---- machine ---- */

static void
put_bytes(struct buf *buf, const char *name, int64_t bytes)
{
    if (bytes >= 1 << 20)
        buf_printf(buf, ", %s %.3g MB", name, (double)bytes / (1 << 20));
    else if (bytes > 0)
        buf_printf(buf, ", %s %lld kB", name, (long long)bytes >> 10);
}

static void
put_speed(struct buf *buf, const char *name, double value, const char *unit)
{
    if (value > 0)
        buf_printf(buf, ", %s %.3g %s", name, value, unit);
}

static void
put_functions(struct buf *buf, const struct agent_scene *scene)
{
    struct cost cost;
    const char *separator = "In lanes on one core: ";
    lang_cost(scene->programs[0], &cost);
    for (int op = 0; op < OP_COUNT; op++)
        if (cost.apart[op] > 0 && scene->machine->function_ns[op] > 0) {
            buf_printf(buf, "%s%s %.2g ns", separator, op_info[op].spelling,
                       scene->machine->function_ns[op]);
            separator = ", ";
        }
    buf_puts(buf, *separator == ',' ? " an element.\n" : "");
}

static void
put_machine(struct buf *buf, const struct agent_scene *scene)
{
    const struct coder_machine *machine = scene->machine;
    buf_printf(buf, "%s, %u thread%s, %u vector registers of %u bits\nOne core: f32 in %u lanes",
               scene->cpu != NULL && *scene->cpu ? scene->cpu : "This machine", machine->threads,
               machine->threads == 1 ? "" : "s", machine->registers, machine->vector_bytes * 8,
               machine->vector_bytes / 4);
    put_bytes(buf, "L1", machine->l1);
    put_bytes(buf, "L2", machine->l2);
    put_bytes(buf, "L3 of all together", machine->l3);
    put_speed(buf, "peak", machine->gflops, "GFLOP/s");
    put_speed(buf, "reads L2 at", machine->l2_gbs, "GB/s");
    put_speed(buf, "L3 at", machine->l3_gbs, "GB/s");
    put_speed(buf, "memory at", machine->memory_gbs, "GB/s");
    buf_putc(buf, '\n');
    if (machine->memory_gbs_all > 0)
        buf_printf(buf, "All threads: memory at %.3g GB/s\n", machine->memory_gbs_all);
    put_functions(buf, scene);
    buf_puts(buf, "A parallel region costs about 1 us; threads pay from about 20 us of work on.\n");
}

/* ---- task ---- */

/* Names of stages are what schedules speak of. */
static void
put_stages(struct buf *buf, const struct program *program)
{
    struct buf stages = buf_in(buf->arena);
    if (program->stage_count == 0)
        return;
    lang_expand(&stages, program);
    if (stages.length == 0 || stages.length > STAGES_BYTES)
        return;
    buf_puts(buf, "Its stages:\n");
    prompt__put_fenced(buf, stages.data, "text");
}

/* The plain kernel without what stands before it. */
static void
put_plain(struct buf *buf, const struct program *program)
{
    struct buf plain = buf_in(buf->arena);
    const struct emit_options options = {.form = EMIT_NAIVE};
    if (program->foreign != NULL)
        return;
    lang_emit(&plain, program, &options);
    const char *kernel = strstr(plain.data, "\nvoid\nkernel("); /* declared, then defined */
    kernel = kernel != NULL ? strstr(kernel + 1, "\nvoid\nkernel(") : NULL;
    if (kernel == NULL || strlen(kernel) > PLAIN_BYTES)
        return;
    buf_printf(buf, "As plain C, case %s:\n", program->case_name);
    prompt__put_fenced(buf, kernel + 1, "c");
}

static void
put_case(struct buf *buf, const struct program *program, const struct light *light)
{
    struct cost cost;
    buf_printf(buf, "case %s:", program->case_name);
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(buf, " %s=%lld", program->dims[i].name, (long long)program->dims[i].size);
    lang_cost(program, &cost);
    buf_puts(buf, "; ");
    num_put_count(buf, cost.flops, "");
    buf_puts(buf, " flops, ");
    num_put_count(buf, cost.bytes_in + cost.bytes_out, "B");
    if (light != NULL && light->us > 0) {
        buf_puts(buf, ", at best ");
        num_put_time(buf, light->us);
        buf_printf(buf, " (light), limited by %s", light->limit ? light->limit : "memory");
    }
    buf_puts(buf, program->check_only ? "; checked, not timed\n" : "\n");
}

static void
put_task(struct buf *buf, const struct agent_scene *scene)
{
    prompt__put_fenced(buf, lang_text(scene->lang), "op");
    put_stages(buf, scene->programs[0]);
    put_plain(buf, scene->programs[0]);
    for (size_t i = 0; i < scene->case_count; i++)
        put_case(buf, scene->programs[i], scene->lights ? &scene->lights[i] : NULL);
    for (size_t i = 0; i < scene->programs[0]->dim_count; i++)
        if (scene->programs[0]->dims[i].any)
            buf_printf(buf, "and every %s from 1 to %lld\n", scene->programs[0]->dims[i].name,
                       2 * (long long)scene->programs[0]->dims[i].given);
    buf_puts(buf, "Allowed: any order of sums, any algebra whose results stay within the error of "
                  "honest arithmetic, leaving out what a filter makes zero. Not allowed: lower "
                  "precision, leaving out terms.\n");
}

/* ---- example ---- */

/* The task at small sizes, where those are admitted. */
static const struct program *
small_program(struct arena *arena, const struct agent_scene *scene)
{
    const struct program *program = scene->programs[0];
    struct lang_size *sizes = arena_array(arena, program->dim_count + 1, sizeof *sizes);
    for (size_t i = 0; i < program->dim_count; i++)
        sizes[i] = (struct lang_size){
            program->dims[i].name, program->dims[i].size < SMALL ? program->dims[i].size : SMALL};
    return lang_program(scene->lang, 0, sizes, program->dim_count, diags_create(arena, 1));
}

/* The schedule and the code, each level indented by one blank, as far as there is room. */
static void
put_trimmed(struct buf *buf, const char *text)
{
    struct buf shown = buf_in(buf->arena);
    size_t left = 0;
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        size_t blanks = strspn(text, " ");
        length = strcspn(text, "\n");
        if (length == 0 || strncmp(text, "#include <", 10) == 0)
            continue;
        if (left > 0 || shown.length + length - blanks > EXAMPLE_BYTES)
            left++;
        else
            buf_printf(&shown, "%*s%.*s\n", (int)(blanks / 4), "", (int)(length - blanks),
                       text + blanks);
    }
    if (left > 0)
        buf_printf(&shown, "/* and %zu more lines */\n", left);
    prompt__put_fenced(buf, shown.data, "c");
}

static void
put_example(struct buf *buf, const struct agent_scene *scene)
{
    struct arena *arena = buf->arena;
    const struct program *program =
        scene->programs[0]->foreign == NULL ? small_program(arena, scene) : NULL;
    const struct coder_options options = {.vector_bytes = scene->machine->vector_bytes};
    struct diags *diags = diags_create(arena, 1);
    struct buf kernel = buf_in(arena);
    if (program == NULL)
        return;
    struct coder_space *space = coder_space_open(arena, program, scene->machine);
    const struct coder_genome usual = {{0}};
    const char *text = coder_sketch(space, &usual).text;
    struct source source = {"schedule", text, strlen(text)};
    struct schedule *schedule = coder_read(arena, program, &source, &options, diags);
    if (schedule == NULL || !coder_emit_short(&kernel, arena, schedule, diags))
        return;
    buf_puts(buf,
             "The micro-coder's kernel of the task at small sizes, which are numbers in it:\n");
    put_trimmed(buf, kernel.data);
}

/* ---- the table ---- */

const char *
agent_constant_section(struct arena *arena, const struct agent_scene *scene,
                       enum agent_section section)
{
    static void (*const put[])(struct buf * buf, const struct agent_scene *scene) = {
        [AGENT_SECTION_BUILD] = put_build,
        [AGENT_SECTION_CONTRACT] = put_contract,
        [AGENT_SECTION_CONTRACT_SHORT] = put_contract_short,
        [AGENT_SECTION_HONE_H] = put_hone_h,
        [AGENT_SECTION_MACHINE] = put_machine,
        [AGENT_SECTION_TASK] = put_task,
        [AGENT_SECTION_EXAMPLE] = put_example,
    };
    struct buf buf = buf_in(arena);
    if ((size_t)section < sizeof put / sizeof *put)
        put[section](&buf, scene);
    return buf.length > 0 ? buf.data : "";
}
