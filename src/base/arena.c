/* Chunks of 64 KB from which pieces are cut, newest first. A large piece gets a chunk of its own,
 * placed behind the newest so that the rest of that one stays in use.
 *
 * Chunks come from calloc() and are never reused, so pieces are zero without being cleared and
 * large ones cost no memory until they are touched. Under AddressSanitizer everything not handed
 * out is poisoned, with a gap after each piece: otherwise a write past the end of a piece would
 * silently hit its neighbour. */
#include "base/arena.h"

#include "base/fault.h"
#include "base/status.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __has_feature
#define HAS_ASAN __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#else
#define HAS_ASAN 0
#endif

#if HAS_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#endif

enum {
    ALIGNMENT = 16,
    GAP = HAS_ASAN ? ALIGNMENT : 0,
    CHUNK = 64 * 1024,
    LARGE = CHUNK / 4,
};

struct chunk {
    struct chunk *next;
    size_t used, capacity;
    _Alignas(ALIGNMENT) char bytes[];
};

struct arena {
    struct chunk *newest;
    jmp_buf *no_memory;
    size_t used;
};

struct arena *
arena_create(void)
{
    if (fault_hit(FAULT_ALLOC))
        return NULL;
    return calloc(1, sizeof(struct arena));
}

void
arena_destroy(struct arena *arena)
{
    if (!arena)
        return;
    for (struct chunk *chunk = arena->newest, *next; chunk; chunk = next) {
        next = chunk->next;
        ASAN_UNPOISON_MEMORY_REGION(chunk->bytes, chunk->capacity);
        free(chunk);
    }
    free(arena);
}

void
arena_on_no_memory(struct arena *arena, jmp_buf *no_memory)
{
    arena->no_memory = no_memory;
}

static _Noreturn void
give_up(struct arena *arena)
{
    if (arena->no_memory)
        longjmp(*arena->no_memory, 1);
    fputs("hone: this machine has no memory left for it\n", stderr);
    exit(status_exit_code(STATUS_MACHINE));
}

static struct chunk *
chunk_create(struct arena *arena, size_t capacity)
{
    struct chunk *chunk = calloc(1, sizeof *chunk + capacity);

    if (!chunk)
        give_up(arena);
    chunk->capacity = capacity;
    ASAN_POISON_MEMORY_REGION(chunk->bytes, capacity);
    return chunk;
}

/* A chunk with at least `room` bytes left. */
static struct chunk *
chunk_with(struct arena *arena, size_t room)
{
    struct chunk *newest = arena->newest;
    struct chunk *chunk;

    if (newest && newest->capacity - newest->used >= room)
        return newest;
    chunk = chunk_create(arena, room >= LARGE ? room : CHUNK);
    if (room >= LARGE && newest) {
        chunk->next = newest->next;
        newest->next = chunk;
    } else {
        chunk->next = newest;
        arena->newest = chunk;
    }
    return chunk;
}

void *
arena_alloc(struct arena *arena, size_t bytes)
{
    struct chunk *chunk;
    size_t room;
    char *piece;

    if (fault_hit(FAULT_ALLOC) || bytes > PTRDIFF_MAX - 2 * CHUNK)
        give_up(arena);
    room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GAP;
    if (room == 0)
        room = ALIGNMENT; /* so that two pieces never share an address */
    chunk = chunk_with(arena, room);
    piece = chunk->bytes + chunk->used;
    chunk->used += room;
    arena->used += room;
    ASAN_UNPOISON_MEMORY_REGION(piece, bytes);
    return piece;
}

void *
arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        give_up(arena);
    return arena_alloc(arena, bytes);
}

void *
arena_grow(struct arena *arena, const void *old, size_t count, size_t capacity, size_t size)
{
    void *grown = arena_array(arena, capacity, size);

    if (count > 0)
        memcpy(grown, old, count * size);
    return grown;
}

char *
arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *
arena_strndup(struct arena *arena, const char *text, size_t length)
{
    size_t kept = strnlen(text, length);
    char *copy = arena_alloc(arena, kept + 1);

    memcpy(copy, text, kept);
    return copy;
}

char *
arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    char *text;
    int length;

    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        give_up(arena);
    text = arena_alloc(arena, (size_t)length + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

size_t
arena_used(const struct arena *arena)
{
    return arena->used;
}
