/* Landlock: the second lock on files, and the only one where there are no namespaces. */
#include "box/server/server_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The headers may be older than the kernel; what it does not know it refuses, so the ABI decides.
 */
#define FS_ABI1 ((1ull << 13) - 1)
#define FS_REFER (1ull << 13)
#define FS_TRUNCATE (1ull << 14)
#define FS_IOCTL (1ull << 15)
#define FS_READ \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_FILE_WRITE (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE)

struct ruleset {
    uint64_t files, network, scopes;
};

int
landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    return abi > 0 ? (int)abi : 0;
}

/* A descriptor of a ruleset that handles whatever this kernel can. */
static int
create(uint64_t *files)
{
    int abi = landlock_abi();
    struct ruleset all = {FS_ABI1, 3, 3};
    size_t size = abi >= 6 ? sizeof all : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);

    if (abi == 0) {
        errno = ENOSYS;
        return -1;
    }
    all.files |=
        (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) | (abi >= 5 ? FS_IOCTL : 0);
    *files = all.files;
    return (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
}

static int
restrict_self(int ruleset)
{
    int result = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);

    close(ruleset);
    return result;
}

int
landlock_deny_all(void)
{
    uint64_t files;
    int ruleset = create(&files);

    return ruleset < 0 ? -1 : restrict_self(ruleset);
}

/* What does not exist, or is closed to us anyhow, needs no rule. */
static int
add(int ruleset, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access};
    int result;

    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return errno == ENOENT || errno == EACCES ? 0 : -1;
    result = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return result;
}

static bool
is_folder(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

int
landlock_allow(const char *const *readable, const char *const *writable)
{
    uint64_t files;
    int ruleset = create(&files);

    if (ruleset < 0)
        return -1;
    for (; *readable; readable++)
        if (add(ruleset, *readable,
                is_folder(*readable) ? FS_READ : LANDLOCK_ACCESS_FS_READ_FILE) != 0)
            goto out;
    for (; *writable; writable++)
        if (add(ruleset, *writable, files) != 0)
            goto out;
    if (add(ruleset, "/dev/null", FS_FILE_WRITE) != 0)
        goto out;
    return restrict_self(ruleset);
out:
    close(ruleset);
    return -1;
}
