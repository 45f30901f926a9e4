/* Answers that are data: objects, lists of them, a choice. Fields are found by their names, as
 * JSON or as lines `name: value`. */
#include "agent/reply_int.h"

#include "base/text.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_VALUES = 64,      /* of JSON in one reply */
    MOST_ITEMS = 64,       /* of a list that says no number */
    LONGEST_VALUE = 16384, /* bytes of a field */
    LEAST_WORDS = 64,      /* a limit of words is meant, not counted: what is cut is a flood */
    MOST_PICK = 1000,
};

/* ---- the values of fields ---- */

/* "Expected-Gain" is expected_gain. */
static bool
same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char x = strchr("- ", *a) ? '_' : (char)tolower((unsigned char)*a);
        char y = strchr("- ", *b) ? '_' : (char)tolower((unsigned char)*b);
        if (x != y)
            return false;
    }
    return *a == *b;
}

static json_t *
member(json_t *object, const char *name)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) if (same_name(key, name)) return value;
    return NULL;
}

static void
put_value(struct buf *buf, json_t *value)
{
    if (json_is_string(value))
        buf_puts(buf, json_string_value(value));
    else if (json_is_integer(value))
        buf_printf(buf, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        buf_printf(buf, "%.6f", json_real_value(value));
    else if (json_is_boolean(value))
        buf_puts(buf, json_is_true(value) ? "true" : "false");
    else if (json_is_array(value)) {
        size_t i;
        json_t *item;
        json_array_foreach(value, i, item)
        {
            buf_puts(buf, i > 0 ? "; " : "");
            put_value(buf, item);
        }
    } else if (json_is_object(value)) {
        const char *key;
        json_t *item;
        bool first = true;
        json_object_foreach(value, key, item)
        {
            buf_printf(buf, "%s%s: ", first ? "" : ", ", key);
            put_value(buf, item);
            first = false;
        }
    }
}

/* NULL for null and for what is not there. */
static const char *
value_text(struct arena *arena, json_t *value)
{
    struct buf buf = buf_in(arena);
    if (value == NULL || json_is_null(value))
        return NULL;
    put_value(&buf, value);
    if (buf.length == 0)
        return "";
    if (buf.length > LONGEST_VALUE)
        buf.data[LONGEST_VALUE] = '\0';
    return text_printable(buf.data);
}

/* ---- what a field may be ---- */

static const char *
few_words(struct arena *arena, const char *text, unsigned words)
{
    size_t most = (size_t)words * 4 > LEAST_WORDS ? (size_t)words * 4 : LEAST_WORDS;
    const char *at = text + strspn(text, " \t\n");
    for (size_t i = 0; i < most && *at; i++) {
        at += strcspn(at, " \t\n");
        if (i + 1 == most && *at)
            return arena_printf(arena, "%.*s ...", (int)(at - text), text);
        at += strspn(at, " \t\n");
    }
    return text;
}

/* The choice that was meant, or NULL. */
static const char *
choice_of(struct arena *arena, const char *choices, const char *text)
{
    const char *names[32];
    size_t count = 0;
    char *rest = arena_strdup(arena, choices);
    for (char *name; count < 32 && (name = strsep(&rest, "|")) != NULL;)
        names[count++] = text_trim(name);
    for (size_t i = 0; i < count; i++)
        if (same_name(names[i], text))
            return names[i];
    for (size_t i = 0; i < count; i++) { /* "schedule (tile size)", "redirect: try k outside" */
        size_t length = strlen(names[i]);
        if (strncasecmp(text, names[i], length) == 0 && !isalnum((unsigned char)text[length]))
            return names[i];
    }
    return text_nearest(text, names, count);
}

static enum reply_found
set_field(struct reply_reading *reading, struct agent_item *item, size_t number, const char *text)
{
    const struct agent_field *field = &reading->role->returns.fields[number];
    double low, high;
    item->numbers[number] = NAN;
    item->values[number] = text;
    if (text == NULL)
        return REPLY_FOUND;
    if (field->number && reply__figures(text, reply__is_gain(field->name), &low, &high))
        item->numbers[number] = same_name(field->name, "high") ? high : low;
    if (field->words > 0)
        item->values[number] = few_words(reading->arena, text, field->words);
    if (field->choices == NULL)
        return REPLY_FOUND;
    item->values[number] = choice_of(reading->arena, field->choices, text);
    if (item->values[number] == NULL)
        return reply__broken(reading, "\"%s\" is \"%.40s\"; write one of %s", field->name, text,
                             field->choices);
    return REPLY_FOUND;
}

/* A choice cannot be left out: nothing could be done with the item. */
static enum reply_found
check_item(struct reply_reading *reading, const struct agent_item *item)
{
    const struct agent_shape *shape = &reading->role->returns;
    for (size_t i = 0; i < shape->field_count; i++)
        if (shape->fields[i].choices != NULL && item->values[i] == NULL)
            return reply__broken(reading, "\"%s\" is missing; write one of %s",
                                 shape->fields[i].name, shape->fields[i].choices);
    return REPLY_FOUND;
}

static enum reply_found
read_item(struct reply_reading *reading, json_t *value, struct agent_item *item)
{
    const struct agent_shape *shape = &reading->role->returns;
    enum reply_found found = REPLY_FOUND;
    *item = (struct agent_item){0};
    if (shape->field_count == 0)
        item->values[0] = value_text(reading->arena, value);
    for (size_t i = 0; i < AGENT_FIELDS; i++)
        item->numbers[i] = NAN;
    for (size_t i = 0; i < shape->field_count && found == REPLY_FOUND; i++)
        found = set_field(reading, item, i,
                          value_text(reading->arena, member(value, shape->fields[i].name)));
    return found == REPLY_FOUND ? check_item(reading, item) : found;
}

/* ---- which JSON ---- */

static bool
fits_item(const struct agent_shape *shape, json_t *value)
{
    if (shape->field_count == 0)
        return json_is_object(value) || json_is_string(value);
    for (size_t i = 0; i < shape->field_count; i++)
        if (json_is_object(value) && member(value, shape->fields[i].name) != NULL)
            return true;
    return false;
}

static bool
fits_list(const struct agent_shape *shape, json_t *value)
{
    return json_is_array(value) &&
           (json_array_size(value) == 0 || fits_item(shape, json_array_get(value, 0)));
}

/* The value itself, or what stands alone inside of it: {"critique": {...}}, {"items": [...]}. */
static json_t *
unwrap(const struct agent_shape *shape, json_t *value, bool list)
{
    const char *key;
    json_t *inner;
    if (list ? fits_list(shape, value) : fits_item(shape, value))
        return value;
    json_object_foreach(value, key, inner) if (list ? fits_list(shape, inner)
                                                    : json_is_object(inner) &&
                                                          fits_item(shape, inner)) return inner;
    return NULL;
}

/* ---- without JSON ---- */

/* Which field the line begins, or the count of fields. */
static size_t
field_at(const struct reply_reading *reading, const struct reply_line *line, const char **value)
{
    const struct agent_shape *shape = &reading->role->returns;
    for (size_t i = 0; i < shape->field_count; i++) {
        *value = reply__labelled(reading->arena, line, shape->fields[i].name);
        if (*value != NULL)
            return i;
    }
    return shape->field_count;
}

/* Lines `name: value`; a field that comes again begins the next item. */
static enum reply_found
read_lines(struct reply_reading *reading, struct agent_item *items, size_t most, size_t *count)
{
    struct reply_line line = {.next = reply__prose(reading, 0, 0)};
    enum reply_found found = REPLY_NOTHING;
    size_t fields = reading->role->returns.field_count;
    const char *value = NULL;
    *count = 0;
    while (reply__next_line(&line)) {
        size_t field = field_at(reading, &line, &value);
        if (field == fields)
            continue;
        if (*count == 0 || items[*count - 1].values[field] != NULL) {
            if (*count == most)
                break;
            items[*count] = (struct agent_item){0};
            for (size_t i = 0; i < AGENT_FIELDS; i++)
                items[*count].numbers[i] = NAN;
            ++*count;
        }
        found = set_field(reading, &items[*count - 1], field, value);
        if (found != REPLY_FOUND)
            return found;
    }
    for (size_t i = 0; i < *count && found == REPLY_FOUND; i++)
        found = check_item(reading, &items[i]);
    return found;
}

/* ---- objects and lists ---- */

static size_t
field_number(const struct agent_shape *shape, const char *name)
{
    size_t i = 0;
    while (i < shape->field_count && !same_name(shape->fields[i].name, name))
        i++;
    return i;
}

/* Of one object: its title and the gain that it expects. */
static void
note_item(const struct agent_shape *shape, const struct agent_item *item, struct agent_reply *reply)
{
    size_t title = field_number(shape, "title"), low = field_number(shape, "low");
    size_t high = field_number(shape, "high");
    if (title < shape->field_count && item->values[title] != NULL)
        reply->name = item->values[title];
    if (low < shape->field_count)
        reply->low = reply->high = item->numbers[low];
    if (high < shape->field_count && !isnan(item->numbers[high]))
        reply->high = item->numbers[high];
}

static enum reply_found
ends_early(struct reply_reading *reading)
{
    return reply__broken(reading, "the JSON does not end; write it shorter");
}

/* What is no item, such as "...", is passed over. */
static enum reply_found
read_items(struct reply_reading *reading, json_t *list, struct agent_item *items, size_t most,
           size_t *count)
{
    enum reply_found found = REPLY_FOUND;
    size_t i;
    json_t *value;
    *count = 0;
    json_array_foreach(list, i, value)
    {
        if (*count == most || found != REPLY_FOUND)
            break;
        if (fits_item(&reading->role->returns, value))
            found = read_item(reading, value, &items[(*count)++]);
    }
    return found;
}

/* The last list that fits; or all objects that do, one after the other. */
static enum reply_found
list_of(struct reply_reading *reading, json_t **values, size_t value_count,
        struct agent_item *items, size_t most, size_t *count)
{
    const struct agent_shape *shape = &reading->role->returns;
    enum reply_found found = REPLY_NOTHING;
    for (size_t i = value_count; i > 0; i--) {
        json_t *list = unwrap(shape, values[i - 1], true);
        if (list != NULL)
            return read_items(reading, list, items, most, count);
    }
    *count = 0;
    for (size_t i = 0; i < value_count && *count < most && found != REPLY_BROKEN; i++) {
        json_t *item = unwrap(shape, values[i], false);
        if (item != NULL)
            found = read_item(reading, item, &items[(*count)++]);
    }
    return found;
}

static enum reply_found
object_of(struct reply_reading *reading, json_t **values, size_t value_count,
          struct agent_item *item)
{
    const struct agent_shape *shape = &reading->role->returns;
    for (size_t i = value_count; i > 0; i--) {
        json_t *value = unwrap(shape, values[i - 1], false);
        if (value == NULL && json_array_size(values[i - 1]) == 1)
            value = unwrap(shape, json_array_get(values[i - 1], 0), false);
        if (value != NULL)
            return read_item(reading, value, item);
    }
    return REPLY_NOTHING;
}

static enum reply_found
read_data(struct reply_reading *reading, bool list, struct agent_reply *reply)
{
    const struct agent_shape *shape = &reading->role->returns;
    size_t most = !list                                         ? 1
                  : shape->most > 0 && shape->most < MOST_ITEMS ? shape->most
                                                                : MOST_ITEMS;
    struct agent_item *items = arena_array(reading->arena, most + 1, sizeof *items);
    json_t *values[MOST_VALUES];
    bool cut;
    size_t count = 1, value_count = reply__find_json(reading, values, MOST_VALUES, &cut);
    enum reply_found found = list ? list_of(reading, values, value_count, items, most, &count)
                                  : object_of(reading, values, value_count, items);
    reply__drop(values, value_count);
    if (found == REPLY_NOTHING && cut)
        return ends_early(reading);
    if (found == REPLY_NOTHING && shape->field_count > 0)
        found = read_lines(reading, items, most, &count);
    if (found != REPLY_FOUND)
        return found;
    reply->items = items;
    reply->item_count = count;
    reply->why = reply__prose(reading, 0, 0);
    if (!list)
        note_item(shape, &items[0], reply);
    return REPLY_FOUND;
}

enum reply_found
reply__read_list(struct reply_reading *reading, struct agent_reply *reply)
{
    return read_data(reading, true, reply);
}

enum reply_found
reply__read_object(struct reply_reading *reading, struct agent_reply *reply)
{
    return read_data(reading, false, reply);
}

/* ---- a choice ---- */

static const char *const pick_names[] = {"pick",   "choice",   "answer", "option",
                                         "number", "selected", "id",     "index"};

enum { PICK_NAMES = sizeof pick_names / sizeof *pick_names };

/* 3, "3", "3 (tile)", "#3"; 0: no number. */
static long
pick_text(const char *text)
{
    text += strspn(text, " #*([`\"");
    if (!isdigit((unsigned char)*text))
        return 0;
    return strtol(text, NULL, 10);
}

static enum reply_found
take_pick(struct reply_reading *reading, const char *text, struct agent_reply *reply)
{
    long pick = pick_text(text);
    if (pick < 1 || pick > MOST_PICK)
        return reply__broken(reading,
                             "\"%.40s\" is no choice; write {\"pick\": NUMBER, "
                             "\"reason\": \"...\"} with a number from the list",
                             text);
    reply->pick = (int)pick;
    return REPLY_FOUND;
}

static enum reply_found
pick_object(struct reply_reading *reading, json_t *value, struct agent_reply *reply)
{
    for (size_t i = 0; i < PICK_NAMES && json_is_object(value); i++) {
        json_t *pick = member(value, pick_names[i]);
        if (json_is_array(pick))
            pick = json_array_get(pick, 0);
        const char *text = value_text(reading->arena, pick);
        if (text == NULL)
            continue;
        const char *why = value_text(reading->arena, member(value, "reason"));
        reply->why = why != NULL ? why : "";
        return take_pick(reading, text, reply);
    }
    return REPLY_NOTHING;
}

/* "Pick: 3", "I choose option 3": the last line with such a word and a number behind it; or a reply
 * that begins with a number. */
static enum reply_found
pick_words(struct reply_reading *reading, struct agent_reply *reply)
{
    struct reply_line line = {.next = reading->text};
    const char *found = NULL;
    while (reply__next_line(&line)) {
        const char *text = arena_strndup(reading->arena, line.start, line.length);
        for (size_t i = 0; i < PICK_NAMES; i++) {
            const char *at = strcasestr(text, pick_names[i]);
            if (at == NULL || (at > text && isalnum((unsigned char)at[-1])))
                continue;
            at += strlen(pick_names[i]);
            at += strspn(at, " \t:=*is#(`\"");
            found = isdigit((unsigned char)*at) ? at : found;
        }
    }
    if (found == NULL && pick_text(reading->text + strspn(reading->text, " \t\n")) > 0)
        found = reading->text + strspn(reading->text, " \t\n");
    return found != NULL ? take_pick(reading, found, reply) : REPLY_NOTHING;
}

enum reply_found
reply__read_pick(struct reply_reading *reading, struct agent_reply *reply)
{
    json_t *values[MOST_VALUES];
    bool cut;
    size_t count = reply__find_json(reading, values, MOST_VALUES, &cut);
    enum reply_found found = REPLY_NOTHING;
    for (size_t i = count; i > 0 && found == REPLY_NOTHING; i--)
        found = pick_object(reading, values[i - 1], reply);
    reply__drop(values, count);
    if (found == REPLY_NOTHING)
        found = pick_words(reading, reply);
    if (found == REPLY_FOUND && *reply->why == '\0')
        reply->why = reply__prose(reading, 0, 0);
    return found;
}
