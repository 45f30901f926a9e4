/* Prices: a table that comes with the program, and the user's own before it. */
#include "llm/llm_int.h"

#include "base/file.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_FILE = 1 << 20,
    COLUMNS = 7,
};

/* ---- reading ---- */

static bool
read_price(const char *text, double *price)
{
    char *end;
    *price = -1;
    if (!strcmp(text, "-"))
        return true;
    *price = strtod(text, &end);
    return *end == '\0' && *price >= 0 && *price < 1e6;
}

static bool
read_row(char *const cells[COLUMNS], struct price_row *row)
{
    double *prices[] = {&row->price.input, &row->price.cached, &row->price.written,
                        &row->price.output};
    char *end;
    row->model = cells[0];
    row->window = strtod(cells[1], &end);
    if (strchr(cells[0], ':') == NULL || *end != '\0' || !(row->window >= 0))
        return false;
    for (size_t i = 0; i < 4; i++)
        if (!read_price(cells[2 + i], prices[i]))
            return false;
    if (row->price.input < 0 || row->price.output < 0 || strlen(cells[6]) >= sizeof row->price.date)
        return false;
    snprintf(row->price.date, sizeof row->price.date, "%s", cells[6]);
    return true;
}

/* The words of a line; more than there are columns count as one too many. */
static size_t
split(char *line, char *cells[COLUMNS + 1])
{
    size_t count = 0;
    for (char *word; count <= COLUMNS && (word = strsep(&line, " \t\r")) != NULL;)
        if (*word != '\0')
            cells[count++] = word;
    return count;
}

static enum status
read_table(struct llm *llm, const struct source *source, struct diags *diags)
{
    char *next = arena_strndup(llm->arena, source->text, source->length);
    enum status status = STATUS_OK;
    uint32_t number = 0;
    for (char *line; (line = strsep(&next, "\n")) != NULL;) {
        char *cells[COLUMNS + 1];
        struct price_row row;
        number++;
        line[strcspn(line, "#")] = '\0';
        size_t count = split(line, cells);
        if (count == 0)
            continue;
        if (count != COLUMNS || !read_row(cells, &row)) {
            llm__wrong_at(
                diags, source->path, number,
                "no row of prices; write provider:model window input cached written output "
                "date, with - for what is not billed apart");
            status = STATUS_INPUT;
            continue;
        }
        llm->prices = arena_grow(llm->arena, llm->prices, llm->price_count, llm->price_count + 1,
                                 sizeof *llm->prices);
        llm->prices[llm->price_count++] = row;
    }
    return status;
}

enum status
llm__prices_read(struct llm *llm, struct diags *diags)
{
    struct source *own = arena_alloc(llm->arena, sizeof *own);
    const struct source built_in = {
        .path = "prices", .text = llm__price_table, .length = strlen(llm__price_table)};
    enum status status = STATUS_OK;
    if (llm->options.prices != NULL)
        status = file_read(llm->arena, llm->options.prices, LARGEST_FILE, own, diags);
    if (status == STATUS_OK && llm->options.prices != NULL)
        status = read_table(llm, own, diags);
    return status == STATUS_OK ? read_table(llm, &built_in, diags) : status;
}

/* ---- looking up ---- */

/* "-20251001" or "-2025-08-07" at the end of a name. */
static size_t
without_date(const char *name)
{
    size_t length = strlen(name), digits = 0, at = length;
    while (at > 0 && (isdigit((unsigned char)name[at - 1]) || name[at - 1] == '-') && digits <= 8)
        digits += name[--at] != '-';
    while (at < length && digits > 8) /* a digit of the name itself */
        digits -= name[at++] != '-';
    return digits == 8 && name[at] == '-' ? at : length;
}

const struct price_row *
llm__price_of(const struct llm *llm, const char *provider, const char *model)
{
    /* One vendor, two wires. */
    const char *shown = !strcmp(provider, "responses") ? "openai" : provider;
    const struct price_row *dateless = NULL;
    for (size_t i = 0; i < llm->price_count; i++) {
        const struct price_row *row = &llm->prices[i];
        size_t head = strcspn(row->model, ":");
        const char *name = row->model + head + 1;
        if (strlen(shown) != head || strncmp(row->model, shown, head) != 0)
            continue;
        if (!strcmp(name, model))
            return row;
        if (dateless == NULL && strlen(name) == without_date(model) &&
            !strncmp(name, model, strlen(name)))
            dateless = row;
    }
    return dateless;
}

static double
or_input(double price, const struct llm_price *all)
{
    return price >= 0 ? price : all->input;
}

double
llm__cost(const struct llm_price *price, const struct usage *usage)
{
    double fresh = fmax(0, usage->input - usage->cached - usage->written);
    return 1e-6 *
           (fresh * price->input + usage->cached * or_input(price->cached, price) +
            usage->written * or_input(price->written, price) + usage->output * price->output);
}

/* ---- showing ---- */

static void
put_price(struct buf *buf, double price)
{
    if (price < 0)
        buf_printf(buf, " %9s", "-");
    else
        buf_printf(buf, " %9.6g", price);
}

void
llm_put_prices(const struct llm *llm, struct buf *buf)
{
    buf_printf(buf, "# %-34s %9s %9s %9s %9s %9s  date\n", "provider:model", "window", "input",
               "cached", "written", "output");
    for (size_t i = 0; i < llm->price_count; i++) {
        const struct price_row *row = &llm->prices[i];
        buf_printf(buf, "%-36s %9.0f", row->model, row->window);
        put_price(buf, row->price.input);
        put_price(buf, row->price.cached);
        put_price(buf, row->price.written);
        put_price(buf, row->price.output);
        buf_printf(buf, "  %s\n", row->price.date);
    }
}
