/* What screens share: widths, paragraphs, and figures as people say them. */
#ifndef HONE_APP_SCREEN_H
#define HONE_APP_SCREEN_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define SCREEN_WIDTH 96

/* Whether this terminal, or whoever reads, takes UTF-8. */
bool
screen_utf8(void);

/* In columns: a byte sequence of UTF-8 counts once. */
size_t
screen_width(const char *text);

/* Blanks until what was written since `start` is so many columns wide. */
void
screen_pad(struct buf *buf, size_t start, size_t width);

/* The first line of it, at most so many columns; "..." says that there is more. */
const char *
screen_cut(struct arena *arena, const char *text, size_t width);

/* The text behind a title that is padded to `indent`; lines that are too long go on in the next
 * one, indented. Empty lines are left out. */
void
screen_paragraph(struct buf *buf, const char *title, size_t indent, const char *text);

/* "0:21", "1:05:12" */
const char *
screen_clock(struct arena *arena, double seconds);

/* "2 min", "3 h", "1 d" */
const char *
screen_age(struct arena *arena, double seconds);

/* "8,112" */
const char *
screen_number(struct arena *arena, int64_t number);

/* "71k", "7.9k", "812" */
const char *
screen_tokens(struct arena *arena, double tokens);

/* "5", "0.4": per cents, one digit behind the point below 1. */
const char *
screen_percent(struct arena *arena, double share);

#endif
