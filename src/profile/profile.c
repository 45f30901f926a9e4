/* A profile: the compiler's remarks, the machine code, the program's own facts and what was
 * measured, as figures with names.
 *
 * Left out on purpose: a cache simulation (cachegrind would have to run the kernel, which only the
 * judge does) and hardware counters, which few machines give to a guest. The doc says so. */
#include "profile/profile_int.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_DISASSEMBLY ((size_t)16 << 20)

static const struct {
    const char *unit, *meaning;
    bool shown;
} figure_info[PROFILE_FIGURE_COUNT] = {
#define X(id, name, unit, shown, meaning) {unit, meaning, shown},
    PROFILE_FIGURES(X)
#undef X
};

const char *const profile_figure_name[PROFILE_FIGURE_COUNT] = {
#define X(id, name, ...) name,
    PROFILE_FIGURES(X)
#undef X
};

/* ---- making ---- */

static void
measured(const struct profile_options *options, struct profile__values *values)
{
    if (options->us > 0)
        values->value[PROFILE_US] = options->us;
    if (options->us > 0 && options->light_us > 0) {
        values->value[PROFILE_LIGHT] = 100 * options->light_us / options->us;
        values->note[PROFILE_LIGHT] = options->limit;
    }
    if (options->us > 0 && options->us_one_thread > 0)
        values->value[PROFILE_SCALING] = options->us_one_thread / options->us;
    if (options->threads > 0)
        values->value[PROFILE_THREADS] = options->threads;
}

static void
put_missing(struct buf *missing, const char *what)
{
    buf_printf(missing, "%s%s", missing->length ? "; " : "", what);
}

/* What objdump writes of the object, or NULL. */
static const char *
disassemble(struct arena *arena, const struct profile_options *options, int object, size_t bytes)
{
    static const char *const args[] = {"-d", "--no-show-raw-insn", "kernel.so", NULL};
    void *mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, object, 0);
    const char *text = NULL;

    if (mapped != MAP_FAILED) {
        text = box_look(options->box, arena,
                        &(struct box_look){.tool = "objdump",
                                           .args = args,
                                           .file = {"kernel.so", mapped, bytes},
                                           .output = MOST_DISASSEMBLY});
        munmap(mapped, bytes);
    }
    return text;
}

static void
look_at_code(struct arena *arena, const char *text, const struct profile_options *options,
             struct profile *profile, struct profile__values *values, struct buf *missing)
{
    struct profile__code code;

    if (!text) {
        put_missing(missing, "objdump (machine code is not looked at): apt-get install binutils");
        return;
    }
    if (!strstr(text, "elf64-x86-64")) {
        put_missing(missing, "machine code is understood for x86-64 only");
        return;
    }
    profile__code(arena, text, &code);
    const struct profile__loop *hot = profile__hot_loop(&code);
    profile__mix(arena, &code, hot, options, values);
    if (!hot)
        return;
    profile->hot_loop = profile__loop_text(arena, &code, hot);
    if (!profile__throughput(arena, &code, hot, options, values))
        put_missing(missing, "llvm-mca (cycles of the hot loop): apt-get install llvm");
}

static void
keep_figures(struct arena *arena, const struct profile__values *values, struct profile *profile)
{
    struct profile_figure *figures = arena_array(arena, PROFILE_FIGURE_COUNT, sizeof *figures);

    for (size_t i = 0; i < PROFILE_FIGURE_COUNT; i++)
        if (!isnan(values->value[i]))
            figures[profile->figure_count++] = (struct profile_figure){
                .name = profile_figure_name[i],
                .value = values->value[i],
                .unit = figure_info[i].unit,
                .meaning = values->note[i] ? arena_printf(arena, "%s; %s%s", figure_info[i].meaning,
                                                          i == PROFILE_LIGHT ? "the limit is " : "",
                                                          values->note[i])
                                           : figure_info[i].meaning,
            };
    profile->figures = figures;
}

enum status
profile_kernel(struct arena *arena, const char *text, const struct profile_options *options,
               struct profile *profile, struct diags *diags)
{
    struct profile__build build;
    struct profile__values values = {.note = {0}};
    struct profile_remark *remarks;
    struct buf missing = buf_in(arena);
    enum status status = profile__build(arena, text, options, &build, diags);

    *profile = (struct profile){.hot_loop = "", .missing = ""};
    if (status != STATUS_OK)
        return status;
    if (build.object < 0) {
        profile->missing = arena_printf(arena, "it does not compile: %s", build.why);
        return STATUS_NO;
    }
    for (size_t i = 0; i < PROFILE_FIGURE_COUNT; i++)
        values.value[i] = NAN;
    measured(options, &values);
    profile->remark_count = profile__remarks(arena, build.said, &remarks);
    profile->remarks = remarks;
    values.value[PROFILE_REMARKS] = (double)profile->remark_count;
    values.value[PROFILE_REDUCTION_REMARKS] =
        profile__reduction_remarks(remarks, profile->remark_count);
    look_at_code(arena, disassemble(arena, options, build.object, build.bytes), options, profile,
                 &values, &missing);
    close(build.object);
    profile__facts(arena, options, &values);
    keep_figures(arena, &values, profile);
    profile->missing = missing.length ? missing.data : "";
    return STATUS_OK;
}

/* ---- asking ---- */

double
profile_figure(const struct profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->figure_count; i++)
        if (!strcmp(profile->figures[i].name, name))
            return profile->figures[i].value;
    return NAN;
}

static bool
is_shown(const struct profile_figure *figure)
{
    for (size_t i = 0; i < PROFILE_FIGURE_COUNT; i++)
        if (!strcmp(figure->name, profile_figure_name[i]))
            return figure_info[i].shown || figure->value != 0;
    return true;
}

static void
put_figure(struct buf *buf, const struct profile_figure *figure)
{
    bool spaced = *figure->unit && strcmp(figure->unit, "x") != 0;

    buf_printf(buf, "%s = %.4g%s%s: %s\n", figure->name, figure->value, spaced ? " " : "",
               figure->unit, figure->meaning);
}

void
profile_put(struct buf *buf, const struct profile *profile, const struct profile_options *options,
            size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->figure_count && count < most; i++)
        if (is_shown(&profile->figures[i])) {
            put_figure(buf, &profile->figures[i]);
            count++;
        }
    if (options->stage_count > 0)
        buf_puts(buf, "stage            us   share   light  limit\n");
    for (size_t i = 0; i < options->stage_count; i++) {
        const struct profile_stage *stage = &options->stages[i];
        buf_printf(buf, "%-12s %6.4g  %4.0f %%  %4.0f %%  %s\n", stage->name, stage->us,
                   100 * stage->share, 100 * stage->light, stage->limit ? stage->limit : "");
    }
    if (*profile->missing)
        buf_printf(buf, "not known here: %s\n", profile->missing);
}
