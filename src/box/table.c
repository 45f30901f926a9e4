/* The job as the runner reads it: addresses for the regions, descriptors, arguments. */
#include "box/run_int.h"

#include "base/fault.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a runner needs for itself: its libraries, and for each thread a stack and an arena. */
#define OWN_ADDRESS_SPACE ((uint64_t)512 << 20)
#define THREAD_ADDRESS_SPACE ((uint64_t)160 << 20)

const struct box__region *
box__regions(const struct box__table *table)
{
    return (const struct box__region *)(table + 1);
}

static size_t
table_bytes(const struct box_job *job)
{
    return sizeof(struct box__table) + job->region_count * sizeof(struct box__region) +
           job->call_count * job->arg_count * sizeof(uint64_t);
}

void
box__control_drop(struct box_server *server)
{
    if (server->ctl)
        munmap(server->ctl, server->control_bytes);
    if (server->control >= 0)
        close(server->control);
    server->ctl = NULL;
    server->table = NULL;
    server->control = -1;
    server->control_bytes = 0;
}

/* A fresh file when a larger one is needed; it is never shrunk. */
static enum status
provide_control(struct box_server *server, size_t bytes, struct box__why *why)
{
    size_t wanted = (BOX_PAGE + bytes + BOX_PAGE - 1) / BOX_PAGE * BOX_PAGE;
    void *base;
    int fd;

    if (server->control >= 0 && server->control_bytes >= wanted)
        return STATUS_OK;
    fd = fault_hit(FAULT_ALLOC) ? -1 : memfd_create("control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)wanted) != 0 ||
        fallocate(fd, 0, 0, (off_t)wanted) != 0 || /* to run out later would be a SIGBUS */
        fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
        goto fail;
    base = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (base == MAP_FAILED)
        goto fail;
    box__control_drop(server);
    server->control = fd;
    server->control_bytes = wanted;
    server->ctl = base;
    server->table = (struct box__table *)((char *)base + BOX_PAGE);
    return STATUS_OK;
fail:
    box__fault(why, errno, "no memory for the control words");
    if (fd >= 0)
        close(fd);
    return STATUS_MACHINE;
}

/* Regions lie far apart, each a quarter into its window, so that an address out of bounds belongs
 * to the region it missed. */
static uint64_t
window_of(const struct box_job *job)
{
    uint64_t window = BOX__WINDOW;

    for (size_t i = 0; i < job->region_count; i++)
        while (window < 2 * (job->regions[i].span + BOX__HUGE))
            window *= 2;
    return window;
}

static int
fd_of(const struct box_region *region)
{
    return region->writable ? region->memory->fd : region->memory->read_only_fd;
}

/* The number of a descriptor in the message; a memory in many regions is sent once. */
static uint32_t
send_fd(int fd, int *fds, size_t *count)
{
    for (size_t i = 2; i < *count; i++)
        if (fds[i] == fd)
            return (uint32_t)i;
    if (*count < BOX__FDS)
        fds[*count] = fd;
    return (uint32_t)(*count)++;
}

static enum status
write_regions(struct box_server *server, const struct box_job *job, int *fds, size_t *fd_count,
              struct box__why *why)
{
    struct box__region *regions = (struct box__region *)(server->table + 1);
    uint64_t window = window_of(job), total = 0;

    if (job->region_count * window > BOX__REGION_LIMIT - BOX__REGION_ADDRESS)
        return box__fault(why, E2BIG, "the regions of the job are too large");
    for (size_t i = 0; i < job->region_count; i++) {
        const struct box_region *region = &job->regions[i];

        assert(region->offset % BOX_PAGE == 0 && region->span % BOX_PAGE == 0 && region->span > 0);
        assert(region->offset + region->span <= region->memory->bytes);
        assert(region->lead + region->bytes <= region->span);
        regions[i] = (struct box__region){
            .fd = send_fd(fd_of(region), fds, fd_count),
            .writable = region->writable,
            .address = BOX__REGION_ADDRESS + i * window + window / 4 + region->offset % BOX__HUGE,
            .offset = region->offset,
            .span = region->span,
        };
        total += region->span;
    }
    if (*fd_count > BOX__FDS)
        return box__fault(why, E2BIG, "the job has too many memories");
    server->table->address_space += total;
    return STATUS_OK;
}

static void
write_args(struct box_server *server, const struct box_job *job)
{
    const struct box__region *regions = box__regions(server->table);
    uint64_t *args = (uint64_t *)(regions + job->region_count);

    for (size_t i = 0; i < job->call_count * job->arg_count; i++) {
        const struct box_arg *arg = &job->args[i];

        assert(arg->region < job->region_count);
        args[i] = regions[arg->region].address + job->regions[arg->region].lead + arg->offset;
    }
}

enum status
box__table_write(struct box_server *server, const struct box_job *job, int *fds, size_t *fd_count,
                 struct box__why *why)
{
    size_t bytes = table_bytes(job);
    enum status status = provide_control(server, bytes, why);
    struct box__table *table = server->table;

    if (status != STATUS_OK)
        return status;
    memset(server->ctl, 0,
           BOX_PAGE); /* all that the last guest could write: no message to the next */
    *table = (struct box__table){
        .bytes = bytes,
        .region_count = (uint32_t)job->region_count,
        .call_count = (uint32_t)job->call_count,
        .arg_count = (uint32_t)job->arg_count,
        .round = (uint32_t)job->round,
        .threads = (uint32_t)job->threads,
        .spin = job->mode == BOX_SPIN,
        .no_clock = job->no_clock,
        .warm = job->warm,
        .address_space = OWN_ADDRESS_SPACE + bytes + job->limits.memory +
                         job->threads * (THREAD_ADDRESS_SPACE + job->limits.stack),
        .memory = job->limits.memory,
        .stack = job->limits.stack,
        .cpu_seconds = (uint64_t)(job->limits.cpu_seconds + 0.999),
        .real_time_us = (uint64_t)(1e6 * (job->limits.wall_seconds + 0.5)),
    };
    snprintf(table->function, sizeof table->function, "%s", job->function);
    fds[0] = job->object;
    fds[1] = server->control;
    *fd_count = 2;
    status = write_regions(server, job, fds, fd_count, why);
    if (status == STATUS_OK)
        write_args(server, job);
    return status;
}
