/* Figures as people and models write them. A gain is told as a factor:
 *
 *   5 %, +5%, 5 percent            1.05          -4 %                    0.96
 *   1.05x, 1.05 x, x1.05, 1.05     1.05          0.05                    1.05
 *   5-12 %, 5 to 12 %, 1.05-1.12x  1.05 to 1.12  12 (no unit, 4 or more) 1.12
 *
 * A number alone below 0.5 is a share, from 0.5 to 4 a factor, above it a percentage. Other figures
 * are what they are; a percent sign divides by 100. */
#include "agent/reply_int.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum unit { UNIT_NONE, UNIT_PERCENT, UNIT_FACTOR };

struct figure {
    double value;
    enum unit unit;
};

bool
reply__is_gain(const char *name)
{
    return !strcasecmp(name, "low") || !strcasecmp(name, "high") || strcasestr(name, "gain") ||
           strcasestr(name, "speedup");
}

/* A decimal number; no hexadecimal, no inf: those are words in a sentence. */
static const char *
read_number(const char *at, double *value)
{
    const char *digits = at + (*at == '-' || *at == '+');
    size_t whole = strspn(digits, "0123456789");
    size_t part = digits[whole] == '.' ? 1 + strspn(digits + whole + 1, "0123456789") : 0;
    if (whole + part == 0 || (whole == 0 && part < 2) || whole + part > 30)
        return NULL;
    char copy[40];
    size_t length = (size_t)(digits - at) + whole + part;
    memcpy(copy, at, length);
    copy[length] = '\0';
    *value = strtod(copy, NULL);
    return at + length;
}

static const char *
read_unit(const char *at, enum unit *unit)
{
    const char *word = at + strspn(at, " ");
    *unit = UNIT_NONE;
    if (*word == '%' || strncasecmp(word, "percent", 7) == 0) {
        *unit = UNIT_PERCENT;
        return word + (*word == '%' ? 1 : 7);
    }
    bool times = strncmp(word, "\xc3\x97", 2) == 0; /* the sign of multiplication */
    if (times || ((*word == 'x' || *word == 'X') && !isalnum((unsigned char)word[1]))) {
        *unit = UNIT_FACTOR;
        return word + 1 + times;
    }
    return at;
}

static const char *
read_figure(const char *at, struct figure *figure)
{
    bool factor = (*at == 'x' || *at == 'X') && isdigit((unsigned char)at[1]);
    at = read_number(at + factor, &figure->value);
    if (at == NULL)
        return NULL;
    at = read_unit(at, &figure->unit);
    if (factor)
        figure->unit = UNIT_FACTOR;
    return at;
}

/* "-12 %", "to 12 %", " .. 12 %" behind the first figure of a range. NULL: it is none. */
static const char *
read_second(const char *at, struct figure *figure)
{
    at += strspn(at, " ");
    if (strncmp(at, "to ", 3) == 0)
        at += 3;
    else if (strncmp(at, "..", 2) == 0)
        at += 2 + (at[2] == '.');
    else if (strncmp(at, "\xe2\x80\x93", 3) == 0 || strncmp(at, "\xe2\x80\x94", 3) == 0)
        at += 3; /* dashes of typesetters */
    else if (*at == '-' || *at == '~')
        at++;
    else
        return NULL;
    at += strspn(at, " ");
    return read_figure(at, figure);
}

static double
value_of(const struct figure *figure, bool gain)
{
    double value = figure->value;
    if (!gain)
        return figure->unit == UNIT_PERCENT ? value / 100 : value;
    if (figure->unit == UNIT_FACTOR)
        return value;
    if (figure->unit == UNIT_PERCENT || value >= 4)
        return 1 + value / 100;
    return value < 0.5 ? 1 + value : value;
}

/* Where the first figure begins: not inside of a word such as "L2". */
static const char *
find_figure(const char *text, struct figure *figure, const char **behind)
{
    for (const char *at = text; *at; at++) {
        bool inside = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_' ||
                                    at[-1] == '.' || (*at == '-' && at[-1] != ' '));
        *behind = inside ? NULL : read_figure(at, figure);
        if (*behind != NULL)
            return at;
    }
    return NULL;
}

bool
reply__figures(const char *text, bool gain, double *low, double *high)
{
    struct figure first, second;
    const char *behind;
    if (find_figure(text, &first, &behind) == NULL)
        return false;
    *low = *high = value_of(&first, gain);
    if (read_second(behind, &second) == NULL || second.value < 0)
        return true;
    if (first.unit == UNIT_NONE)
        first.unit = second.unit;
    double a = value_of(&first, gain), b = value_of(&second, gain);
    *low = fmin(a, b);
    *high = fmax(a, b);
    return true;
}
