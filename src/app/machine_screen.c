/* The screen of `hone machine`. */
#include "app/machine.h"

#include <string.h>

#include "app/table.h"

#define TITLE_WIDTH 76 /* what stands at the right begins here */
#define LINE_WIDTH 100

static void
put_title(struct buf *buf, const struct measure_facts *facts)
{
    size_t start = buf->length;
    buf_puts(buf, facts->cpu);
    if (facts->family != NULL)
        buf_printf(buf, " (%s)", facts->family);
    buf_printf(buf, ", %u core%s, %u thread%s, %s: %u x f32, %u registers", facts->cores,
               facts->cores == 1 ? "" : "s", facts->threads, facts->threads == 1 ? "" : "s",
               facts->vector, facts->vector_bits / 32, facts->vector_registers);
    if (facts->hypervisor != NULL) {
        buf_puts(buf, "  ");
        while (buf->length - start < TITLE_WIDTH)
            buf_putc(buf, ' ');
        buf_puts(buf, "virtual machine");
    }
    buf_putc(buf, '\n');
}

/* "32 K", "512 K", "32 M": caches have sizes of 1024. */
static void
put_size(struct buf *buf, double bytes)
{
    if (bytes < 1048576)
        buf_printf(buf, "%.4g K", bytes / 1024);
    else
        buf_printf(buf, "%.4g M", bytes / 1048576);
}

/* Three digits. */
static void
put_three(struct buf *buf, double value)
{
    buf_printf(buf, value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
}

/* "102 GFLOP/s one core, 204 both" */
static void
put_peak(struct buf *buf, const struct measure_facts *facts, const struct measure_figures *figures)
{
    if (facts->threads > 1 && figures->gflops_f32[MEASURE_ONE] > 0) {
        put_three(buf, figures->gflops_f32[MEASURE_ONE]);
        buf_puts(buf, " GFLOP/s one core, ");
        put_three(buf, figures->gflops_f32[MEASURE_ALL]);
        if (facts->threads == 2)
            buf_puts(buf, " both");
        else
            buf_printf(buf, " all %u", facts->threads);
    } else {
        put_three(buf, figures->gflops_f32[MEASURE_ALL]);
        buf_puts(buf, " GFLOP/s");
    }
}

static void
put_peaks(struct buf *buf, const struct machine_view *view)
{
    const struct measure_figures *figures = &view->kept.figures;
    unsigned last = figures->level_count - 1;
    buf_puts(buf, "  peak        ");
    put_peak(buf, &view->facts, figures);
    buf_puts(buf, "; memory ");
    if (view->facts.threads > 1 && figures->level[last].gbs[MEASURE_ONE] > 0) {
        put_three(buf, figures->level[last].gbs[MEASURE_ONE]);
        buf_puts(buf, " / ");
    }
    put_three(buf, figures->level[last].gbs[MEASURE_ALL]);
    buf_puts(buf, " GB/s");
    for (unsigned i = 0; i < view->facts.cache_count; i++) {
        buf_printf(buf, "%s L%u ", i ? "," : ";", view->facts.cache[i].level);
        put_size(buf, view->facts.cache[i].bytes);
    }
    buf_putc(buf, '\n');
}

static void
put_state(struct buf *buf, const struct machine_view *view)
{
    const struct measure_figures *figures = &view->kept.figures;
    buf_puts(buf, "  timer       ");
    if (figures->timer_ns > 0)
        buf_printf(buf, "%.3f us     ", figures->timer_ns * 1e-3);
    if (figures->handshake_ns > 0)
        buf_printf(buf, "handshake %.2f us     ", figures->handshake_ns * 1e-3);
    buf_printf(buf, "noise %.1f %% (A/A)", 100 * view->state.noise);
    if (view->facts.hypervisor != NULL)
        buf_printf(buf, ", steal %.1f %%", 100 * view->state.steal);
    if (view->state.waited > 0.001)
        buf_printf(buf, ", waited %.1f %%", 100 * view->state.waited);
    buf_putc(buf, '\n');
}

static void
put_compilers(struct buf *buf, const struct machine_view *view)
{
    const struct {
        const char *name, *version;
    } compilers[2] = {{"gcc", view->gcc}, {"clang", view->clang}};
    for (unsigned found = 0, i = 0; i < 2; i++)
        if (compilers[i].version != NULL)
            buf_printf(buf, "%s%s %s", found++ ? ", " : "  found       ", compilers[i].name,
                       compilers[i].version);
    if (view->gcc != NULL || view->clang != NULL)
        buf_putc(buf, '\n');
    for (unsigned missing = 0, i = 0; i < 2; i++)
        if (compilers[i].version == NULL)
            buf_printf(buf, "%s%s%s: sudo apt-get install %s%s", missing++ ? "" : "  missing     ",
                       compilers[i].name, i == 0 ? " (needed)" : "", compilers[i].name,
                       i == 0 && view->clang == NULL ? "        " : "\n");
}

static void
put_levels(struct buf *buf, const struct machine_view *view)
{
    const struct measure_figures *figures = &view->kept.figures;
    struct table table = table_create(buf->arena);
    table_column(&table, "level", true);
    table_column(&table, "one core", false);
    table_column(&table, "all", false);
    table_column(&table, "writing alone", false);
    for (unsigned i = 0; i < figures->level_count; i++) {
        const double gbs[3] = {figures->level[i].gbs[MEASURE_ONE],
                               figures->level[i].gbs[MEASURE_ALL], figures->level[i].store_gbs};
        const char *cells[4] = {figures->level[i].name};
        for (unsigned j = 0; j < 3; j++)
            cells[j + 1] = gbs[j] > 0 ? arena_printf(buf->arena, "%.3g GB/s", gbs[j]) : "-";
        table_row(&table, cells);
    }
    buf_putc(buf, '\n');
    table_print(buf, &table);
    buf_putc(buf, '\n');
}

/* Nanoseconds an element, in lines of six. */
static void
put_functions(struct buf *buf, const struct measure_figures *figures)
{
    unsigned count = 0;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        if (!(figures->function_ns[op] > 0))
            continue;
        buf_puts(buf, count == 0 ? "  ns an f32   " : count % 6 == 0 ? "\n              " : ", ");
        buf_printf(buf, "%s %.3g", op == OP_DIV ? "division" : op_info[op].spelling,
                   figures->function_ns[op]);
        count++;
    }
    buf_puts(buf, count ? "\n" : "");
}

/* "To do better: this, that."; each on a line of its own if they do not fit behind what stands in
 * the line. */
static void
put_advice(struct buf *buf, const struct machine_view *view, size_t column)
{
    size_t length = column + sizeof " To do better: ";
    for (unsigned i = 0; i < view->advice_count; i++)
        length += strlen(view->advice[i]) + 2;
    const char *between = length <= LINE_WIDTH ? ", " : ",\n  ";
    for (unsigned i = 0; i < view->advice_count; i++)
        buf_printf(buf, "%s%s",
                   i                      ? between
                   : length <= LINE_WIDTH ? " To do better: "
                                          : "\nTo do better: ",
                   view->advice[i]);
    buf_puts(buf, view->advice_count ? ".\n" : "\n");
}

static void
put_verdict(struct buf *buf, const struct machine_view *view)
{
    size_t start = buf->length;
    buf_puts(buf, view->state.fit ? "fit to measure" : "not fit to measure");
    for (unsigned i = 0; i < view->state.reason_count; i++)
        buf_printf(buf, "%s%s", i ? ", " : ": ", view->state.reason[i]);
    buf_putc(buf, '.');
    put_advice(buf, view, buf->length - start);
}

/* How well untrusted code can be shut in, and what stays open. */
static void
put_sandbox(struct buf *buf, const struct box_machine *sandbox)
{
    if (sandbox == NULL) {
        buf_puts(buf, "  sandbox     none: the program hone-box is not there; install it\n");
        return;
    }
    buf_printf(buf, "  sandbox     %s", box_level_name(sandbox->level));
    if (sandbox->landlock_abi > 0)
        buf_printf(buf, ", landlock %d", sandbox->landlock_abi);
    for (int i = 0; i < BOX_FEATURE_COUNT; i++)
        if (sandbox->missing[i] != NULL)
            buf_printf(buf, "\n              %s", sandbox->missing[i]);
    buf_putc(buf, '\n');
}

void
machine_screen(struct buf *buf, const struct machine_view *view, int verbosity)
{
    put_title(buf, &view->facts);
    put_peaks(buf, view);
    put_state(buf, view);
    buf_printf(buf, "  counters    %s\n",
               view->facts.counters ? "present"
               : view->facts.hypervisor
                   ? "none (virtual machine)"
                   : "none, or not for this user (kernel.perf_event_paranoid)");
    put_sandbox(buf, view->sandbox);
    put_compilers(buf, view);
    if (verbosity > 0) {
        put_levels(buf, view);
        put_functions(buf, &view->kept.figures);
    }
    put_verdict(buf, view);
}
