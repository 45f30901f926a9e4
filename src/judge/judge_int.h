/* What the files of this module share.
 *
 *   judge.c    opening, the whole verdict
 *   cases.c    a task: its cases, what can be judged here, sizes drawn for `any`
 *   extra.c    inputs and sizes that somebody proposes
 *   build.c    a kernel's text becomes objects; cache.c keeps them; ahead.c builds several
 *   slots.c    memory: one slot holds the inputs and outputs of one call
 *   sets.c     inputs and what they should give; rows.c in some rows, where all take too long
 *   run.c      one process in the box: some calls, each on a slot of its own
 *   check.c    is it right; where.c what wrong elements have in common; ending.c why it died
 *   sample.c   one sample of time; time.c how fast it is; naive.c the plain baseline
 *   compare.c  which of two is faster; glance.c a first look at many
 */
#ifndef HONE_JUDGE_JUDGE_INT_H
#define HONE_JUDGE_JUDGE_INT_H

#include "judge/judge.h"

/* ---- the judge ---- */

struct judge {
    struct arena *arena;
    struct box *box;
    struct box_server *server;
    struct log *log;
    struct measure_clock clock;
    int *cpus;
    size_t cpu_count;
    struct measure_facts facts;
    struct measure_kept kept;    /* measured figures, if there are any */
    struct lang_machine machine; /* for the speed of light */
    const char *cache;           /* folder of kept objects; NULL: none */
    const char *key;             /* of this machine: part of every object's name */
    int realtime;                /* held by the one judge that may go before others; -1: not ours */
    struct {
        unsigned threads;
        double ns; /* what a call of nothing takes, handshake included */
    } null[8];
    size_t null_count;
};

uint64_t
judge__ticks(void); /* the box's clock hook */

/* Says that memory ran out; always STATUS_MACHINE. */
enum status
judge__no_memory(struct diags *diags);

/* A line of progress. */
void
judge__progress(const struct judge *judge, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void
judge__note(struct arena *arena, struct judge_report *report, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- a task ---- */

enum freshness {
    FRESH,    /* the reference is cheap: every verdict draws its own inputs */
    ONE_EACH, /* one secret set of each kind for the whole task */
    TWO_SETS, /* only `normal` and `mixed` */
};

/* Inputs that somebody proposed. */
struct judge__given {
    const char *name; /* the pattern */
    void **data;      /* by input; NULL: drawn */
};

/* Of results in rows that the reference does not evaluate. */
struct judge__near {
    double near; /* to an honest evaluation; see rows.c for the unit */
    double part; /* of elements that follow one another may be farther */
};

/* Inputs of one call and what they should give. */
struct judge__set {
    const struct judge__given *given; /* NULL: all are drawn */
    enum distribution kind;
    uint64_t seed;
    struct arena *arena; /* of the expected values; NULL: not evaluated */
    struct lang_result *results;
    struct tolerance *tolerances;
    int64_t *rows;            /* that `results` tell of, where the reference evaluates some rows */
    void **whole;             /* what an honest evaluation gives in all rows; NULL: not known */
    struct judge__near *near; /* by output: how near it must be */
    bool nan;                 /* some result is: there any NaN is right but the poison */
};

enum placement { AT_LEFT, AT_RIGHT }; /* of the data against the guard pages */

/* Memory for one call. */
struct judge__slot {
    struct box_region *regions; /* inputs, then outputs */
    uint64_t set_seed;          /* which inputs it holds: judge__set_seed() has the kind in it */
    bool filled;
    uint64_t poison;
};

struct judge__case {
    struct judge_task *task;
    const struct program *program;
    struct cost cost;
    struct light light;
    const struct program *rows; /* what is evaluated: some rows of it; NULL: all */
    const bool *by_row;         /* which tensors have them */
    void **gathered;            /* by output: room for these rows of what a kernel gave */
    struct evaluator *evaluator;
    struct reference *honest; /* of all rows, once it is needed */
    enum freshness freshness;
    double reference_seconds; /* one set, draw included; of the rows */
    enum distribution kinds[DRAW_COUNT];
    size_t kind_count;
    struct box_memory *memory;
    struct judge__slot *slots;
    size_t slot_count, tensor_count; /* tensors of a slot */
    size_t slot_bytes;
    enum placement placement;           /* of all slots */
    struct judge__set kept[DRAW_COUNT]; /* by kind; FRESH: of this verdict, else of the task */
    bool keeps;                         /* there is memory for what all of them should give */
    struct judge__given *given;         /* patterns that join them */
    size_t given_count;
    struct judge_kernel *naive; /* of this case alone; NULL: none yet, or none is right */
    bool naive_tried;
    const char *cannot_see; /* "X, Z"; NULL: nothing */
    const char *ill_posed;
};

struct judge_task {
    struct judge *judge;
    struct arena *arena;
    struct lang *lang;
    const struct target *target;
    unsigned threads;
    bool seeded, same_inputs;
    uint64_t seed;
    enum judge_effort effort;
    bool no_baseline, only_timed;
    size_t verdicts; /* given so far */
    struct judge__case *cases;
    size_t case_count;
};

/* Cases of the sizes that somebody proposes, behind the others; at most one for each extra. */
void
judge__add_sizes(struct judge_task *task, const struct judge_setup *setup,
                 const struct program *first);

/* The patterns for a case. */
void
judge__read_patterns(struct judge__case *c, const struct judge_setup *setup);

/* The name of a case whose sizes were drawn or proposed. */
const char *
judge__sizes_name(struct arena *arena, const struct program *program);

/* The seed of a set, from that of a verdict. */
uint64_t
judge__set_seed(uint64_t seed, enum distribution kind, size_t number);

/* A new seed of 32 bits that nobody knows. */
uint64_t
judge__secret(void);

/* ---- memory ---- */

/* Bytes of memory behind the pages of every input. */
#define JUDGE__ROOM BOX_PAGE

/* Slots for a case; as many as are useful and fit, at least one. */
enum status
judge__slots_create(struct judge__case *c, struct diags *diags);
void
judge__slots_destroy(struct judge__case *c);

/* Moves all data to that end of their pages. */
void
judge__place(struct judge__case *c, enum placement placement);

/* Where the elements of tensor number `t` (inputs first, then outputs) are. */
void *
judge__data(const struct judge__case *c, const struct judge__slot *slot, size_t t);

static inline const struct tensor *
judge__tensor(const struct judge__case *c, size_t t)
{
    const struct program *program = c->program;

    return t < program->input_count ? program->tensors[t]
                                    : program->outputs[t - program->input_count];
}

/* Fills the outputs of a slot, and the rest of their pages, with a pattern that is no result. */
void
judge__poison(const struct judge__case *c, struct judge__slot *slot, uint64_t random);

/* Elements of an output that still hold it; 0 for integers, where it could be a result. */
int64_t
judge__unwritten(const struct judge__case *c, const struct judge__slot *slot, size_t output,
                 int64_t *first);

/* Whether the whole output still holds it; integers too, where that may be chance. */
bool
judge__untouched(const struct judge__case *c, const struct judge__slot *slot, size_t output);

/* Bytes outside the output that were changed: how far behind its end (or before its start, < 0) the
 * first one lies; 0: none. */
int64_t
judge__overrun(const struct judge__case *c, const struct judge__slot *slot, size_t output);

/* ---- inputs ---- */

/* Puts a set's inputs into a slot, unless they are there. */
void
judge__fill(const struct judge__case *c, struct judge__slot *slot, const struct judge__set *set);

/* Makes it the set of this kind and seed; what it should give is forgotten if it was another. */
void
judge__set_choose(struct judge__set *set, enum distribution kind, uint64_t seed);

/* "normal", or the pattern. */
const char *
judge__set_name(const struct judge__set *set);

/* Computes what they should give, unless it is known. */
enum status
judge__expect(struct judge__case *c, const struct judge__slot *slot, struct judge__set *set,
              struct diags *diags);
void
judge__set_drop(struct judge__set *set);

/* How often infinite inputs are drawn until none of the results is NaN. */
#define JUDGE__INFINITE_ATTEMPTS 3

/* Kinds of ordinary numbers: denormal or infinite ones would be timed for what they are, not for
 * the work. They come first among the kinds of a case, so that they lie in its first slots. */
#define JUDGE__TIMED_KINDS 6
extern const enum distribution judge__timed_kinds[JUDGE__TIMED_KINDS];

/* ---- some rows for all (rows.c) ---- */

/* Seconds of the reference, roughly. */
double
judge__estimate(const struct program *program);

/* Sets c->rows where the whole would take longer than `enough` seconds (0: the usual) and its rows
 * are independent of one another. */
void
judge__choose_rows(struct judge_task *task, struct judge__case *c, size_t number, double enough);

/* What the reference gets: of inputs with rows, set->rows alone, which are drawn. */
const void **
judge__reference_inputs(struct arena *arena, const struct judge__case *c,
                        const struct judge__slot *slot, struct judge__set *set);

/* Where the elements of an output lie that set->results tells of, until it is asked again; which is
 * number `at` of them; and which number an element has among them, or -1. */
const void *
judge__judged(const struct judge__case *c, const struct judge__slot *slot,
              const struct judge__set *set, size_t output);
int64_t
judge__element(const struct judge__case *c, const struct judge__set *set, size_t output,
               int64_t at);
int64_t
judge__number(const struct judge__case *c, const struct judge__set *set, size_t output,
              int64_t element);

/* An honest evaluation of all rows, of a set that was evaluated; and whether outputs are near it,
 * in a part of what they consist of: of every so many pieces one. */
struct judge__every {
    unsigned first, step;
};

enum status
judge__expect_whole(struct judge__case *c, const struct judge__slot *slot, struct judge__set *set,
                    struct diags *diags);
bool
judge__whole_is_right(struct arena *arena, const struct judge__case *c,
                      const struct judge__slot *slot, const struct judge__set *set,
                      struct judge__every every, struct judge_wrong *wrong);

/* "[0,1008]" behind the name. */
void
judge__put_element(struct buf *buf, const struct tensor *tensor, int64_t at);

/* Chooses the kinds of inputs, and how fresh they can be, from what the reference costs. */
enum status
judge__choose_kinds(struct judge__case *c, struct diags *diags);

/* ---- kernels ---- */

#define JUDGE__NAIVE_SECONDS 60 /* what its calls may take together */

struct judge__object {
    int fd; /* sealed; -1: none */
    size_t bytes;
    uint64_t scratch;   /* writable static memory */
    const char *source; /* name of the file that was compiled */
    double ns;          /* of one call, roughly; 0: not known */
    bool ours;          /* the plain C: it ends, and may take JUDGE__NAIVE_SECONDS */
};

struct judge_kernel {
    struct judge_task *task;
    struct arena *arena;
    const char *file, *flags;
    struct judge__object *objects; /* by case */
    size_t object_count;
};

/* What the compiler is to be given. */
struct judge__source {
    const char *compiler;
    const char *const *flags;
    const char *headers, *defines; /* headers NULL: not precompiled */
    const char *file;
    const char *text;
    size_t length;
};

/* The text of a kernel as it is built for one case. */
struct judge__source
judge__source_of(const struct judge_task *task, struct arena *arena, const char *file,
                 size_t number, const struct target_kernel *read);

/* From the cache, or built and audited. report->status says what came of it. */
enum status
judge__object(struct judge *judge, struct arena *arena, const struct target *target,
              const struct judge__source *source, struct judge__object *object,
              struct judge_report *report, struct diags *diags);

/* The cache of objects. A key is a hash. -1: not there. */
int
judge__cache_get(struct judge *judge, const char *key, size_t *bytes);
void
judge__cache_put(struct judge *judge, const char *key, int object, size_t bytes);

/* ---- running ---- */

struct judge__calls {
    struct judge__case *c;
    const struct judge__object *object;
    const size_t *slots; /* numbers, one for each call */
    size_t count;
    size_t rounds; /* how often they are gone through; 0: once */
    size_t stop;   /* rounds after which the process is killed, which it cannot know; 0: all */
    const size_t *shifts; /* of all rounds, call by call: how many bytes after their start the
                           * inputs begin that may slide; NULL: none, and no room behind them */
    unsigned threads;
    double seconds;  /* limit */
    bool realtime;   /* before all other processes, where that is allowed */
    uint64_t random; /* of the poison */
};

struct judge__ran {
    struct box_end end;
    double ns;      /* from go to done */
    bool disturbed; /* somebody else had the judge's processor */
};

/* Whether an input may begin at any of its elements: what follows from elements alone. */
bool
judge__slides(const struct tensor *input);

/* Poisons the outputs and makes the calls, in a process of their own. */
enum status
judge__run(const struct judge__calls *calls, struct judge__ran *ran, struct diags *diags);

/* What a run that did not end well means; the calls were of this case. */
void
judge__explain_ending(struct arena *arena, const struct judge__calls *calls,
                      const struct box_end *end, struct judge_report *report);

/* What the last cache before the memory holds. */
double
judge__near_bytes(const struct judge *judge);

/* How long a few calls may take before they count as endless. */
double
judge__limit(const struct judge__case *c, const struct judge__object *object, size_t calls);

/* ---- right or wrong ---- */

/* Checks the outputs that a run left in a slot. True: all is right. Otherwise `wrong` is filled in
 * (unless NULL). `worst` and the counts are added to. */
bool
judge__right(struct arena *arena, const struct judge__case *c, const struct judge__slot *slot,
             const struct judge__set *set, struct judge_case *seen, struct judge_wrong *wrong);

/* Whether what call number `call` of a process left (on slots[call]) was not computed: it is still
 * poison, or what an earlier call gave. */
bool
judge__not_computed(const struct judge__case *c, const size_t *slots, size_t call);

/* What the wrong elements of an output have in common. */
void
judge__describe_wrong(struct arena *arena, const struct judge__case *c,
                      const struct judge__slot *slot, const struct judge__set *set, size_t output,
                      struct judge_wrong *wrong);

enum judge__care {
    THOROUGH, /* data at both ends of their pages, all threads and one */
    ONCE,     /* every kind of inputs, one run: for the plain kernel, which is our own */
};

/* Checks one case; report->status stays BUILT if it is right. Sets object->ns. */
enum status
judge__check_case(struct judge__case *c, struct arena *arena, struct judge__object *object,
                  enum judge__care care, unsigned round, struct judge_case *seen,
                  struct judge_report *report, struct diags *diags);

/* ---- time ---- */

/* Inputs of the timed calls of a verdict: drawn once, taken in another order in each sample. */
struct judge__pool {
    struct judge__case *c;
    struct judge__set **sets; /* of slots 0, 1, ... */
    size_t count;
    struct rng random;
};

/* At most `wanted` sets; for `evaluated` of them, which nobody can guess, the expected values are
 * known. */
enum status
judge__pool_open(struct arena *arena, struct judge__case *c, uint64_t seed, size_t wanted,
                 size_t evaluated, struct judge__pool *pool, struct diags *diags);
void
judge__pool_close(struct judge__pool *pool);

struct judge__sample {
    double ns; /* of one call, the handshake taken off */
    bool disturbed;
    struct box_end end;
    struct judge__calls calls; /* for messages */
    size_t checked;            /* calls compared in full */
    bool wrong, lazy;          /* some call was; it was not computed at all */
    size_t wrong_call;         /* from 1, its place in the process */
    struct judge_wrong what;
};

/* One process, `calls` calls on inputs of the pool in random order; with `check` they are compared
 * as far as is known what they should give. `expected`: nanoseconds of one call, 0: not known. */
enum status
judge__sample(struct judge__pool *pool, struct arena *arena, const struct judge__object *object,
              size_t calls, double expected, bool check, struct judge__sample *sample,
              struct diags *diags);

/* Whether what a call left in a slot is right, as far as is known what it should be: it is compared
 * if the set was evaluated, else looked at for poison and for what lies around it. */
bool
judge__slot_is_right(struct judge__pool *pool, struct arena *arena, const struct judge__slot *slot,
                     const struct judge__set *set, struct judge_wrong *wrong);

/* Computes what a set should give, as closely as a verdict of this effort looks at it. */
enum status
judge__expect_timed(struct judge__case *c, const struct judge__slot *slot, struct judge__set *set,
                    struct diags *diags);

/* `calls` numbers of slots, in random order. */
void
judge__shuffle(struct judge__pool *pool, size_t *slots, size_t calls);

/* What a sample shows of the kernel: false if it died or was wrong, which the report then says. */
bool
judge__accept(struct arena *arena, const struct judge__sample *sample, struct judge_case *seen,
              struct judge_report *report);

/* How many calls make a sample that the clock can tell, if one takes so long. */
size_t
judge__calls_for(const struct judge__case *c, double ns);

/* How long one call takes, roughly: two samples of one call. */
enum status
judge__pilot(struct judge__case *c, struct arena *arena, const struct judge__object *object,
             uint64_t seed, struct judge__sample *sample, struct diags *diags);

/* The time that calling nothing takes with the task's threads. */
enum status
judge__null(struct judge__case *c, double *ns, struct diags *diags);

/* The plain kernel's best build that is right; c->naive stays NULL if there is none. */
enum status
judge__naive(struct judge__case *c, struct diags *diags);

#endif
