/* Memory that both sides have: one file in memory, as large as the last message needs. */
#include "bridge/process_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

void *
bridge__memory(struct bridge__process *process, size_t bytes)
{
    if (process->base != NULL)
        munmap(process->base, process->bytes);
    process->base = NULL;
    /* allocated now: to run out later would be a signal, not an answer */
    if (ftruncate(process->memory, 0) != 0 ||
        posix_fallocate(process->memory, 0, (off_t)bytes) != 0)
        return NULL;
    process->base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, process->memory, 0);
    process->bytes = bytes;
    if (process->base == MAP_FAILED)
        process->base = NULL;
    return process->base;
}

/* By reading, not by a mapping: a file that is cut short meanwhile is an answer, not a signal. */
bool
bridge__take(struct bridge__process *process, size_t offset, void *bytes, size_t count)
{
    size_t done = 0;
    while (done < count) {
        ssize_t got =
            pread(process->memory, (char *)bytes + done, count - done, (off_t)(offset + done));
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}
