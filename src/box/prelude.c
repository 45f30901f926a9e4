/* The precompiled prelude: <immintrin.h> alone costs gcc a quarter of a second, its precompiled
 * form a few milliseconds. One for each compiler, list of flags and text, in the cache folder; the
 * jail sees that one folder, read-only. Made from trusted text alone, in the same jail. Two that
 * make it at once both write it whole under another name first. */
#include "box/compile_int.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A compiler that was replaced makes another: its path, size and time are part of the name. */
static void
name_of(struct arena *arena, const char *compiler, const struct box_compile_request *request,
        char name[HASH_TEXT])
{
    struct buf buf = buf_in(arena);
    struct stat facts = {0};

    if (stat(compiler, &facts) != 0)
        facts.st_size = 0;
    buf_printf(&buf, "1 %s %lld %lld\n", compiler, (long long)facts.st_size,
               (long long)facts.st_mtime);
    for (const char *const *flag = request->flags; *flag; flag++)
        buf_printf(&buf, "%s\n", *flag);
    buf_puts(&buf, request->prelude);
    hash_sha256(buf.data, buf.length, name);
}

static bool
exists(struct arena *arena, const char *folder)
{
    return access(file_join(arena, folder, "prelude.h.gch"), R_OK) == 0;
}

/* What the guest's user id may read; the folder above is the caller's alone. */
static enum status
store(struct arena *arena, const char *folder, const char *prelude, int object, size_t bytes,
      struct diags *diags)
{
    char *header = file_join(arena, folder, "prelude.h");
    char *precompiled = file_join(arena, folder, "prelude.h.gch");
    void *mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, object, 0);
    enum status status;

    if (mapped == MAP_FAILED)
        return STATUS_MACHINE;
    status = file_write(header, prelude, strlen(prelude), diags);
    if (status == STATUS_OK)
        status = file_write(precompiled, mapped, bytes, diags);
    munmap(mapped, bytes);
    if (status == STATUS_OK &&
        (chmod(folder, 0755) != 0 || chmod(header, 0644) != 0 || chmod(precompiled, 0644) != 0))
        status = STATUS_MACHINE;
    return status;
}

static bool
make(const struct box *box, struct arena *arena, const char *compiler,
     const struct box_compile_request *request, const char *folder)
{
    struct box__command *command = arena_alloc(arena, sizeof *command);
    struct diags *diags = diags_create(arena, 0); /* of no interest: it works without the cache */
    struct box_compile_result result;
    struct box__why why;
    bool made;

    box__command_arg(command, compiler);
    for (const char *const *flag = request->flags; *flag; flag++)
        box__command_arg(command, *flag);
    box__command_arg(command, "-fPIC");
    box__command_arg(command, "-xc-header");
    box__command_arg(command, "prelude.h");
    box__command_arg(command, "-o");
    box__command_arg(command, "object");
    box__command_file(command, "prelude.h", request->prelude, strlen(request->prelude));
    command->limits.output = (size_t)256 << 20;
    if (box__command_run(box, arena, command, &result, &why) != STATUS_OK || result.object < 0)
        return false;
    made = file_make_folder(folder, diags) == STATUS_OK &&
           store(arena, folder, request->prelude, result.object, result.object_bytes, diags) ==
               STATUS_OK;
    close(result.object);
    return made;
}

const char *
box__prelude_folder(const struct box *box, struct arena *arena, const char *compiler,
                    const struct box_compile_request *request)
{
    const char *cache = file_cache_folder(arena);
    char name[HASH_TEXT];
    char *folder;

    if (!cache)
        return NULL;
    name_of(arena, compiler, request, name);
    folder = file_join(arena, file_join(arena, cache, "prelude"), name);
    if (strlen(folder) > 400)
        return NULL;
    return exists(arena, folder) || make(box, arena, compiler, request, folder) ? folder : NULL;
}
