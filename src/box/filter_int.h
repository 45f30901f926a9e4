/* System call filters, as programs of the kernel's packet filter, made from tables. */
#ifndef HONE_BOX_FILTER_INT_H
#define HONE_BOX_FILTER_INT_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

enum box__filter {
    BOX__FILTER_LOAD,     /* the runner, while it loads the object */
    BOX__FILTER_RUN,      /* the runner, from before the first instruction of the guest */
    BOX__FILTER_COMPILER, /* everything but what a compiler never needs */
};

enum { BOX__FILTER_MOST = 512 };

struct box__program {
    struct sock_filter code[BOX__FILTER_MOST];
    size_t length;
};

/* `threads`: the guest may make threads (never processes). */
void
box__filter_make(struct box__program *program, enum box__filter filter, bool threads);

/* For this thread and those it starts; 0 or -1 with errno. */
int
box__filter_install(const struct box__program *program);

#endif
