/* The manual page and the completion, from the table of verbs. */
#include "app/cli.h"

#include <string.h>

#include "libhone/libhone.h"

/* ---- roff ---- */

/* Text with the characters that roff would read as its own escaped. */
static void
put_roff(struct buf *buf, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            buf_puts(buf, "\\&");
        if (*text == '\\')
            buf_puts(buf, "\\e");
        else if (*text == '-')
            buf_puts(buf, "\\-");
        else
            buf_putc(buf, *text);
        line_start = *text == '\n';
    }
}

/* Paragraphs: an empty line becomes .PP. */
static void
put_paragraphs(struct buf *buf, const char *text)
{
    const char *gap;
    while ((gap = strstr(text, "\n\n")) != NULL) {
        put_roff(buf, arena_strndup(buf->arena, text, (size_t)(gap - text)));
        buf_puts(buf, "\n.PP\n");
        text = gap + 2;
    }
    put_roff(buf, text);
}

static void
put_roff_options(struct buf *buf, const struct option *options)
{
    for (; options->name != NULL || options->letter; options++) {
        struct buf name = buf_in(buf->arena);
        put_option(&name, options);
        buf_puts(buf, ".TP\n.B ");
        put_roff(buf, name.data);
        buf_putc(buf, '\n');
        put_roff(buf, options->help);
        buf_puts(buf, ".\n");
    }
}

static void
put_roff_verb(struct buf *buf, const struct verb *verb)
{
    buf_puts(buf, ".SS hone ");
    put_roff(buf, verb->name);
    buf_putc(buf, ' ');
    put_roff(buf, verb->operands);
    buf_puts(buf, "\n");
    put_roff(buf, verb->summary);
    buf_puts(buf, ".\n.PP\n");
    put_paragraphs(buf, verb->details);
    put_roff_options(buf, verb->options);
}

static const char man_end[] =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nDone; the answer is yes.\n"
    ".TP\n.B 1\nThe answer is no.\n"
    ".TP\n.B 2\nThe caller's mistake: usage, a file that cannot be read or parsed.\n"
    ".TP\n.B 3\nThis machine's fault: no memory, a full disk, no compiler.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B HONE_MACHINE\nA file that describes the machine for the speed of light.\n"
    ".TP\n.B HONE_MODEL, HONE_COST, HONE_THREADS, HONE_ARCHIVE, HONE_RECIPE\nSettings; `hone "
    "config` "
    "shows which hold.\n"
    ".TP\n.B OPENAI_API_KEY, ANTHROPIC_API_KEY, ...\nKeys of models (doc/models.md). Without a "
    "model nothing is sent.\n"
    ".TP\n.B NO_COLOR, CLICOLOR_FORCE, TERM\nWhether to use colour and redraw lines.\n"
    ".TP\n.B PAGER\nWhat show, explain and diff show long results with, on a terminal.\n"
    ".TP\n.B XDG_CACHE_HOME\nWhere compiled references and the machine's description are kept "
    "(default ~/.cache).\n"
    ".SH FILES\n"
    ".TP\n.B ~/.cache/hone/machine\nThe description of this machine.\n"
    ".TP\n.B ~/.cache/hone/models.json\nWhat is remembered of models.\n"
    ".TP\n.B ~/.config/hone/config, .hone\nSettings.\n"
    ".TP\n.B ~/.config/hone/recipes/\nRecipes of your own (doc/recipes.md).\n"
    ".TP\n.B ~/.config/hone/prices\nPrices of models that go before the built-in ones.\n";

void
man_page(struct buf *buf)
{
    buf_printf(buf, ".TH HONE 1 \"\" \"hone %s\" \"User Commands\"\n", HONE_VERSION);
    buf_puts(buf, ".SH NAME\nhone \\- finds fast compute kernels and proves that they are right\n"
                  ".SH SYNOPSIS\n.B hone\n.I VERB\n[\\fIoption\\fR ...] [\\fIoperand\\fR ...]\n"
                  ".SH VERBS\n");
    for (const struct verb *verb = verbs; verb->name != NULL; verb++)
        put_roff_verb(buf, verb);
    buf_puts(buf, ".SH OPTIONS OF EVERY VERB\n");
    put_roff_options(buf, global_options);
    buf_puts(buf, man_end);
}

/* ---- bash ---- */

static void
put_words(struct buf *buf, const struct option *options)
{
    for (; options->name != NULL || options->letter; options++) {
        if (options->name)
            buf_printf(buf, " --%s", options->name);
        if (options->letter)
            buf_printf(buf, " -%c", options->letter);
    }
}

void
completion(struct buf *buf)
{
    buf_puts(buf, "# bash completion for hone\n"
                  "_hone()\n{\n"
                  "    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
                  "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='");
    for (const struct verb *verb = verbs; verb->name != NULL; verb++)
        buf_printf(buf, "%s%s", verb == verbs ? "" : " ", verb->name);
    buf_puts(buf, "'\n    elif [ \"${word#-}\" != \"$word\" ]; then\n"
                  "        case ${COMP_WORDS[1]} in\n");
    for (const struct verb *verb = verbs; verb->name != NULL; verb++) {
        buf_printf(buf, "        %s) words='", verb->name);
        put_words(buf, verb->options);
        put_words(buf, global_options);
        buf_puts(buf, "' ;;\n");
    }
    buf_puts(buf, "        esac\n    fi\n"
                  "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
                  "    [ -n \"$words\" ] || compopt -o default\n"
                  "}\n"
                  "complete -F _hone hone\n");
}
