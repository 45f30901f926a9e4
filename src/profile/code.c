/* Machine code as objdump writes it becomes instructions and loops.
 *
 * A loop is what a jump backwards within one function closes. That is all there is to see without a
 * control flow graph, and enough for what compilers make of loops. The text comes from hostile
 * bytes (symbol names too): lines that do not look as expected are passed over. */
#include "profile/profile_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MOST_INSNS ((size_t)200000)
#define MOST_LOOPS ((size_t)4096)
#define MOST_LENGTH ((size_t)1000) /* of a loop: a longer one is seen by its beginning */

/* ---- instructions ---- */

/* "0000000000001040 <kernel>:" */
static bool
begins_function(const char *line)
{
    size_t digits = strspn(line, "0123456789abcdef"), length = strcspn(line, "\n");

    return digits > 0 && !strncmp(line + digits, " <", 2) && length > digits + 3 &&
           line[length - 1] == ':';
}

static bool
is_stub(const char *line)
{
    size_t length = strcspn(line, "\n");
    const char *found = memmem(line, length, "@plt", 4);

    return found != NULL;
}

/* What stands before the '#' that objdump puts before the address of an operand, and before the '<'
 * of a symbol; without blanks at its end. */
static const char *
operands_of(struct arena *arena, const char *at, size_t length)
{
    const char *end = memchr(at, '#', length), *symbol;

    length = end ? (size_t)(end - at) : length;
    symbol = memchr(at, '<', length);
    length = symbol ? (size_t)(symbol - at) : length;
    while (length > 0 && isspace((unsigned char)at[length - 1]))
        length--;
    return arena_strndup(arena, at, length);
}

/* "1010 <expf@plt>": the name, or NULL. */
static const char *
symbol_of(struct arena *arena, const char *at, size_t length)
{
    const char *open = memchr(at, '<', length);
    const char *close = open ? memchr(open, '>', length - (size_t)(open - at)) : NULL;

    return close ? arena_strndup(arena, open + 1, (size_t)(close - open - 1)) : NULL;
}

/* Words before the instruction itself: "lock", "notrack", "cs". */
static const char *
skip_prefixes(const char *at)
{
    static const char *const prefixes[] = {"lock ", "notrack ", "bnd ", "cs ",
                                           "ds ",   "data16 ",  "rep ", "repz "};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(at, prefixes[i], strlen(prefixes[i]))) {
            at += strlen(prefixes[i]);
            i = (size_t)-1; /* from the first again */
        }
    return at;
}

/* "    1057:\tvaddps %ymm0,%ymm1,%ymm1" */
static bool
read_insn(struct arena *arena, const char *line, struct profile__insn *insn)
{
    const char *end = line + strcspn(line, "\n"), *at = line + strspn(line, " ");
    char *colon;

    insn->at = strtoull(at, &colon, 16);
    if (colon == at || colon[0] != ':' || colon[1] != '\t')
        return false;
    at = skip_prefixes(colon + 2);
    size_t length = strcspn(at, " \t\n");
    if (length == 0 || at >= end)
        return false;
    insn->name = arena_strndup(arena, at, length);
    at += length;
    at += strspn(at, " \t");
    length = at < end ? (size_t)(end - at) : 0;
    insn->operands = operands_of(arena, at, length);
    if (insn->name[0] == 'j')
        insn->target = strtoull(at, NULL, 16);
    if (!strcmp(insn->name, "call"))
        insn->callee = symbol_of(arena, at, length);
    return true;
}

static size_t
count_lines(const char *text)
{
    size_t count = 1;

    for (const char *at = strchr(text, '\n'); at; at = strchr(at + 1, '\n'))
        count++;
    return count < MOST_INSNS ? count : MOST_INSNS;
}

static void
read_insns(struct arena *arena, const char *text, struct profile__code *code)
{
    size_t most = count_lines(text);
    struct profile__insn *insns = arena_array(arena, most, sizeof *insns);
    unsigned function = 0;
    bool stub = true;

    for (const char *at = text; at && code->insn_count < most;
         at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        struct profile__insn insn = {.operands = ""};
        if (begins_function(at)) {
            function++;
            stub = is_stub(at);
        } else if (!stub && read_insn(arena, at, &insn)) {
            insn.function = function;
            insns[code->insn_count++] = insn;
        }
    }
    code->insns = insns;
}

/* ---- loops ---- */

/* The number of the instruction at this address, or that of `from`. */
static size_t
insn_at(const struct profile__code *code, uint64_t address, size_t from)
{
    size_t low = 0, high = from;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code->insns[middle].at < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < from && code->insns[low].at == address ? low : from;
}

/* Jumps to one head are one loop. */
static size_t
add_loop(struct profile__loop *loops, size_t count, size_t first, size_t last)
{
    for (size_t i = 0; i < count; i++)
        if (loops[i].first == first) {
            loops[i].last = loops[i].last > last ? loops[i].last : last;
            return count;
        }
    loops[count] = (struct profile__loop){.first = first, .last = last, .inner = true};
    return count + 1;
}

static bool
contains(const struct profile__loop *a, const struct profile__loop *b)
{
    return a != b && a->first <= b->first && b->last <= a->last;
}

static void
find_loops(struct arena *arena, struct profile__code *code)
{
    struct profile__loop *loops = arena_array(arena, MOST_LOOPS, sizeof *loops);
    size_t count = 0;

    for (size_t i = 0; i < code->insn_count && count < MOST_LOOPS; i++) {
        const struct profile__insn *insn = &code->insns[i];
        if (insn->target == 0 || insn->target > insn->at)
            continue;
        size_t first = insn_at(code, insn->target, i);
        if (first < i && code->insns[first].function == insn->function)
            count = add_loop(loops, count, first, i);
    }
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++)
            if (contains(&loops[a], &loops[b])) {
                loops[a].inner = false;
                loops[b].depth++;
            }
    for (size_t i = 0; i < count; i++)
        if (loops[i].inner && loops[i].last - loops[i].first >= MOST_LENGTH)
            loops[i].last = loops[i].first + MOST_LENGTH - 1;
    code->loops = loops;
    code->loop_count = count;
}

void
profile__code(struct arena *arena, const char *text, struct profile__code *code)
{
    *code = (struct profile__code){0};
    read_insns(arena, text, code);
    find_loops(arena, code);
}
