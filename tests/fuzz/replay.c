/* Gives each file named as an argument to a fuzz target: what fuzzing once found stays found. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static int
replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long count;
    int failed = 1;

    if (!file || fseek(file, 0, SEEK_END) != 0 || (count = ftell(file)) < 0)
        goto out;
    rewind(file);
    bytes = malloc((size_t)count); /* exactly, so that reading beyond the end is noticed */
    if (count > 0 && (!bytes || fread(bytes, (size_t)count, 1, file) != 1))
        goto out;
    LLVMFuzzerTestOneInput(bytes, (size_t)count);
    failed = 0;
out:
    if (failed)
        fprintf(stderr, "%s: cannot be read\n", path);
    free(bytes);
    if (file)
        fclose(file);
    return failed;
}

int
main(int argc, char **argv)
{
    int failed = argc < 2;

    for (int i = 1; i < argc; i++) {
        printf("# %s\n", argv[i]);
        fflush(stdout); /* so that a crash shows which one it was */
        failed |= replay(argv[i]);
    }
    return failed;
}
