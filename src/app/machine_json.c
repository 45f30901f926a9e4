/* `hone machine --json`. */
#include "app/machine.h"

#include <math.h>

#include "base/json.h"

/* What was not measured, or is infinite, is null. */
static void
put_figure(struct buf *buf, double value)
{
    json_put_number(buf, value > 0 ? value : NAN);
}

static void
put_pair(struct buf *buf, const char *name, const double pair[MEASURE_SCOPES])
{
    buf_printf(buf, ",\"%s\":[", name);
    put_figure(buf, pair[MEASURE_ONE]);
    buf_putc(buf, ',');
    put_figure(buf, pair[MEASURE_ALL]);
    buf_putc(buf, ']');
}

static void
put_list(struct buf *buf, const char *name, const char *const *texts, unsigned count)
{
    buf_printf(buf, ",\"%s\":[", name);
    for (unsigned i = 0; i < count; i++) {
        buf_puts(buf, i ? "," : "");
        json_put_string(buf, texts[i]);
    }
    buf_putc(buf, ']');
}

static void
put_facts(struct buf *buf, const struct measure_facts *facts)
{
    buf_puts(buf, "{\"cpu\":");
    json_put_string(buf, facts->cpu);
    json_field_string(buf, "family", facts->family);
    buf_printf(buf, ",\"cores\":%u,\"threads\":%u", facts->cores, facts->threads);
    json_field_string(buf, "vector", facts->vector);
    buf_printf(buf, ",\"vector_bits\":%u,\"vector_registers\":%u", facts->vector_bits,
               facts->vector_registers);
    json_field_string(buf, "hypervisor", facts->hypervisor);
    buf_printf(buf, ",\"counters\":%s", facts->counters ? "true" : "false");
    json_field_string(buf, "governor", facts->governor);
    buf_puts(buf, ",\"caches\":[");
    for (unsigned i = 0; i < facts->cache_count; i++)
        buf_printf(buf, "%s{\"level\":%u,\"bytes\":%.0f,\"all_bytes\":%.0f}", i ? "," : "",
                   facts->cache[i].level, facts->cache[i].bytes, facts->cache[i].all_bytes);
    buf_putc(buf, ']');
}

static void
put_levels(struct buf *buf, const struct measure_figures *figures)
{
    buf_puts(buf, ",\"levels\":[");
    for (unsigned i = 0; i < figures->level_count; i++) {
        buf_printf(buf, "%s{\"name\":", i ? "," : "");
        json_put_string(buf, figures->level[i].name);
        if (isinf(figures->level[i].bytes))
            buf_puts(buf, ",\"bytes\":null");
        else
            buf_printf(buf, ",\"bytes\":%.0f", figures->level[i].bytes);
        put_pair(buf, "gbs", figures->level[i].gbs);
        buf_puts(buf, ",\"store_gbs\":");
        put_figure(buf, figures->level[i].store_gbs);
        buf_putc(buf, '}');
    }
    buf_puts(buf, "],\"function_ns\":{");
    for (unsigned op = 0, count = 0; op < OP_COUNT; op++)
        if (figures->function_ns[op] > 0)
            buf_printf(buf, "%s\"%s\":%.6g", count++ ? "," : "",
                       op == OP_DIV ? "division" : op_info[op].spelling, figures->function_ns[op]);
    buf_putc(buf, '}');
}

static void
put_figures(struct buf *buf, const struct measure_figures *figures)
{
    put_pair(buf, "peak_gflops", figures->gflops_f32);
    put_pair(buf, "peak_gflops_f64", figures->gflops_f64);
    put_pair(buf, "bandwidth_gbs", figures->level[figures->level_count - 1].gbs);
    put_levels(buf, figures);
    buf_puts(buf, ",\"timer_ns\":");
    put_figure(buf, figures->timer_ns);
    buf_puts(buf, ",\"handshake_ns\":");
    put_figure(buf, figures->handshake_ns);
}

static void
put_state(struct buf *buf, const struct measure_state *state)
{
    buf_printf(buf, ",\"noise\":%.4g,\"steal\":%.4g,\"waited\":%.4g,\"others\":%.4g,\"busy\":[",
               state->noise, state->steal, state->waited, state->others);
    for (unsigned i = 0; i < state->busy_count; i++) {
        buf_printf(buf, "%s{\"pid\":%ld", i ? "," : "", (long)state->busy[i].pid);
        json_field_string(buf, "name", state->busy[i].name);
        buf_printf(buf, ",\"cpu\":%d,\"share\":%.3g}", state->busy[i].cpu, state->busy[i].share);
    }
    buf_printf(buf, "],\"fit\":%s", state->fit ? "true" : "false");
    put_list(buf, "reasons", state->reason, state->reason_count);
}

static void
put_sandbox(struct buf *buf, const struct box_machine *sandbox)
{
    buf_puts(buf, ",\"sandbox\":{\"level\":");
    json_put_string(buf, sandbox ? box_level_name(sandbox->level) : "none");
    buf_printf(buf, ",\"landlock\":%d,\"missing\":[", sandbox ? sandbox->landlock_abi : 0);
    for (int i = 0, count = 0; sandbox != NULL && i < BOX_FEATURE_COUNT; i++)
        if (sandbox->missing[i] != NULL) {
            buf_puts(buf, count++ ? "," : "");
            json_put_string(buf, sandbox->missing[i]);
        }
    buf_puts(buf, "]}");
}

void
machine_json(struct buf *buf, const struct machine_view *view)
{
    const struct measure_figures *figures = &view->kept.figures;
    put_facts(buf, &view->facts);
    json_field_string(buf, "clock", view->tsc ? "tsc" : "monotonic");
    put_figures(buf, figures);
    put_state(buf, &view->state);
    put_sandbox(buf, view->sandbox);
    put_list(buf, "advice", view->advice, view->advice_count);
    buf_puts(buf, ",\"compilers\":{\"gcc\":");
    if (view->gcc != NULL)
        json_put_string(buf, view->gcc);
    else
        buf_puts(buf, "null");
    json_field_string(buf, "clang", view->clang);
    buf_puts(buf, "},\"measured\":{\"time\":");
    if (figures->time > 0)
        buf_printf(buf, "%.0f", figures->time);
    else
        buf_puts(buf, "null");
    buf_puts(buf, ",\"seconds\":");
    put_figure(buf, figures->seconds);
    buf_puts(buf, ",\"noise\":");
    put_figure(buf, figures->noise);
    json_field_string(buf, "file", view->kept.path);
    buf_puts(buf, "}}\n");
}
