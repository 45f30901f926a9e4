/* What is said to each role, and how each form of reply is asked for: what reply*.c reads. */
#include "agent/prompt_int.h"
#include "agent/reply_int.h"

#include "base/json.h"

#include <string.h>

/* ---- roles ---- */

static const char *const role_words[AGENT_KIND_COUNT] = {
    [AGENT_PLANNER] =
        "Propose changes that are likely to make the kernel faster: different in kind from each "
        "other and from what was tried, each one thing, each with the gain that you expect between "
        "`low` and `high`. Structure first: what is computed where, what stays in registers and "
        "caches, what threads share. Sizes of tiles are found by the host and are no plan.",
    [AGENT_CODER] =
        "Make the one change that is asked for, in a kernel that stays right for every case, and "
        "nothing else. Keep what is good in the base. Declare numbers that could be other ones, "
        "such as tiles, unrolling and prefetch distances, with `//! tune T = 4 8 16` at the top of "
        "the file: the host tries them.",
    [AGENT_CRITIC] =
        "Name the one thing that limits the base now, told by its figures and not by habit, and "
        "one "
        "change that removes it, with the gain that you expect between `low` and `high`.",
    [AGENT_DEBUGGER] =
        "Repair what the verdict says is wrong with the candidate, with as small a change as "
        "possible. Keep its idea; do not go back to a slower form.",
    [AGENT_REFLECTOR] = "Say why the last attempts came out as they did, and what follows for the "
                        "next one. Compare "
                        "what was expected with what was measured.",
    [AGENT_SELECTOR] =
        "Choose whom to work on next: what has most room to gain, not only what is fastest now.",
    [AGENT_CROSSOVER] =
        "Join the two kernels: take from each what makes it fast, so that the result has both. It "
        "must be right for every case.",
    [AGENT_PROFILER] =
        "Read the figures: which resource is used up, which is idle, and where the time goes. Use "
        "numbers that are given; do not guess any.",
    [AGENT_SUMMARISER] =
        "Turn what changed between the two kernels, and what it gained or cost, into one lesson "
        "that holds for other tasks: under which condition, what to do, what it brought.",
    [AGENT_VERIFIER] =
        "Say whether the kernel is worth running: read it for what would make it wrong, such as "
        "sizes that no tile divides, memory outside of a tensor, races, elements that are never "
        "written.",
    [AGENT_TESTER] =
        "Propose inputs and sizes that may break the kernel: sizes around its tiles and vectors, "
        "values that overflow, cancel or are equal. They join the judge's own.",
    [AGENT_LIBRARIAN] = "Choose the documents that help most with what is to be done now.",
    [AGENT_CONTROLLER] =
        "Steer the search: continue as it is, redirect it with a sentence that says where to, "
        "accept what there is, or stop. You cannot change a verdict.",
};

const char *
prompt__task(struct arena *arena, const struct agent_role *role)
{
    return arena_printf(arena, "# Your role: %s, who %s\n\n%s\n%s%s",
                        agent_role_name[role->kind].name, agent_role_name[role->kind].words,
                        role_words[role->kind], role->words != NULL ? role->words : "",
                        role->words != NULL ? "\n" : "");
}

/* ---- forms ---- */

static const char *const form_words[AGENT_FORMAT_COUNT] = {
    [AGENT_FORMAT_SCHEDULE] =
        "Schedule lines for the micro-coder in one block; stages without a line stay as they are. "
        "Loops stand from outer to inner: i/16 steps by 16, /v by one vector, /2v by two; marks "
        "are @p threads, @u "
        "unrolled, @v vector lanes, @a unrolled with accumulators of its own; below `acc` the "
        "output stays in registers. Also pack(T), do(S), with(S), inline(S), nt.\n"
        "```schedule\n"
        "C: i/6@p j/2v acc k i@u j/v@u j@v\n"
        "```\n",
    [AGENT_FORMAT_PROGRAM] =
        "The whole operator rewritten in the tensor language, with the same inputs and outputs and "
        "the same results, in one block.\n"
        "```op\n"
        "in X: f32[R,N]\n"
        "S[r] = sum[j](X[r,j])\n"
        "out S\n"
        "```\n",
    [AGENT_FORMAT_STAGE] =
        "One stage as C, the others stay as they are. Write the stage's name behind ```c, and a "
        "function stage_NAME (dots become _) whose parameters are named as the tensors in the "
        "base; "
        "it is called where the stage's loops were.\n"
        "```c stage Y\n"
        "static void\n"
        "stage_Y(const float *restrict X, float *restrict Y)\n"
        "{\n"
        "    ...\n"
        "}\n"
        "```\n",
    [AGENT_FORMAT_EDITS] = "Edits of the base, as many as it takes. Lines between SEARCH and "
                           "======= must stand in the "
                           "base exactly once: copy them, none left out.\n"
                           "```\n"
                           "<<<<<<< SEARCH\n"
                           "    float s = 0;\n"
                           "=======\n"
                           "    vf32 s = vf32_all(0);\n"
                           ">>>>>>> REPLACE\n"
                           "```\n",
    [AGENT_FORMAT_FILE] =
        "The whole kernel file in one block, nothing left out, at most 800 lines.\n"
        "```c\n"
        "//! tune T = 4 8 16\n"
        "#include \"hone.h\"\n"
        "...\n"
        "void\n"
        "kernel(...)\n"
        "{\n"
        "    ...\n"
        "}\n"
        "```\n",
    [AGENT_FORMAT_FILL] = "The base in one block with only the lines between `//! improve` and "
                          "`//! end` changed; all "
                          "others, and these marks, must stay byte for byte.\n"
                          "```c\n"
                          "//! improve\n"
                          "...\n"
                          "//! end\n"
                          "```\n",
    [AGENT_FORMAT_OBJECT] = "One JSON object and nothing else:\n",
    [AGENT_FORMAT_LIST] = "One JSON object with a list and nothing else",
    [AGENT_FORMAT_PICK] = "JSON alone: {\"pick\": 3, \"reason\": \"in one sentence\"}\n",
    [AGENT_FORMAT_TEXT] = "Plain words, at most half a page.\n",
};

static const unsigned data_formats =
    1u << AGENT_FORMAT_OBJECT | 1u << AGENT_FORMAT_LIST | 1u << AGENT_FORMAT_PICK;

/* A value as an example of what is wanted. */
static void
put_example(struct buf *buf, const struct agent_field *field)
{
    json_put_string(buf, field->name);
    buf_puts(buf, ": ");
    if (field->number)
        buf_puts(buf, reply__is_gain(field->name) ? "1.05" : "7");
    else if (field->choices != NULL)
        json_put_string(buf, field->choices);
    else if (field->words > 0)
        json_put_string(buf, arena_printf(buf->arena, "at most %u words", field->words));
    else
        buf_puts(buf, "\"...\"");
}

static void
put_object(struct buf *buf, const struct agent_shape *shape)
{
    buf_putc(buf, '{');
    for (size_t i = 0; i < shape->field_count; i++) {
        buf_puts(buf, i > 0 ? ", " : "");
        put_example(buf, &shape->fields[i]);
    }
    buf_putc(buf, '}');
}

static void
put_legend(struct buf *buf, const struct agent_shape *shape)
{
    bool gains = false, choices = false;
    for (size_t i = 0; i < shape->field_count; i++) {
        gains = gains || (shape->fields[i].number && reply__is_gain(shape->fields[i].name));
        choices = choices || shape->fields[i].choices != NULL;
    }
    if (choices)
        buf_puts(buf, "Where choices stand with | between them, write one of them.\n");
    if (gains)
        buf_puts(buf, "Gains are factors: 1.05 is 5 % faster.\n");
}

static void
put_form(struct buf *buf, const struct agent_shape *shape, enum agent_format format)
{
    buf_puts(buf, form_words[format]);
    if (format == AGENT_FORMAT_OBJECT) {
        put_object(buf, shape);
        buf_putc(buf, '\n');
        put_legend(buf, shape);
    }
    if (format == AGENT_FORMAT_LIST) {
        if (shape->most > 0)
            buf_printf(buf, ", at most %u items", shape->most);
        buf_puts(buf, ":\n{\"items\": [");
        if (shape->field_count > 0)
            put_object(buf, shape);
        else
            buf_puts(buf, "\"...\"");
        buf_puts(buf, ", ...]}\n");
        put_legend(buf, shape);
    }
}

const char *
prompt__form(struct arena *arena, const struct agent_role *role, unsigned formats)
{
    struct buf buf = buf_in(arena);
    buf_puts(&buf, "\n# How to reply\n\n");
    if (formats & (formats - 1))
        buf_puts(&buf, "In exactly one of these forms:\n\n");
    for (int i = 0; i < AGENT_FORMAT_COUNT; i++)
        if (formats & 1u << i) {
            put_form(&buf, &role->returns, (enum agent_format)i);
            buf_putc(&buf, '\n');
        }
    if ((formats & ~data_formats & ~(1u << AGENT_FORMAT_TEXT)) != 0)
        buf_puts(&buf,
                 "Before it stand three lines at most: `Title: ...`, `Expected gain: 5-12 %`, "
                 "and why.\n");
    return buf.data;
}

/* ---- schemas ---- */

static void
put_type(struct buf *buf, const struct agent_field *field)
{
    if (field->choices == NULL || field->number) {
        buf_printf(buf, "{\"type\":\"%s\"}", field->number ? "number" : "string");
        return;
    }
    buf_puts(buf, "{\"type\":\"string\",\"enum\":[");
    const char *first = "";
    for (const char *at = field->choices; *at;) {
        size_t length = strcspn(at, "|");
        buf_puts(buf, first);
        json_put_string(buf, arena_strndup(buf->arena, at, length));
        first = ",";
        at += length + (at[length] == '|');
    }
    buf_puts(buf, "]}");
}

/* Every field is required: servers that hold replies to a schema know no others. */
static void
put_schema(struct buf *buf, const struct agent_shape *shape)
{
    buf_puts(buf, "{\"type\":\"object\",\"properties\":{");
    for (size_t i = 0; i < shape->field_count; i++) {
        buf_puts(buf, i > 0 ? "," : "");
        json_put_string(buf, shape->fields[i].name);
        buf_putc(buf, ':');
        put_type(buf, &shape->fields[i]);
    }
    buf_puts(buf, "},\"required\":[");
    for (size_t i = 0; i < shape->field_count; i++) {
        buf_puts(buf, i > 0 ? "," : "");
        json_put_string(buf, shape->fields[i].name);
    }
    buf_puts(buf, "],\"additionalProperties\":false}");
}

static const struct agent_shape pick_shape = {
    .fields = {{"pick", NULL, 0, true}, {"reason", NULL, 0, false}},
    .field_count = 2,
};

static const struct agent_field any_item = {"item", NULL, 0, false};

const char *
prompt__schema(struct arena *arena, const struct agent_role *role, unsigned formats)
{
    const struct agent_shape *shape = &role->returns;
    struct buf buf = buf_in(arena);
    if (formats == 1u << AGENT_FORMAT_PICK)
        put_schema(&buf, &pick_shape);
    else if (formats == 1u << AGENT_FORMAT_OBJECT && shape->field_count > 0)
        put_schema(&buf, shape);
    else if (formats == 1u << AGENT_FORMAT_LIST) {
        buf_puts(&buf, "{\"type\":\"object\",\"properties\":{\"items\":{\"type\":\"array\","
                       "\"items\":");
        if (shape->field_count > 0)
            put_schema(&buf, shape);
        else
            put_type(&buf, &any_item);
        buf_puts(&buf, "}},\"required\":[\"items\"],\"additionalProperties\":false}");
    } else
        return NULL;
    return buf.data;
}
