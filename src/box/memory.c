/* Memory that caller and guest share: huge pages where the machine lets us, else a memory file. All
 * of it is allocated at once: to run out later would be a SIGBUS in the judge. */
#include "box/box_int.h"

#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY_SECONDS = 30, STAGGER_PAGES = 85, PIECE = 256 << 20 };

static size_t
round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static enum status
open_huge(const struct box *box, struct box_memory *memory, struct box__why *why)
{
    struct box__order order = {.verb = BOX__MEMORY, .bytes = memory->bytes};
    struct box__process process;
    struct box__reply reply;
    int fds[2];
    size_t count = 0;
    enum status status = box__start(box, &order, NULL, NULL, 0, NULL, &process, why);

    if (status != STATUS_OK)
        return status;
    status = box__answer_of(&process, &reply, sizeof reply, sizeof reply, fds, 2, &count,
                            MEMORY_SECONDS, why);
    box__stop(&process);
    if (status == STATUS_OK && count != 2) {
        box__close_all(fds, count);
        status = box__fault(why, 0, "hone-box sent no memory");
    }
    if (status != STATUS_OK)
        return status;
    memory->fd = fds[0];
    memory->read_only_fd = fds[1];
    memory->pages = BOX_PAGES_HUGE;
    return STATUS_OK;
}

static enum status
open_small(struct box_memory *memory, struct box__why *why)
{
    char path[32];

    memory->pages = BOX_PAGES_SMALL;
    memory->fd = memfd_create("box", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory->fd < 0 || ftruncate(memory->fd, (off_t)memory->bytes) != 0 ||
        fcntl(memory->fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
        return box__fault(why, errno, "no shared memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory->fd);
    memory->read_only_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (memory->read_only_fd < 0)
        return box__fault(why, errno,
                          "shared memory cannot be reopened read-only; is /proc mounted?");
    return STATUS_OK;
}

/* Bytes that can be had without making the kernel look for somebody to kill. */
static size_t
available(void)
{
    FILE *stream = fopen("/proc/meminfo", "re");
    char line[128];
    size_t kilobytes = 0;

    while (stream && fgets(line, sizeof line, stream))
        if (sscanf(line, "MemAvailable: %zu kB", &kilobytes) == 1)
            break;
    if (stream)
        fclose(stream);
    return kilobytes << 10;
}

/* In pieces, with a look at what is left before each: others take memory too. */
static bool
allocate(const struct box_memory *memory)
{
    for (size_t at = 0, piece; at < memory->bytes; at += piece) {
        piece = memory->bytes - at < PIECE ? memory->bytes - at : PIECE;
        if (memory->bytes - at > available() - available() / 8 ||
            fallocate(memory->fd, 0, (off_t)at, (off_t)piece) != 0)
            return false;
    }
    return true;
}

static enum status
provide(struct box_memory *memory, struct box__why *why)
{
    if (fault_hit(FAULT_ALLOC) || !allocate(memory)) {
        snprintf(why->text, sizeof why->text, "no memory for buffers of %zu MB",
                 memory->bytes >> 20);
        return STATUS_MACHINE;
    }
    memory->base = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
    return memory->base != MAP_FAILED ? STATUS_OK
                                      : box__fault(why, errno, "no room for shared memory");
}

enum status
box_memory_create(const struct box *box, size_t bytes, struct box_memory **result,
                  struct diags *diags)
{
    struct box_memory *memory = fault_hit(FAULT_ALLOC) ? NULL : calloc(1, sizeof *memory);
    bool huge = box->machine.features >> BOX_HUGE & 1;
    struct box__why why = {{0}};
    enum status status;

    *result = NULL;
    if (!memory)
        return box__report(box__fault(&why, ENOMEM, "no shared memory"), &why, diags);
    *memory = (struct box_memory){.fd = -1, .read_only_fd = -1, .base = MAP_FAILED};
    memory->bytes = round_up(bytes ? bytes : 1, huge ? BOX__HUGE : BOX_PAGE);
    status = huge ? open_huge(box, memory, &why) : open_small(memory, &why);
    if (status == STATUS_OK)
        status = provide(memory, &why);
    if (status != STATUS_OK) {
        box_memory_destroy(memory);
        return box__report(status, &why, diags);
    }
    *result = memory;
    return STATUS_OK;
}

void
box_memory_destroy(struct box_memory *memory)
{
    if (!memory)
        return;
    if (memory->base != MAP_FAILED)
        munmap(memory->base, memory->bytes);
    if (memory->fd >= 0)
        close(memory->fd);
    if (memory->read_only_fd >= 0)
        close(memory->read_only_fd);
    free(memory);
}

void *
box_memory_base(const struct box_memory *memory)
{
    return memory->base;
}

/* Regions keep their place modulo 2 MB in the guest, so it is decided here, in the file. */
size_t
box_stagger(size_t at, size_t index)
{
    size_t wanted = index * STAGGER_PAGES * BOX_PAGE % BOX__HUGE;
    size_t start = round_up(at, BOX_PAGE), present = start % BOX__HUGE;

    return start + (wanted + BOX__HUGE - present) % BOX__HUGE;
}
