/* What npy.c shares with file.c. */
#ifndef HONE_BASE_FILE_INT_H
#define HONE_BASE_FILE_INT_H

#include "base/diag.h"
#include "base/status.h"

struct file_part {
    const void *bytes;
    size_t count;
};

/* file_write() of several pieces one after another. */
enum status
file__write_parts(const char *path, const struct file_part *parts, size_t count,
                  struct diags *diags);

#endif
