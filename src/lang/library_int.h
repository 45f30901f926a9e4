/* The operator library, the .op files under lib/, and the examples, embedded at build time
 * (generated library.c). */
#ifndef HONE_LANG_LIBRARY_INT_H
#define HONE_LANG_LIBRARY_INT_H

struct library_file {
    const char *path, *text;
};

extern const struct library_file library_files[]; /* ended by a NULL path */
extern const struct library_file example_files[]; /* likewise */

#endif
