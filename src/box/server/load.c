/* Loading the object, and whose fault it is when that fails.
 *
 * What the object asks for is known from its headers before it is loaded. So an object that is too
 * large is refused by that number alone, and when the loader finds no memory for one that is not,
 * the memory that is missing is ours. */
#include "box/server/server_int.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The addresses its segments take, as the loader will reserve them; 0 if that cannot be told. */
static uint64_t
span_of(int fd)
{
    uint64_t low = UINT64_MAX, high = 0;
    ElfW(Ehdr) head;
    ElfW(Phdr) header;

    if (pread(fd, &head, sizeof head, 0) != sizeof head || head.e_phentsize != sizeof header)
        return 0;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        if (pread(fd, &header, sizeof header, (off_t)(head.e_phoff + i * sizeof header)) !=
            sizeof header)
            return 0;
        if (header.p_type != PT_LOAD)
            continue;
        if (header.p_vaddr < low)
            low = header.p_vaddr;
        if (header.p_vaddr + header.p_memsz > high)
            high = header.p_vaddr + header.p_memsz;
    }
    return high > low ? high - low : 0;
}

/* The loader's words are all there is: it does not leave an error number, though some of its words
 * end with the text of one. No others are about memory: segments of an audited object that is not
 * too large can be mapped wherever there is memory, and "cannot allocate memory in static TLS
 * block" is about the object. */
static bool
lacks_memory(const char *words)
{
    const char *error = strerror(ENOMEM);
    size_t length = strlen(words), tail = strlen(error);

    return strstr(words, "failed to map segment") || strcmp(words, "out of memory") == 0 ||
           (length >= tail && strcmp(words + length - tail, error) == 0);
}

static enum box__stage
refuse(struct loading *loading)
{
    const char *words = dlerror();
    bool ours = !words || lacks_memory(words);

    errno = 0;
    snprintf(loading->text, sizeof loading->text, "%s%s",
             ours ? "no memory to load the object: " : "", words ? words : "not even for words");
    return ours ? BOX__STAGE_MEMORY : BOX__STAGE_LOAD;
}

enum box__stage
load_object(struct loading *loading)
{
    uint64_t span = span_of(loading->fd);
    void *handle;

    if (span > loading->memory) {
        snprintf(loading->text, sizeof loading->text,
                 "it takes %llu KB with its static data; the limit is %llu KB",
                 (unsigned long long)span >> 10, (unsigned long long)loading->memory >> 10);
        return BOX__STAGE_LOAD;
    }
    handle = dlopen(loading->path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return refuse(loading);
    loading->function = dlsym(handle, loading->name);
    return loading->function ? BOX__STAGE_NONE : refuse(loading);
}
