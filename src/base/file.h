/* Files and folders. */
#ifndef HONE_BASE_FILE_H
#define HONE_BASE_FILE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/status.h"

/* Reads a whole regular file of at most `limit` bytes; the text is followed by a zero byte.
 * No such file, a folder, too large: STATUS_INPUT and a message that says what to do
 * ("softmax.op: no such file; did you mean examples/softmax.op?" where that one exists). */
enum status
file_read(struct arena *arena, const char *path, size_t limit, struct source *source,
          struct diags *diags);

/* Writes to a temporary name beside `path` and renames: all or nothing. */
enum status
file_write(const char *path, const void *bytes, size_t count, struct diags *diags);

/* mkdir -p */
enum status
file_make_folder(const char *path, struct diags *diags);

/* $XDG_CACHE_HOME/hone or ~/.cache/hone or, without a home, /tmp/hone-UID; created (mode 700).
 * NULL if it cannot be. */
const char *
file_cache_folder(struct arena *arena);

/* The same for what is to be kept: $XDG_DATA_HOME/hone or ~/.local/share/hone. */
const char *
file_data_folder(struct arena *arena);

/* $XDG_CONFIG_HOME/hone or ~/.config/hone, which need not exist; NULL without a home. */
const char *
file_config_folder(struct arena *arena);

/* "dir/name"; `name` alone if it is absolute or dir is empty. */
char *
file_join(struct arena *arena, const char *folder, const char *name);

/* What stands before the last '/', "." if there is none. */
char *
file_folder_of(struct arena *arena, const char *path);

#endif
