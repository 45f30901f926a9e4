/* The table of verbs: the parser, the help, the manual and the completion come from here. */
#include "app/cli.h"

#include <stddef.h>

const char *const group_name[GROUP_COUNT] = {"Start", "Look", "Go on"};

const struct option global_options[] = {
    {0, "json", NULL, "the result as one JSON object on one line"},
    {'q', "quiet", NULL, "nothing but the result and errors"},
    {'v', "verbose", NULL, "say more; -vv still more"},
    {0, "color", "WHEN", "never, always or auto"},
    {'h', "help", NULL, "what the verb does and its options"},
    {0},
};

static const struct option task_options[] = {
    {0, "case", "NAME[,NAME]", "only these cases"},
    {0, "expand", NULL, "every stage, with calls and definitions replaced"},
    {0, "emit-reference", NULL, "the trusted C that gives the expected values of a case"},
    {0, "eval", NULL, "compute the outputs, in double, with their tolerance"},
    {0, "inputs", "DIR", "--eval: read each input from DIR/NAME.npy instead of drawing it"},
    {0, "seed", "S", "--eval: seed of the inputs that are drawn (default 1)"},
    {'o', NULL, "DIR", "--eval: write NAME.npy and NAME.tolerance.npy of each output to DIR"},
    {0},
};

static const struct option fmt_options[] = {
    {0, "check", NULL, "change nothing; name the files that would change, exit 1 if any would"},
    {0},
};

static const struct option help_options[] = {
    {0, "man", NULL, "the manual page hone(1), as roff"},
    {0, "completion", NULL, "completion for bash"},
    {0},
};

static const struct option no_options[] = {{0}};

const struct verb verbs[] = {
    {
        .name = "task",
        .group = GROUP_START,
        .summary = "what a program computes, what it costs, its speed of light",
        .operands = "FILE.op",
        .details =
            "Checks a tensor program and shows its inputs, outputs and stages, and for each case\n"
            "the operations and bytes it needs and the time that no kernel on this machine can be\n"
            "faster than.\n"
            "\n"
            "With --eval the outputs of the default case (or of those named by --case) are "
            "computed\n"
            "by the trusted reference: from inputs drawn from a normal distribution, or from .npy\n"
            "files. Outputs are written as float64 values and allowed errors; an allowed error of\n"
            "NaN marks an element that is not judged. Several cases are written to folders of\n"
            "their names below DIR.\n",
        .example = "hone task examples/softmax.op",
        .example_note = "what it computes, what it costs",
        .options = task_options,
        .least = 1,
        .most = 1,
        .run = verb_task,
    },
    {
        .name = "fmt",
        .group = GROUP_START,
        .summary = "programs in the house style",
        .operands = "FILE.op... | -",
        .details = "Rewrites each file in place if its form changes; comments are kept. - reads\n"
                   "the program from the standard input and writes it to the standard output.\n",
        .example = "hone fmt examples/softmax.op",
        .example_note = "the same program in the house style",
        .options = fmt_options,
        .least = 1,
        .most = SIZE_MAX,
        .run = verb_fmt,
    },
    {
        .name = "help",
        .group = GROUP_LOOK,
        .summary = "what a verb does",
        .operands = "[VERB]",
        .details = "Without a verb: what hone can do.\n",
        .options = help_options,
        .most = 1,
        .run = verb_help,
    },
    {
        .name = "version",
        .group = GROUP_LOOK,
        .summary = "which hone this is",
        .operands = "",
        .details = "Prints the name and the version.\n",
        .options = no_options,
        .run = verb_version,
    },
    {0},
};
