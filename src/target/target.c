/* The table of targets, and what is asked of any of them. */
#include "target/target_int.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"

const struct target *const targets[] = {&target__cpu, NULL};

#define TARGETS (sizeof targets / sizeof *targets - 1)

const struct target *
target_find(const char *name)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (!strcmp(targets[i]->name, name))
            return targets[i];
    return NULL;
}

const char *
target_nearest(const char *name)
{
    const char *names[TARGETS];

    for (size_t i = 0; i < TARGETS; i++)
        names[i] = targets[i]->name;
    return text_nearest(name, names, TARGETS);
}

const char *
target_supports(struct arena *arena, const struct target *target, const struct program *program)
{
    return target->supports ? target->supports(arena, program) : NULL;
}

bool
target_explain(struct arena *arena, const struct target *target, const struct program *program,
               const struct target_kernel *kernel, const char *diagnostics,
               struct target_fault *fault)
{
    *fault = (struct target_fault){0};
    return target->explain && target->explain(arena, program, kernel, diagnostics, fault);
}

/* ---- what the compiler gets ---- */

/* A name inside of a C string. */
static void
put_quoted(struct buf *buf, const char *text)
{
    buf_putc(buf, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_putc(buf, '\\');
        buf_putc(buf, *text == '\n' ? ' ' : *text);
    }
    buf_putc(buf, '"');
}

void
target_put_prelude(struct buf *buf, const struct target *target, const struct program *program)
{
    buf_puts(buf, target->headers ? target->headers : "");
    if (target->prelude)
        target->prelude(buf, program);
}

static bool
mentions(const struct target_kernel *kernel, const char *word)
{
    return memmem(kernel->text, kernel->length, word, strlen(word)) != NULL;
}

/* The words #, include and "NAME" one after the other; in an #if that is false, too. */
bool
target_includes(const struct target_kernel *kernel, const char *name)
{
    struct c_reader reader = c_reader_of(kernel->text, kernel->length);
    struct c_token token = c_next_code(&reader);
    const size_t length = strlen(name);

    while (token.kind != C_END) {
        const bool hash = c_is(&token, "#");
        token = c_next_code(&reader);
        if (!hash || !c_is(&token, "include"))
            continue;
        token = c_next_code(&reader);
        if (token.kind == C_QUOTED && token.length == length + 2 &&
            !memcmp(token.start + 1, name, length))
            return true;
    }
    return false;
}

/* A header that is only mentioned costs some milliseconds, no more. Our own files stand here as
 * texts, and only if they are included: the kernel might define the same names itself. Its #include
 * then meets the file's guard. */
void
target_put_headers(struct buf *buf, const struct target *target, const struct target_kernel *kernel)
{
    buf_puts(buf, target->headers ? target->headers : "");
    for (const char *const *name = target->known_headers; name && *name; name++)
        if (mentions(kernel, *name))
            buf_printf(buf, "#include <%s>\n", *name);
    for (const struct target_file *file = target->files; file && file->name; file++)
        if (target_includes(kernel, file->name) && !mentions(kernel, "HONE_VECTOR_BYTES"))
            buf_puts(buf, file->text);
}

void
target_put_defines(struct buf *buf, const struct target *target, const struct program *program,
                   const struct target_kernel *kernel)
{
    if (target->prelude)
        target->prelude(buf, program);
    for (size_t i = 0; i < kernel->tune_count; i++)
        buf_printf(buf, "#define %s %lld\n", kernel->tunes[i].name,
                   (long long)kernel->tunes[i].values[0]);
}

const struct target_file *const *
target_files(struct arena *arena, const struct target *target, const struct target_kernel *kernel,
             size_t *count)
{
    const struct target_file **files = NULL;

    *count = 0;
    for (const struct target_file *file = target->files; file && file->name; file++)
        if (target_includes(kernel, file->name)) {
            files = arena_grow(arena, files, *count, *count + 1, sizeof *files);
            files[(*count)++] = file;
        }
    return files;
}

void
target_source(struct buf *buf, const struct target *target, const struct program *program,
              const char *file, const struct target_kernel *kernel)
{
    if (target->headers || target->prelude) {
        target_put_prelude(buf, target, program);
        buf_puts(buf, "#line 1 ");
        put_quoted(buf, file);
        buf_putc(buf, '\n');
    }
    buf_add(buf, kernel->text, kernel->length);
    if (kernel->length == 0 || kernel->text[kernel->length - 1] != '\n')
        buf_putc(buf, '\n');
}

static size_t
count_of(const char *const *list)
{
    size_t count = 0;

    while (list && list[count])
        count++;
    return count;
}

static const char *
definition(struct arena *arena, const struct target_tune *tune, size_t chosen)
{
    assert(chosen < tune->count);
    return arena_printf(arena, "-D%s=%lld", tune->name, (long long)tune->values[chosen]);
}

/* Fills argv from position n on; behind the last one it is NULL already. */
static void
put_shown(struct arena *arena, const struct target *target, const struct target_kernel *kernel,
          const size_t *chosen, const char **argv, size_t n)
{
    for (size_t i = 0; i < count_of(target->defaults); i++)
        argv[n++] = target->defaults[i];
    for (size_t i = 0; i < kernel->flag_count; i++)
        argv[n++] = kernel->flags[i];
    for (size_t i = 0; i < kernel->tune_count; i++)
        argv[n++] = definition(arena, &kernel->tunes[i], chosen ? chosen[i] : 0);
}

static const char **
make_argv(struct arena *arena, const struct target *target, const struct target_kernel *kernel)
{
    size_t most = count_of(target->service) + count_of(target->defaults) + kernel->flag_count +
                  kernel->tune_count;

    return arena_array(arena, most + 1, sizeof(const char *));
}

const char *const *
target_arguments(struct arena *arena, const struct target *target,
                 const struct target_kernel *kernel, const size_t *chosen)
{
    const char **argv = make_argv(arena, target, kernel);
    size_t service = count_of(target->service);

    for (size_t i = 0; i < service; i++)
        argv[i] = target->service[i];
    put_shown(arena, target, kernel, chosen, argv, service);
    return argv;
}

void
target_put_flags(struct buf *buf, const struct target *target, const struct target_kernel *kernel,
                 const size_t *chosen)
{
    const char **argv = make_argv(buf->arena, target, kernel);

    put_shown(buf->arena, target, kernel, chosen, argv, 0);
    for (size_t i = 0; argv[i]; i++)
        buf_printf(buf, "%s%s", i ? " " : "", argv[i]);
}

/* ---- what a kernel may call ---- */

/* Does the pattern, `length` characters, stand for the symbol up to `end`? */
static bool
matches(const char *pattern, size_t length, const char *symbol, size_t end)
{
    if (length > 0 && pattern[length - 1] == '*')
        return end >= length - 1 && !memcmp(pattern, symbol, length - 1);
    return length == end && !memcmp(pattern, symbol, length);
}

static bool
is_listed(const char *names, const char *symbol, size_t end)
{
    for (const char *at = names; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (matches(at, length, symbol, end))
            return true;
        at += length;
    }
    return false;
}

bool
target_allows(const struct target *target, const char *symbol)
{
    size_t end = strcspn(symbol, "@");

    for (const struct target_symbols *row = target->symbols; row && row->what; row++) {
        if (is_listed(row->names, symbol, end))
            return true;
        if (row->suffixes && end > 1 && strchr(row->suffixes, symbol[end - 1]) &&
            is_listed(row->names, symbol, end - 1))
            return true;
    }
    return false;
}
