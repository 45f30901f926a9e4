/* Values made of words and numbers. */
#include "recipe/recipe_int.h"

#include "base/text.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void
recipe__complain(struct reading *reading, struct place place, const char *format, ...)
{
    va_list args;
    struct buf buf = buf_in(reading->arena);
    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    place.column = 0; /* the line is short enough to see where */
    diags_add(reading->diags, DIAG_ERROR, place, "%s", buf.data);
    reading->failed = true;
}

char *
recipe__next_item(char **next)
{
    char *item = *next, *at = item;
    unsigned depth = 0;
    if (item == NULL)
        return NULL;
    for (; *at != '\0' && (*at != ',' || depth > 0); at++)
        depth += *at == '{' ? 1 : *at == '}' && depth > 0 ? -1U : 0;
    *next = *at == ',' ? at + 1 : NULL;
    *at = '\0';
    return text_trim(item);
}

/* ---- matching ---- */

/* The word that begins at *text, which moves behind it; its length, 0 at the end. */
static size_t
next_word(const char **text, const char **word)
{
    *word = *text + strspn(*text, " \t");
    size_t length = strcspn(*word, " \t");
    *text = *word + length;
    return length;
}

static bool
can_stand_for(char sign, const char *text, size_t length)
{
    for (size_t i = 0; sign == '@' && i < length; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
            return false;
    return length > 0 && (sign == '@' || isdigit((unsigned char)text[0]) ||
                          (length > 1 && text[0] == '.' && isdigit((unsigned char)text[1])));
}

/* "max(@)" and "max(low)"; *value is what stands for the sign, if the form has one. */
static bool
match_word(struct arena *arena, const char *form, size_t form_length, const char *word,
           size_t length, const char **value)
{
    size_t before = strcspn(form, "#@");
    if (before >= form_length)
        return length == form_length && !memcmp(form, word, length);
    size_t after = form_length - before - 1;
    if (length < before + after || memcmp(form, word, before) != 0 ||
        memcmp(form + before + 1, word + length - after, after) != 0 ||
        !can_stand_for(form[before], word + before, length - before - after))
        return false;
    *value = arena_strndup(arena, word + before, length - before - after);
    return true;
}

static bool
match(struct arena *arena, const char *form, const char *item, const char *values[2])
{
    const char *form_word, *word;
    size_t form_length, length, count = 0;
    do {
        const char *value = NULL;
        form_length = next_word(&form, &form_word);
        length = next_word(&item, &word);
        if (!match_word(arena, form_word, form_length, word, length, &value))
            return false;
        if (value != NULL) {
            assert(count < 2);
            values[count++] = value;
        }
    } while (form_length > 0);
    return true;
}

const struct phrase *
recipe__match(struct arena *arena, const struct phrase *phrases, const char *item,
              const char *values[2])
{
    for (; phrases->form != NULL; phrases++)
        if (match(arena, phrases->form, item, values))
            return phrases;
    return NULL;
}

/* ---- storing ---- */

static void
put_mark(const struct mark *mark, char *object)
{
    void *at = object + mark->offset;
    if (mark->kind == MARK_FLAG)
        *(bool *)at = true;
    else if (mark->kind == MARK_ENUM)
        *(int *)at = (int)mark->value;
    else if (mark->kind == MARK_BIT)
        *(unsigned *)at |= 1U << (unsigned)mark->value;
    else if (mark->kind == MARK_REAL)
        *(double *)at = mark->value;
}

static bool
is_within(const struct slot *slot, const char *text, double *number)
{
    char *end;
    int64_t whole;
    if (slot->kind == SLOT_SECONDS)
        return text_seconds(text, number) && *number <= slot->high;
    if (slot->kind == SLOT_COUNT) {
        if (!text_integer(text, &whole))
            return false;
        *number = (double)whole;
    } else {
        *number = strtod(text, &end);
        if (end == text || *end != '\0' || strpbrk(text, "xX") != NULL)
            return false;
    }
    return *number >= slot->low && *number <= slot->high;
}

static bool
put_slot(struct reading *reading, const struct setting *setting, const struct slot *slot,
         const char *text, const char *item, char *object)
{
    void *at = object + slot->offset;
    double number;
    if (slot->kind == SLOT_WORD) {
        *(const char **)at = text;
        return true;
    }
    if (!is_within(slot, text, &number)) {
        if (slot->kind == SLOT_SECONDS)
            recipe__complain(reading, setting->at, "%s = %s: write 90s, 10m or 1h", setting->key,
                             item);
        else
            recipe__complain(reading, setting->at, "%s = %s: write a %snumber from %.9g to %.9g",
                             setting->key, item, slot->kind == SLOT_COUNT ? "whole " : "",
                             slot->low, slot->high);
        return false;
    }
    if (slot->kind == SLOT_COUNT)
        *(unsigned *)at = (unsigned)number;
    else
        *(double *)at = slot->kind == SLOT_PERCENT ? 1 + number / 100 : number;
    return true;
}

/* ---- what was meant ---- */

/* The item with each number as #, so that it can be compared with forms. */
static const char *
without_numbers(struct arena *arena, const char *item)
{
    struct buf buf = buf_in(arena);
    const char *word;
    buf_puts(&buf, "");
    for (size_t length; (length = next_word(&item, &word)) > 0;) {
        buf_puts(&buf, buf.length > 0 ? " " : "");
        size_t digits = can_stand_for('#', word, length) ? strspn(word, "0123456789.") : 0;
        buf_puts(&buf, digits > 0 ? "#" : "");
        buf_add(&buf, word + digits, length - digits);
    }
    return buf.data;
}

/* A form as one would write it: "light 0.9" says more than "light #". */
static const char *
as_written(struct arena *arena, const char *form)
{
    struct buf buf = buf_in(arena);
    for (; *form != '\0'; form++)
        if (*form == '#')
            buf_putc(&buf, 'N');
        else if (*form == '@')
            buf_puts(&buf, "NAME");
        else
            buf_putc(&buf, *form);
    return buf.data;
}

static void
complain_of_phrase(struct reading *reading, const struct setting *setting, const char *item,
                   const struct phrase *phrases, const char *noun)
{
    size_t count = 0;
    while (phrases[count].form != NULL)
        count++;
    const char **forms = arena_array(reading->arena, count, sizeof *forms);
    for (size_t i = 0; i < count; i++)
        forms[i] = phrases[i].form;
    const char *near = text_nearest(without_numbers(reading->arena, item), forms, count);
    struct buf list = buf_in(reading->arena);
    for (size_t i = 0; near == NULL && i < count && i < 8; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", as_written(reading->arena, forms[i]));
    if (near != NULL)
        recipe__complain(reading, setting->at, "%s = %s: no such %s; did you mean %s?",
                         setting->key, item, noun, as_written(reading->arena, near));
    else
        recipe__complain(reading, setting->at, "%s = %s: no such %s; write %s%s", setting->key,
                         item, noun, list.data, count > 8 ? ", ..." : "");
}

int
recipe__take_name(struct reading *reading, const struct setting *setting, const char *word,
                  const char *noun, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], word))
            return (int)i;
    const char *near = text_nearest(word, names, count);
    recipe__complain(reading, setting->at, "%s = %s: no such %s%s%s%s", setting->key, word, noun,
                     near ? "; did you mean " : "; `hone recipes --keys` lists them",
                     near ? near : "", near ? "?" : "");
    return -1;
}

const struct phrase *
recipe__take_phrase(struct reading *reading, const struct setting *setting, const char *item,
                    const struct phrase *phrases, const char *noun, void *object)
{
    const char *values[2] = {NULL, NULL};
    const struct phrase *phrase = recipe__match(reading->arena, phrases, item, values);
    if (phrase == NULL) {
        complain_of_phrase(reading, setting, item, phrases, noun);
        return NULL;
    }
    put_mark(&phrase->mark, object);
    for (unsigned i = 0; i < 2 && phrase->slots[i].kind != SLOT_NONE; i++)
        if (!put_slot(reading, setting, &phrase->slots[i], values[i], item, object))
            return NULL;
    return phrase;
}

/* ---- by the table ---- */

/* A list whose items are phrases, none of them said twice. */
static void
read_phrases(struct reading *reading, const struct key *key, const struct setting *setting,
             char *object)
{
    uint64_t said = 0;
    char *next = arena_strdup(reading->arena, setting->value);
    for (char *item; (item = recipe__next_item(&next)) != NULL;) {
        const struct phrase *phrase =
            recipe__take_phrase(reading, setting, item, key->phrases, key->noun, object);
        if (phrase == NULL)
            continue;
        assert(phrase - key->phrases < 64);
        uint64_t bit = UINT64_C(1) << (phrase - key->phrases);
        if (said & bit)
            recipe__complain(reading, setting->at, "%s = %s: said twice; write it once",
                             setting->key, item);
        said |= bit;
    }
}

static void
read_list(struct reading *reading, const struct key *key, const struct setting *setting,
          char *object)
{
    const struct key_list *list = &key->list;
    size_t *count = (size_t *)(object + list->count);
    char *next = arena_strdup(reading->arena, setting->value);
    for (char *item; (item = recipe__next_item(&next)) != NULL;) {
        if (*count == list->most) {
            recipe__complain(reading, setting->at, "%s: more than %zu; write fewer", setting->key,
                             list->most);
            return;
        }
        char *element = object + list->offset + *count * list->size;
        if (recipe__take_phrase(reading, setting, item, key->phrases, key->noun, element) != NULL)
            ++*count;
    }
}

static void
read_one(struct reading *reading, const struct key *key, const struct setting *setting,
         char *object)
{
    const char *values[2];
    if (strchr(setting->value, ',') != NULL &&
        recipe__match(reading->arena, key->phrases, setting->value, values) == NULL)
        recipe__complain(reading, setting->at, "%s = %s: more than one %s; write one", setting->key,
                         setting->value, key->noun);
    else
        recipe__take_phrase(reading, setting, setting->value, key->phrases, key->noun, object);
}

void
recipe__read_key(struct reading *reading, const struct key *key, const struct setting *setting,
                 void *object)
{
    if (*setting->value == '\0') {
        recipe__complain(reading, setting->place,
                         "%s is empty; write %s = %s, or leave the line out", key->name, key->name,
                         key->form);
        return;
    }
    switch (key->how) {
    case KEY_NUMBER:
        put_slot(reading, setting, &key->slot, setting->value, setting->value, object);
        break;
    case KEY_TEXT:
        *(const char **)((char *)object + key->slot.offset) = setting->value;
        break;
    case KEY_PHRASE:
        read_one(reading, key, setting, (char *)object + key->inside);
        break;
    case KEY_PHRASES:
        read_phrases(reading, key, setting, (char *)object + key->inside);
        break;
    case KEY_LIST:
        read_list(reading, key, setting, object);
        break;
    case KEY_OWN:
        key->own(reading, setting, object);
        break;
    }
}
