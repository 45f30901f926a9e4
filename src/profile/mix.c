/* What the instructions of x86-64 do, as far as a loop's speed depends on it.
 *
 * The hot loop is guessed: of the innermost loops the one with most float work, a step of depth
 * counting as eight turns. Tails of vector loops are then never it, since one lane weighs less than
 * eight. */
#include "profile/profile_int.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIBM_WORK = 20,  /* of a call, in scalar operations */
    MOST_DEPTH = 12, /* deeper loops are no hotter */
    MOST_LINES = 40,
    VECTOR_REGISTERS = 32,
};

/* ---- one instruction ---- */

enum root { ROOT_NONE, ROOT_ADD, ROOT_MUL, ROOT_EXTREME, ROOT_FMA, ROOT_OTHER };

struct deed { /* what an instruction does */
    enum root root;
    bool packed;
    unsigned lanes;
    bool loads, stores; /* memory, by a vector register */
    bool stack;         /* and that memory is the stack */
    bool gathers, streams;
    int to;            /* vector register that is written, or -1 */
    uint32_t adds;     /* bits of those that are added to, or compared with */
    uint32_t mentions; /* bits of all of them */
};

static const struct {
    const char *begins;
    enum root root;
} roots[] = {
    {"fmadd", ROOT_FMA},    {"fmsub", ROOT_FMA},    {"fnmadd", ROOT_FMA},   {"fnmsub", ROOT_FMA},
    {"pdpb", ROOT_FMA},     {"pdpw", ROOT_FMA},     {"pmadd", ROOT_MUL},    {"dpbf16", ROOT_FMA},
    {"addsub", ROOT_OTHER}, {"add", ROOT_ADD},      {"sub", ROOT_ADD},      {"mul", ROOT_MUL},
    {"max", ROOT_EXTREME},  {"min", ROOT_EXTREME},  {"div", ROOT_OTHER},    {"sqrt", ROOT_OTHER},
    {"rcp", ROOT_OTHER},    {"rsqrt", ROOT_OTHER},  {"rnd", ROOT_OTHER},    {"round", ROOT_OTHER},
    {"scalef", ROOT_OTHER}, {"getexp", ROOT_OTHER}, {"padd", ROOT_ADD},     {"psub", ROOT_ADD},
    {"pmul", ROOT_MUL},     {"pmax", ROOT_EXTREME}, {"pmin", ROOT_EXTREME},
};

/* "%ymm12" -> 12 */
static int
vector_register(const char *text)
{
    if (text[0] != '%' || !strchr("xyz", text[1]) || strncmp(text + 2, "mm", 2) != 0 ||
        !isdigit((unsigned char)text[4]))
        return -1;
    long number = strtol(text + 4, NULL, 10);
    return number < VECTOR_REGISTERS ? (int)number : -1;
}

/* Scalar float operations end in ss and sd; what begins with p works on integers in lanes. */
static void
name_deed(const char *name, struct deed *deed)
{
    const char *bare = name[0] == 'v' ? name + 1 : name;
    bool scalar = text_ends(name, "ss") || text_ends(name, "sd") || text_ends(name, "sh");
    bool packed = text_ends(name, "ps") || text_ends(name, "pd") || text_ends(name, "ph") ||
                  (bare[0] == 'p' && bare != name);

    deed->packed = packed && !scalar;
    for (size_t i = 0; i < sizeof roots / sizeof *roots && (scalar || packed); i++)
        if (text_starts(bare, roots[i].begins)) {
            deed->root = roots[i].root;
            break;
        }
    deed->gathers = text_starts(bare, "gather") || text_starts(bare, "pgather");
    deed->streams = text_starts(bare, "movnt");
}

/* The next operand of "8(%rax,%rcx,4),%ymm0{%k1}", copied; commas in brackets do not count. */
static bool
next_operand(const char **at, char operand[96])
{
    size_t length = 0;
    int depth = 0;

    if (!**at)
        return false;
    for (; **at && (**at != ',' || depth > 0); (*at)++) {
        depth += (**at == '(') - (**at == ')');
        if (length < 95)
            operand[length++] = **at;
    }
    operand[length] = '\0';
    *at += **at == ',';
    return true;
}

/* The frame, not an array in it: no index. A frame pointer has what is saved below it. */
static bool
is_stack(const char *operand)
{
    const char *open = strchr(operand, '(');

    return open && !strchr(open, ',') &&
           (text_starts(open, "(%rsp") || (text_starts(open, "(%rbp") && operand[0] == '-'));
}

static unsigned
lanes_of(const struct profile__insn *insn)
{
    unsigned wide = strstr(insn->operands, "%zmm") ? 16 : strstr(insn->operands, "%ymm") ? 8 : 4;
    return text_ends(insn->name, "pd") ? wide / 2 : wide;
}

/* The registers that a sum goes on from. A multiply-add has one: by the digits of its name it is
 * the last operand (231), the one before (132) or the first (213); others may have it on either
 * side. */
static uint32_t
added_to(const struct profile__insn *insn, enum root root, const int numbers[4], size_t count)
{
    uint32_t bits = 0;

    if (root == ROOT_FMA && count >= 3) {
        size_t at = strstr(insn->name, "132")   ? count - 2
                    : strstr(insn->name, "213") ? 0
                                                : count - 1;
        return numbers[at] >= 0 ? 1u << numbers[at] : 0;
    }
    for (size_t i = 0; i < count; i++) /* the last is only written where there are three */
        if (numbers[i] >= 0 && (i + 1 < count || count == 2))
            bits |= 1u << numbers[i];
    return root == ROOT_ADD || root == ROOT_EXTREME ? bits : 0;
}

static struct deed
deed_of(const struct profile__insn *insn)
{
    struct deed deed = {.to = -1};
    const char *at = insn->operands;
    char operand[96];
    int numbers[4] = {-1, -1, -1, -1};
    size_t count = 0;
    bool memory = false, memory_last = false;

    name_deed(insn->name, &deed);
    deed.lanes = deed.packed ? lanes_of(insn) : 1;
    for (; count < 4 && next_operand(&at, operand); count++) {
        numbers[count] = vector_register(operand);
        memory_last = strchr(operand, '(') != NULL;
        memory = memory || memory_last;
        deed.stack = deed.stack || is_stack(operand);
        deed.to = numbers[count];
        if (deed.to >= 0)
            deed.mentions |= 1u << deed.to;
    }
    deed.adds = added_to(insn, deed.root, numbers, count);
    deed.loads = memory && !memory_last && deed.mentions;
    deed.stores = memory_last && deed.mentions;
    deed.stack = deed.stack && (deed.loads || deed.stores);
    return deed;
}

/* ---- calls ---- */

/* Vector variants of libm functions begin with _ZGV; what is not of a library is the kernel's. */
static bool
is_libm(const char *callee)
{
    return callee && text_ends(callee, "@plt") && !text_starts(callee, "_ZGV") &&
           !text_starts(callee, "GOMP_") && !text_starts(callee, "omp_") &&
           !text_starts(callee, "mem");
}

static bool
begins_region(const char *callee)
{
    return callee && text_starts(callee, "GOMP_parallel");
}

/* ---- loops ---- */

static double
work_of(const struct profile__code *code, const struct profile__loop *loop)
{
    double work = 0;

    for (size_t i = loop->first; i <= loop->last; i++) {
        const struct profile__insn *insn = &code->insns[i];
        struct deed deed = deed_of(insn);
        work += deed.root != ROOT_NONE ? deed.lanes : 0;
        work += deed.gathers ? 4 : 0;
        work += is_libm(insn->callee) ? LIBM_WORK : 0;
    }
    return work;
}

const struct profile__loop *
profile__hot_loop(const struct profile__code *code)
{
    const struct profile__loop *hot = NULL;
    double most = 0;

    for (size_t i = 0; i < code->loop_count; i++) {
        const struct profile__loop *loop = &code->loops[i];
        double depth = loop->depth < MOST_DEPTH ? loop->depth : MOST_DEPTH;
        double heat = loop->inner ? work_of(code, loop) * pow(8, depth) : 0;
        if (heat > most) {
            most = heat;
            hot = loop;
        }
    }
    return hot;
}

static uint32_t
written_in(const struct profile__code *code, const struct profile__loop *loop)
{
    uint32_t written = 0;

    for (size_t i = loop->first; i <= loop->last; i++) {
        int to = deed_of(&code->insns[i]).to;
        written |= to >= 0 ? 1u << to : 0;
    }
    return written;
}

/* Registers that a loop adds to (or compares with) as the turn before left them: read before they
 * are written, but written in the end. Those of the other kind, packed or not, are left out. */
static unsigned
accumulators(const struct profile__code *code, const struct profile__loop *loop, bool packed,
             unsigned *roots_seen)
{
    uint32_t written = 0, found = 0, changing = written_in(code, loop);

    for (size_t i = loop->first; i <= loop->last; i++) {
        struct deed deed = deed_of(&code->insns[i]);
        uint32_t from_before = deed.adds & changing & ~written;
        if (from_before && deed.packed == packed) {
            found |= from_before;
            *roots_seen |= 1u << (deed.root == ROOT_FMA ? ROOT_ADD : deed.root);
        }
        written |= deed.to >= 0 ? 1u << deed.to : 0;
    }
    return (unsigned)__builtin_popcount(found);
}

struct chains { /* of an innermost loop: bits of roots that it accumulates with */
    unsigned scalar, packed;
};

/* A scalar chain in a function that does the same in lanes elsewhere is the tail of that. */
static unsigned
scalar_chains(struct arena *arena, const struct profile__code *code)
{
    struct chains *all = arena_array(arena, code->loop_count + 1, sizeof *all);
    unsigned count = 0;

    for (size_t i = 0; i < code->loop_count; i++)
        if (code->loops[i].inner) {
            accumulators(code, &code->loops[i], false, &all[i].scalar);
            accumulators(code, &code->loops[i], true, &all[i].packed);
        }
    for (size_t a = 0; a < code->loop_count; a++) {
        unsigned packed = 0;
        for (size_t b = 0; b < code->loop_count; b++)
            if (code->insns[code->loops[b].first].function ==
                code->insns[code->loops[a].first].function)
                packed |= all[b].packed;
        count += (all[a].scalar & ~packed) != 0;
    }
    return count;
}

/* ---- strides ---- */

/* "16(%rax,%rcx,4)": its registers and its scale. */
struct address {
    char base[8], index[8];
    long scale;
};

static bool
read_address(const char *operands, struct address *address)
{
    const char *open = strchr(operands, '(');

    *address = (struct address){.scale = 1};
    if (!open || sscanf(open, "(%7[%a-z0-9],%7[%a-z0-9],%ld)", address->base, address->index,
                        &address->scale) < 1)
        return false;
    return true;
}

/* By how much the loop moves a register in a turn, 0 if it does not or not by a constant. */
static long
moved_by(const struct profile__code *code, const struct profile__loop *loop, const char *name)
{
    long by = 0;

    for (size_t i = loop->first; i <= loop->last && *name; i++) {
        const struct profile__insn *insn = &code->insns[i];
        const char *comma = strrchr(insn->operands, ',');
        bool one = !strcmp(insn->operands, name) && text_starts(insn->name, "inc");
        if (one)
            by++;
        else if (comma && !strcmp(comma + 1, name) && insn->operands[0] == '$')
            by += text_starts(insn->name, "add")   ? strtol(insn->operands + 1, NULL, 0)
                  : text_starts(insn->name, "sub") ? -strtol(insn->operands + 1, NULL, 0)
                                                   : 0;
    }
    return by;
}

/* Loads of single elements whose pointer moves: how far apart, in elements, they are; an unrolled
 * loop has several for one move. NAN where there is none. */
static double
stride_of(const struct profile__code *code, const struct profile__loop *loop)
{
    double widest = NAN;

    for (size_t i = loop->first; i <= loop->last; i++) {
        const struct profile__insn *insn = &code->insns[i];
        struct deed deed = deed_of(insn);
        struct address address, other;
        long size = text_ends(insn->name, "sd") ? 8 : 4, same = 0;
        bool single = (text_ends(insn->name, "ss") || text_ends(insn->name, "sd") ||
                       strstr(insn->name, "insertps") != NULL) &&
                      strstr(insn->name, "broadcast") == NULL;
        if (!deed.loads || deed.stack || !single || !read_address(insn->operands, &address))
            continue;
        long by = moved_by(code, loop, address.base) +
                  address.scale * moved_by(code, loop, address.index);
        for (size_t k = loop->first; k <= loop->last; k++)
            same += deed_of(&code->insns[k]).loads &&
                    read_address(code->insns[k].operands, &other) &&
                    !strcmp(other.base, address.base) && !strcmp(other.index, address.index);
        if (by != 0 && !(fabs((double)by) / (double)(size * same) <= widest))
            widest = fabs((double)by) / (double)(size * same);
    }
    return widest;
}

/* ---- all of it ---- */

static void
hot_mix(const struct profile__code *code, const struct profile__loop *hot,
        const struct profile_options *options, struct profile__values *values)
{
    double lanes = 0, single = 0, fmas = 0, muls = 0, adds = 0, loads = 0;
    unsigned spills = 0, gathers = 0, libm = 0, seen = 0;
    uint32_t registers = 0;

    for (size_t i = hot->first; i <= hot->last; i++) {
        const struct profile__insn *insn = &code->insns[i];
        struct deed deed = deed_of(insn);
        bool calls = is_libm(insn->callee);
        lanes += deed.root != ROOT_NONE && deed.packed;
        single += (deed.root != ROOT_NONE && !deed.packed) + (calls ? LIBM_WORK : 0);
        fmas += deed.root == ROOT_FMA;
        muls += deed.root == ROOT_MUL;
        adds += deed.root == ROOT_ADD;
        loads += deed.loads && !deed.gathers;
        spills += deed.stack;
        gathers += deed.gathers ||
                   (deed.loads && (strstr(insn->name, "insertps") || strstr(insn->name, "pinsr")));
        libm += calls;
        registers |= deed.mentions;
    }
    fmas += muls < adds ? muls : adds; /* a product and a sum of their own do the same */
    values->value[PROFILE_LIBM_CALLS] = libm;
    values->value[PROFILE_SPILLS] = spills;
    values->value[PROFILE_GATHERS] = gathers;
    values->value[PROFILE_STRIDE] = stride_of(code, hot);
    values->value[PROFILE_ACCUMULATORS] =
        accumulators(code, hot, true, &seen) + accumulators(code, hot, false, &seen);
    if (lanes + single > 0)
        values->value[PROFILE_VECTOR_SHARE] = 100 * lanes / (lanes + single);
    if (fmas > 0)
        values->value[PROFILE_LOADS_PER_FMA] = loads / fmas;
    if (options->registers > 0)
        values->value[PROFILE_FREE_REGISTERS] =
            fmax(0, (double)options->registers - __builtin_popcount(registers));
}

void
profile__mix(struct arena *arena, const struct profile__code *code, const struct profile__loop *hot,
             const struct profile_options *options, struct profile__values *values)
{
    unsigned regions = 0, inside = 0, streams = 0;

    for (size_t i = 0; i < code->insn_count; i++) {
        bool begins = begins_region(code->insns[i].callee), looped = false;
        for (size_t l = 0; l < code->loop_count && begins; l++)
            looped = looped || (code->loops[l].first <= i && i <= code->loops[l].last);
        regions += begins;
        inside += looped;
        streams += deed_of(&code->insns[i]).streams;
    }
    values->value[PROFILE_PARALLEL_REGIONS] = regions;
    values->value[PROFILE_PARALLEL_INSIDE] = inside;
    values->value[PROFILE_STREAMING_STORES] = streams;
    values->value[PROFILE_SCALAR_CHAINS] = scalar_chains(arena, code);
    if (hot)
        hot_mix(code, hot, options, values);
}

const char *
profile__loop_text(struct arena *arena, const struct profile__code *code,
                   const struct profile__loop *loop)
{
    struct buf buf = buf_in(arena);
    size_t count = loop->last - loop->first + 1;
    size_t shown = count > MOST_LINES ? MOST_LINES - 1 : count;

    for (size_t i = 0; i < shown; i++) {
        const struct profile__insn *insn = &code->insns[loop->first + i];
        buf_printf(&buf, "%llx: %s%s%s%s%s\n", (unsigned long long)insn->at, insn->name,
                   *insn->operands ? " " : "", insn->operands, insn->callee ? " " : "",
                   insn->callee ? insn->callee : "");
    }
    if (shown < count)
        buf_printf(&buf, "... %zu more\n", count - shown);
    return text_printable(buf.data);
}
