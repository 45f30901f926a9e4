/* The table of verbs: the parser, the help, the manual and the completion come from here. */
#include "app/cli.h"

#include <stddef.h>

const char *const group_name[GROUP_COUNT] = {"Start", "Look", "Go on"};

const struct option global_options[] = {
    {0, "json", NULL, "the result as one JSON object on one line"},
    {'q', "quiet", NULL, "nothing but the result and errors"},
    {'v', "verbose", NULL, "say more; -vv still more"},
    {0, "color", "WHEN", "never, always or auto"},
    {0, "archive", "FILE", "the archive of runs (default: `hone config` shows it)"},
    {'h', "help", NULL, "what the verb does and its options"},
    {0},
};

static const struct option task_options[] = {
    {0, "case", "NAME[,NAME]", "only these cases"},
    {0, "see", NULL, "find out which inputs no output depends on, and which outputs are ill-posed"},
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

static const struct option judge_options[] = {
    {0, "case", "NAME[,NAME]", "only these cases"},
    {0, "threads", "N", "threads of the kernel and of the baselines (default: all processors)"},
    {0, "baseline", "NAME[,NAME]", "what to compare with: naive, kernel files (default: naive)"},
    {0, "effort", "quick|normal", "how long to measure (default: normal, about a second a case)"},
    {0, "seed", "S", "repeat a verdict: the seed that it printed, in hex"},
    {0, "keep", "DIR",
     "write the texts as compiled, the verdict and inputs that went wrong to DIR"},
    {0, "target", "T", "where the kernel runs (default: cpu)"},
    {0, "require-sandbox", NULL, "refuse to run anything where the sandbox is not complete"},
    {0},
};

static const struct option optimize_options[] = {
    {0, "case", "NAME[,NAME]", "only these cases"},
    {0, "start", "KERNEL.c", "begin with this kernel: its schedules, or the kernel to beat"},
    {0, "effort", "E", "quick (12 kernels, 20 s), normal (40 kernels), deep (400 kernels, 1h)"},
    {0, "evals", "N", "judge at most N kernels, one a case at least (default: by the effort)"},
    {0, "time", "T",
     "search at most so long: 90, 2m, 1h (default: by the effort; without one and --evals 1m)"},
    {0, "threads", "N", "threads of the kernel (default: all processors)"},
    {0, "seed", "S", "of the search, in hex: the same seed asks the same questions (default: 1)"},
    {0, "until", "GOAL", "what is enough: a share of the speed of light, 0.9, or 2x naive"},
    {0, "patience", "N", "stop a case after N kernels without progress (default: by the effort)"},
    {0, "require", "LIST", "'threads<=N isa<=sse2|avx2|avx512 deterministic', any of them"},
    {'o', NULL, "KERNEL.c", "where the kernel is written (default: the operator's name)"},
    {0, "require-sandbox", NULL, "refuse to run anything where the sandbox is not complete"},
    {0, "recipe", "R", "how proposers are driven: hone recipes (default with a model: hone)"},
    {0, "model", "M[,M2=0.3]",
     "who proposes besides the built-in search; builtin: nobody is asked"},
    {0, "role", "ROLE=M[,ROLE=M]", "a model of its own for a role, as in coder=anthropic:NAME"},
    {0, "calls", "N", "ask models at most N times (default: the recipe's)"},
    {0, "tokens", "N", "at most N tokens in all; instead of --cost where there is no price"},
    {0, "cost", "USD", "spend at most so much (default: 1.00)"},
    {0, "dry-run", NULL, "what would be asked, and what it would cost; nothing is sent"},
    {0, "env-file", "FILE",
     "variables (keys) from FILE, lines of NAME=VALUE; no file is read unasked"},
    {0},
};

static const struct option bench_options[] = {
    {0, "against", "NAME[,NAME]",
     "baselines: torch, naive (default: torch where it is installed); openblas and onednn where a "
     "task is exactly theirs"},
    {0, "recipe", "R[,R]", "how proposers are driven; several: side by side (default: builtin)"},
    {0, "model", "M", "who proposes besides the built-in search"},
    {0, "role", "ROLE=M[,ROLE=M]", "a model of its own for a role, as in coder=anthropic:NAME"},
    {0, "evals", "N", "judge at most N kernels a task (default: 40)"},
    {0, "time", "T", "search at most so long a task: 90, 2m (default: 60)"},
    {0, "calls", "N", "ask models at most N times a task (default: the recipe's)"},
    {0, "tokens", "N", "at most N tokens a task"},
    {0, "cost", "USD", "spend at most so much a task (default: 1.00)"},
    {0, "threads", "N", "threads of kernels and baselines (default: all processors)"},
    {0, "seed", "S", "of the searches, in hex (default: 1)"},
    {0, "jobs", "N", "N tasks at once, each on its share of the processors (default: 1)"},
    {0, "prepare", NULL, "make PyTorch's builds of the tasks, and measure nothing yet"},
    {0, "resume", "RUN",
     "go on with a benchmark that was stopped or killed; show one that is done"},
    {0, "only", "N", "--resume: the task at place N of the plan, from 0, and no other"},
    {0, "compare", NULL, "two benchmarks, OLD and NEW: which tasks got faster or slower"},
    {0, "gate", "P", "--compare: exit code 1 if a task got more than P per cent slower"},
    {0, "csv", NULL, "one line a task, for spreadsheets"},
    {'o', NULL, "FILE", "write the result to FILE instead of the standard output"},
    {0, "env-file", "FILE",
     "variables (keys) from FILE, lines of NAME=VALUE; no file is read unasked"},
    {0},
};

static const struct option resume_options[] = {
    {0, "evals", "N", "judge at most N kernels in all (default: as it was begun)"},
    {0, "time", "T", "search at most so long in all (default: as it was begun)"},
    {0, "calls", "N", "ask models at most N times in all (default: as it was begun)"},
    {0, "tokens", "N", "at most N tokens in all (default: as it was begun)"},
    {0, "cost", "USD", "spend at most so much in all (default: as it was begun)"},
    {0, "env-file", "FILE",
     "variables (keys) from FILE, lines of NAME=VALUE; no file is read unasked"},
    {0},
};

static const struct option replay_options[] = {
    {0, "env-file", "FILE",
     "variables (keys) from FILE, lines of NAME=VALUE; no file is read unasked"},
    {0},
};

static const struct option schedule_options[] = {
    {0, "case", "NAME", "the schedule of this case (default: the first)"},
    {0, "file", "F", "read the lines from F"},
    {0, "emit", NULL, "print the C that follows from it"},
    {0, "judge", NULL, "judge that C as `hone judge` does, in this case"},
    {0, "width", "BITS", "vectors of 128, 256 or 512 bits (default: this machine's)"},
    {0},
};

static const struct option new_options[] = {
    {'o', NULL, "FILE.op", "where the program is written (default: the operator's name)"},
    {0, "force", NULL, "also over a file that is there"},
    {0, "model", "M",
     "a model drafts the program from the words; it is checked before it is written"},
    {0, "env-file", "FILE",
     "variables (keys) from FILE, lines of NAME=VALUE; no file is read unasked"},
    {0},
};

static const struct option import_options[] = {
    {'o', NULL, "DIR", "where the program is written (default: here)"},
    {0, "mode", "eval|train", "as the module behaves in use, or while training (default: eval)"},
    {0, "seed", "S", "of the weights and inputs that the two are compared on, in hex"},
    {0, "time", "T", "that the module may take: 90, 2m (default: 5m)"},
    {0, "force", NULL, "also over a file that is there"},
    {0},
};

static const struct option export_options[] = {
    {'o', NULL, "DIR", "pytorch, kernelbench: where the files are written"},
    {0, "case", "NAME", "pytorch, kernelbench: for the sizes of this case (default: the first)"},
    {0, "module", "FILE.py", "pytorch, kernelbench: the module that the task was imported from"},
    {0},
};

static const struct option show_options[] = {
    {0, "task", "X", "only runs of tasks with X in their name"},
    {0, "all", NULL, "all runs (default: the last 20)"},
    {0, "find", "WORDS", "candidates with these words in their code, schedule or rationale"},
    {0, "prompts", NULL, "RUN: its calls of models, with what they cost and made"},
    {0, "call", "N", "RUN: the prompt and the reply of one call"},
    {0, "watch", NULL, "RUN: follow it until it ends"},
    {0, "code", NULL, "RUN.N: the kernel"},
    {0, "asm", NULL, "RUN.N: the hot loop of its machine code, compiled again"},
    {0, "diff", NULL, "RUN.N: what changed from its parent"},
    {0, "prompt", NULL, "RUN.N: what the model was asked"},
    {0, "reply", NULL, "RUN.N: what it answered"},
    {0, "verdict", NULL, "RUN.N: the whole verdict, as JSON"},
    {0},
};

static const struct option report_options[] = {
    {'o', NULL, "FILE.html", "where the page is written (default: the task's name)"},
    {0},
};

static const struct option machine_options[] = {
    {0, "measure", NULL, "measure again, whatever was kept"},
    {0},
};

static const struct option models_options[] = {
    {0, "probe", NULL, "ask the three questions again, also of programs (exec:)"},
    {0, "no-probe", NULL, "ask nothing of any model: look only whether it is there"},
    {0, "prices", NULL, "the table of prices in effect, in the form of the file prices"},
    {0, "env-file", "FILE",
     "variables (keys) from FILE, lines of NAME=VALUE; no file is read unasked"},
    {0},
};

static const struct option recipes_options[] = {
    {0, "plain", NULL, "the file alone: what one of your own may begin with"},
    {0, "keys", NULL, "what may be written in a recipe, as a table"},
    {0},
};

static const struct option config_options[] = {
    {0, "keys", NULL, "which variables with keys are set, never what they hold"},
    {0, "env-file", "FILE",
     "variables (keys) from FILE, lines of NAME=VALUE; no file is read unasked"},
    {0},
};

static const struct option contract_options[] = {
    {0, "case", "NAME", "the prelude of this case (default: the first)"},
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
        .name = "new",
        .group = GROUP_START,
        .summary = "a program from words: the nearest operator of the library, with your sizes",
        .operands = "WORDS...",
        .details =
            "Looks for the operator of the library, or the example, that the words fit best, and\n"
            "writes it as a program of its own. Sizes in the words set the dims: 4096x1024 the\n"
            "shape of the first input, N=512 a dim by its name; float, double, f16, bf16 or half\n"
            "set the type. What is not said gets a usual size.\n"
            "\n"
            "Where the words fit several operators, the others are named. Exit code 1: nothing\n"
            "fits. With --model a model drafts the program; mistakes that the checker finds go\n"
            "back to it once.\n",
        .options = new_options,
        .least = 1,
        .most = SIZE_MAX,
        .run = verb_new,
    },
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
            "With --see each input of the first case is redrawn alone: an input that moves no\n"
            "output is not seen, and a kernel that never reads it would be called right. It is\n"
            "found once for a task and its sizes; from then on every hone task shows it.\n"
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
        .options = fmt_options,
        .least = 1,
        .most = SIZE_MAX,
        .run = verb_fmt,
    },
    {
        .name = "contract",
        .group = GROUP_START,
        .summary = "what a kernel must look like",
        .operands = "[TARGET [FILE.op]]",
        .details =
            "Prints the rules that a kernel for the target keeps, with an example: what a model\n"
            "is shown. With a task also its prototype, the sizes of its cases and the prelude\n"
            "that stands before the kernel. Without a target: which there are. `hone contract\n"
            "hone.h` prints the header that kernels may include.\n",
        .options = contract_options,
        .least = 0,
        .most = 2,
        .run = verb_contract,
    },
    {
        .name = "optimize",
        .group = GROUP_START,
        .summary = "the fastest kernel that can be found for this machine",
        .operands = "FILE.op",
        .details =
            "Searches schedules of the operator: how its stages become loops. Each candidate is\n"
            "emitted as C, judged as `hone judge` does it, and compared with the best one so far.\n"
            "What is found is written as one C file that serves all cases and stands alone; with\n"
            "-DHONE_MAIN it has a main that tests and times it. Where a dim is `any`, sizes that\n"
            "are no case are served by the plain C of the operator.\n"
            "\n"
            "--start names a kernel to begin with. One that hone wrote is read for its schedules;\n"
            "any other is the kernel to beat, and where nothing beats it, it is given back.\n"
            "\n"
            "With --model a model proposes too, or several, as the recipe says: plans, changes,\n"
            "whole kernels. Nothing is believed before it is judged, and the result is never\n"
            "slower than what the built-in search found. Without --model no call is made, ever.\n"
            "--model builtin plays every role of a recipe without a model.\n"
            "\n"
            "^C ends the search with the best kernel so far. Exit code 1: nothing correct was\n"
            "found.\n",
        .example = "hone optimize examples/softmax.op",
        .example_note = "the fastest kernel it can find, no model needed",
        .options = optimize_options,
        .least = 1,
        .most = 1,
        .run = verb_optimize,
    },
    {
        .name = "bench",
        .group = GROUP_START,
        .summary = "many tasks, one table",
        .operands = "SUITE|FOLDER|FILE.op...",
        .details =
            "Optimises each task as `hone optimize` does and measures what was found against\n"
            "PyTorch, the best of its builds, where that is installed, and against the plain C;\n"
            "on request also against OpenBLAS and oneDNN, where a task is exactly a product or a\n"
            "convolution. -v adds what limits each task, and published figures (doc/metrics.md).\n"
            "A suite is a folder with a LIST: kernelbench/1, 2 and 3, kernelbench-train/1, 2 and\n"
            "3, backward, fused, attention, odd, low-precision come with hone;\n"
            "kernelbench/1:1-20,35 are some of its tasks. The first case of a task is measured.\n"
            "\n"
            "Each task runs in a process of its own. One that is broken is reported and the rest\n"
            "goes on. What came of a task is in the archive when it ends: after ^C, kill -9 or a\n"
            "power failure --resume goes on with those that are left. --compare OLD NEW tells\n"
            "which tasks changed beyond the noise, and is a gate for regressions with --gate.\n"
            "\n"
            "Exit code 1: some task has no correct kernel, or was not done; or the gate is shut.\n",
        .example = "hone bench kernelbench/1:1-20",
        .example_note = "many tasks, one table",
        .options = bench_options,
        .most = SIZE_MAX,
        .run = verb_bench,
    },
    {
        .name = "resume",
        .group = GROUP_GO_ON,
        .summary = "a run goes on where it was stopped or killed",
        .operands = "RUN",
        .details = "Takes the decisions of the run again from what the archive has, which costs\n"
                   "nothing, and goes on from there: no reply is paid for twice, no kernel that\n"
                   "was judged is judged again. The program, the recipe and the options are those\n"
                   "that it was begun with; limits may be given anew.\n",
        .options = resume_options,
        .least = 1,
        .most = 1,
        .run = verb_resume,
    },
    {
        .name = "replay",
        .group = GROUP_GO_ON,
        .summary = "the decisions of a run again, from the archive alone",
        .operands = "RUN",
        .details = "No network, no model, no kernel is built or run. Every decision follows from\n"
                   "the recipe, the seed and what the world answered then: either they are all\n"
                   "the same, or the first difference is told (exit code 1).\n",
        .options = replay_options,
        .least = 1,
        .most = 1,
        .run = verb_replay,
    },
    {
        .name = "judge",
        .group = GROUP_START,
        .summary = "is a kernel right, and how fast is it really",
        .operands = "FILE.op KERNEL.c...",
        .details =
            "Builds the kernel and runs it, both in a sandbox; compares every element of every\n"
            "output with the reference, on secret inputs of many kinds, with one thread and with\n"
            "all; then times it side by side with the baselines. Timed calls are checked too.\n"
            "\n"
            "The verdict is one of correct, wrong, crashed, timed_out, cheated, rejected (it\n"
            "breaks the contract) and build_failed. Several kernels are ranked by paired\n"
            "comparison; those that cannot be told apart are called the same.\n"
            "\n"
            "Exit code 0: all are correct; 1: some are not; 2: a file cannot be read or a case\n"
            "cannot be judged here; 3: this machine failed, and nothing was judged.\n",
        .example = "hone judge examples/softmax.op mine.c",
        .example_note = "is my kernel right, and how fast is it really",
        .options = judge_options,
        .least = 2,
        .most = SIZE_MAX,
        .run = verb_judge,
    },
    {
        .name = "show",
        .group = GROUP_LOOK,
        .summary = "what was found: runs and benchmarks, one run as a tree, one candidate",
        .operands = "[RUN | RUN.N | BENCH]",
        .details =
            "Without a name: the last runs and benchmarks, newest first. With a run: who came\n"
            "from whom, as a tree; the many schedules of the builtin search are one line for\n"
            "each case. With a candidate: its verdict, who proposed it and why, what changed.\n"
            "With a benchmark: its table. -v adds published figures (doc/metrics.md).\n"
            "\n"
            "Names may be shortened as long as only one run has them; last and best are names\n"
            "too, also behind the dot (doc/show.md).\n",
        .example = "hone show last",
        .example_note = "how the last search went",
        .options = show_options,
        .most = 1,
        .paged = true,
        .run = verb_show,
    },
    {
        .name = "explain",
        .group = GROUP_LOOK,
        .summary = "how a run, or one candidate, came to what it is",
        .operands = "RUN | RUN.N",
        .details =
            "Tells in numbered sentences what the limit is, how far the builtin search came and\n"
            "which differences mattered, which steps were accepted, expected and got, and what\n"
            "was refused. Nothing is said that is not stored: each figure is that of a verdict.\n",
        .options = no_options,
        .least = 1,
        .most = 1,
        .paged = true,
        .run = verb_explain,
    },
    {
        .name = "report",
        .group = GROUP_LOOK,
        .summary = "a run or a benchmark as one page of HTML: curves, roofline, tree, kernel, cost",
        .operands = "RUN | SUITE",
        .details =
            "Writes one file that needs no network and no other file: best-so-far curves, the "
            "tree\n"
            "of candidates, a roofline with every candidate on it, verdicts, cost and tokens, the\n"
            "winning kernel with its diff to the start, the machine, and for each figure the\n"
            "command that repeats it. RUN may be a benchmark; SUITE is the newest one with tasks\n"
            "of that suite: summary, speed-ups of its tasks with intervals, fast_p, light, "
            "slowest.\n",
        .options = report_options,
        .least = 1,
        .most = 1,
        .run = verb_report,
    },
    {
        .name = "diff",
        .group = GROUP_LOOK,
        .summary = "two kernels side by side: text, schedules, times",
        .operands = "A B",
        .details =
            "A and B are candidates (k7f3.18, k7f3.best; a run means its best) or kernel files.\n"
            "Shows their verdicts, what a comparison side by side said if one is stored, their\n"
            "schedules and the unified diff of the kernels.\n",
        .options = no_options,
        .least = 2,
        .most = 2,
        .paged = true,
        .run = verb_diff,
    },
    {
        .name = "schedule",
        .group = GROUP_LOOK,
        .summary = "how stages become loops: what a schedule does, and what it would cost",
        .operands = "FILE.op ['LINES' | -]",
        .details =
            "Reads a schedule (doc/schedule.md), fills in what it leaves open, and says in words\n"
            "what each line does, what would be slow on this machine, and about how long it would\n"
            "take. Lines are separated by newlines or semicolons; - reads them from the standard\n"
            "input. Without any the usual schedule for this machine is shown, which is where\n"
            "`hone optimize` begins.\n"
            "\n"
            "The estimate is made to order schedules of one program, not to be right. A schedule\n"
            "that is not legal is exit code 2; with --judge the exit code is that of `hone "
            "judge`.\n",
        .options = schedule_options,
        .least = 1,
        .most = 2,
        .run = verb_schedule,
    },
    {
        .name = "machine",
        .group = GROUP_LOOK,
        .summary = "what this machine can do, and whether it is fit to measure on",
        .operands = "",
        .details =
            "Shows the processor, the peaks of arithmetic and memory, what timing costs, and how\n"
            "quiet the machine is now; says what would make it quieter. -v adds the bandwidth of\n"
            "each memory level and the cost of functions.\n"
            "\n"
            "The first use measures the peaks, which takes some seconds, and keeps them in the\n"
            "cache folder, from where the speed of light of `hone task` takes them; another\n"
            "processor or another number of them makes them stale. The noise is of this moment.\n",
        .options = machine_options,
        .run = verb_machine,
    },
    {
        .name = "say",
        .group = GROUP_GO_ON,
        .summary = "a word to a run: its planner and coder will see it",
        .operands = "RUN TEXT",
        .details =
            "Puts the text into the run's inbox. A run that is running takes it before its next\n"
            "prompt; one that was stopped when it is resumed; one that is done refuses it.\n",
        .options = no_options,
        .least = 2,
        .most = 2,
        .run = verb_say,
    },
    {
        .name = "add",
        .group = GROUP_GO_ON,
        .summary = "a kernel of yours to a run: it is judged and competes",
        .operands = "RUN KERNEL.c",
        .details =
            "Puts the kernel into the run's inbox. A run that is running judges it next, as a\n"
            "candidate by a person; one that was stopped when it is resumed; one that is done\n"
            "refuses it. `hone show RUN` has the verdict.\n",
        .options = no_options,
        .least = 2,
        .most = 2,
        .run = verb_add,
    },
    {
        .name = "export",
        .group = GROUP_GO_ON,
        .summary = "what was found, in the form that others use",
        .operands = "lib DIR FILE.op [KERNEL.c] | pytorch|kernelbench KERNEL.c [FILE.op]",
        .details =
            "lib: a C file and its header in DIR, with one function hone_NAME() that takes the\n"
            "sizes and the tensors. The schedules of KERNEL.c, which `hone optimize` wrote\n"
            "(default: NAME.c), are emitted for each case and for vectors of 16, 32 and 64 bytes;\n"
            "sizes and processor choose among them when it is called. Every other size is served\n"
            "by the plain C of the operator. It is built without -march.\n"
            "\n"
            "pytorch: a folder with an operator torch.ops.hone.NAME and a test of it, which needs\n"
            "PyTorch and gcc. kernelbench: one file with a class ModelNew, C and inline C++. Both\n"
            "are for the sizes of one case; FILE.op is KERNEL.op unless named.\n",
        .options = export_options,
        .least = 2,
        .most = 4,
        .run = verb_export,
    },
    {
        .name = "import",
        .group = GROUP_GO_ON,
        .summary = "a PyTorch module becomes a program, checked against PyTorch",
        .operands = "kernelbench FILE.py",
        .details =
            "FILE.py has the form of KernelBench's tasks: a class Model, get_inputs() and\n"
            "get_init_inputs(). It is run in the sandbox, its graph is exported and translated\n"
            "operator by operator; parameters and buffers become inputs. Sizes that the module\n"
            "names at its top (batch_size = 16) become dims, with a case `small`. The program is\n"
            "then evaluated on random inputs and compared with what PyTorch gives in double\n"
            "precision; nothing is written unless they agree. What cannot be translated is named\n"
            "with its line. It needs PyTorch: ./run setup-torch (doc/pytorch.md).\n",
        .options = import_options,
        .least = 2,
        .most = 2,
        .run = verb_import,
    },
    {
        .name = "recipes",
        .group = GROUP_LOOK,
        .summary = "how proposers can be driven: published systems as files",
        .operands = "[NAME]",
        .details =
            "Lists the recipes: those of recipes/ in your configuration folder go before those\n"
            "that came with the program. With a name, or a path with a slash in it, it prints\n"
            "that file and what each line of it does, which is also how to check one of your own\n"
            "(doc/recipes.md). A recipe with a mistake is exit code 2.\n",
        .options = recipes_options,
        .most = 1,
        .run = verb_recipes,
    },
    {
        .name = "models",
        .group = GROUP_LOOK,
        .summary = "which models are there, what they can do, what they cost",
        .operands = "[MODEL...]",
        .details =
            "Looks whether each model answers, how large its window is and what it costs: those\n"
            "named, else those of the setting `model`. A model over HTTP that was not asked in "
            "the\n"
            "last 30 days is asked three short questions (a C function, an edit, a choice), which\n"
            "decide in which form it will be asked to reply. Without any model nothing is sent.\n"
            "\n"
            "A model is written PROVIDER:NAME, PROVIDER:NAME@URL, exec:COMMAND, mailbox:DIR,\n"
            "replay:FILE or builtin (doc/models.md). Exit code 1: some cannot be used.\n",
        .options = models_options,
        .most = SIZE_MAX,
        .run = verb_models,
    },
    {
        .name = "config",
        .group = GROUP_LOOK,
        .summary = "what is set, and where",
        .operands = "",
        .details =
            "Shows each setting, its value and who says so: a variable, .hone in this folder or\n"
            "above it in the repository, config in the configuration folder, or the default.\n",
        .options = config_options,
        .run = verb_config,
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
