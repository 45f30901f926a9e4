/* Memory that lives as long as one unit of work and is dropped whole.
 *
 * Ownership law: whatever is allocated in an arena belongs to it; nobody frees single pieces.
 * When memory runs out the arena jumps to `no_memory` if the owner set one (it then destroys the
 * arena and reports), otherwise the program ends with exit code 3. So callers never test for NULL.
 */
#ifndef HONE_BASE_ARENA_H
#define HONE_BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>

struct arena;

struct arena *
arena_create(void); /* NULL when memory has run out: the one allocation that reports it so */

void
arena_destroy(struct arena *arena); /* NULL is allowed */

/* Sets where allocation failures jump to; NULL restores ending the program. */
void
arena_on_no_memory(struct arena *arena, jmp_buf *no_memory);

/* Zeroed memory, aligned to 16 bytes. */
void *
arena_alloc(struct arena *arena, size_t bytes) __attribute__((returns_nonnull, malloc));

/* Zeroed array; an overflowing product counts as no memory. */
void *
arena_array(struct arena *arena, size_t count, size_t size) __attribute__((returns_nonnull));

/* A copy of an array with room for `capacity` elements, for arrays that grow. */
void *
arena_grow(struct arena *arena, const void *old, size_t count, size_t capacity, size_t size)
    __attribute__((returns_nonnull));

char *
arena_strdup(struct arena *arena, const char *text) __attribute__((returns_nonnull));

char *
arena_strndup(struct arena *arena, const char *text, size_t length)
    __attribute__((returns_nonnull));

char *
arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));

/* Bytes handed out so far: tests of "no unbounded memory" read it. */
size_t
arena_used(const struct arena *arena);

#endif
