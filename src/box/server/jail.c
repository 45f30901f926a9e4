/* Building a jail.
 *
 * clone3() with every namespace there is; the parent, still outside, writes the maps of user and
 * group ids, then only waits. The child makes an empty tmpfs its root, lays into it what the guest
 * may read, moves in with pivot_root, lets go of the old root and of every capability.
 *
 * Root maps to ids that nobody has, so that limits on processes bind and no file belongs to the
 * guest; an ordinary user can only map itself. Where user namespaces are forbidden (a chroot, a
 * container) root does the same without one and changes to such an id. Where nothing of this is
 * allowed, the jail has no walls of its own: the caller is told by jail->features, and system call
 * filter, Landlock and limits are what remains.
 *
 * Order matters: folders that only the caller may enter (the cache) are opened as mounts before the
 * change of user id, everything in the new root is made after it. */
#include "box/server/server_int.h"

#include "box/box.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GUEST_ID = 1987000000, GUEST_IDS = 65536 }; /* beyond what distributions hand out */
enum { FOLDERS = 8 };

#define BIT(feature) (1u << BOX_##feature)

static int
fail(struct jail *jail, const char *what)
{
    int error = errno;

    snprintf(jail->text, sizeof jail->text, "%s", what);
    errno = error;
    return -1;
}

/* Outside: the parent. */

int
jail_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t written;

    if (fd < 0)
        return -1;
    written = write(fd, text, strlen(text));
    close(fd);
    return written == (ssize_t)strlen(text) ? 0 : -1;
}

static int
write_map(pid_t child, const char *name, unsigned id, unsigned count)
{
    char path[64], text[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)child, name);
    snprintf(text, sizeof text, "0 %u %u", id, count);
    return jail_write(path, text);
}

/* Unused ids where root may map them, else our own alone. */
static int
write_maps(pid_t child)
{
    char path[64];

    if (geteuid() == 0 && write_map(child, "uid_map", GUEST_ID, GUEST_IDS) == 0)
        return write_map(child, "gid_map", GUEST_ID, GUEST_IDS);
    snprintf(path, sizeof path, "/proc/%d/setgroups", (int)child);
    if (jail_write(path, "deny") != 0 || write_map(child, "uid_map", geteuid(), 1) != 0)
        return -1;
    return write_map(child, "gid_map", getegid(), 1);
}

/* What is left to do outside: end as the jail ends. */
static _Noreturn void
wait_outside(pid_t child)
{
    int status;

    close_range(0, ~0u, 0);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

void
jail_kill(const struct jail *jail, int leader)
{
    if ((jail->features & BIT(PIDNS)) && getpid() == 1)
        kill(-1, SIGKILL); /* all of the namespace but us */
    else
        kill(-leader, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
}

static int
remove_one(const char *path, const struct stat *facts, int type, struct FTW *walk)
{
    (void)facts, (void)type, (void)walk;
    return remove(path);
}

void
jail_remove(const char *folder)
{
    if (chdir("/") == 0)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

int
jail_limit(int resource, uint64_t value, uint64_t hard)
{
    struct rlimit wanted = {value, hard};

    return setrlimit((__rlimit_resource_t)resource, &wanted);
}

/* Inside. */

/* A mount of `path` that is not yet laid anywhere. */
static int
open_mount(const char *path)
{
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID};
    int fd = (int)syscall(SYS_open_tree, AT_FDCWD, path,
                          OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

    if (fd < 0)
        return -1;
    if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &read_only,
                sizeof read_only) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int
lay_mount(int fd, const char *place)
{
    return (int)syscall(SYS_move_mount, fd, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH);
}

static int
lay_folder(const char *path, const char *place)
{
    int fd = open_mount(path), result;

    if (fd < 0)
        return -1;
    result = mkdir(place, 0755) != 0 && errno != EEXIST ? -1 : lay_mount(fd, place);
    close(fd);
    return result;
}

/* A folder of the system as it is there: a link stays a link, what is missing stays missing. */
static int
lay_system_folder(const char *name)
{
    char path[32], target[256];
    struct stat facts;
    ssize_t length;

    snprintf(path, sizeof path, "/%s", name);
    if (lstat(path, &facts) != 0)
        return errno == ENOENT ? 0 : -1;
    if (!S_ISLNK(facts.st_mode))
        return S_ISDIR(facts.st_mode) ? lay_folder(path, name) : 0;
    length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return -1;
    target[length] = '\0';
    return symlink(target, name);
}

static int
lay_device(const char *path)
{
    int fd = (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    int made, result;

    if (fd < 0)
        return 0; /* compilers do without it */
    made = mkdir("dev", 0755) == 0 || errno == EEXIST
               ? open(path + 1, O_CREAT | O_WRONLY | O_CLOEXEC, 0666)
               : -1;
    result = made < 0 ? -1 : lay_mount(fd, path + 1);
    if (made >= 0)
        close(made);
    close(fd);
    return result;
}

static int
lay_tools(struct jail *jail)
{
    static const char *const folders[] = {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"};

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (lay_system_folder(folders[i]) != 0)
            return fail(jail, "the toolchain cannot be laid into the jail");
    if (lay_device("/dev/null") != 0)
        return fail(jail, "/dev/null cannot be laid into the jail");
    return 0;
}

/* The folders of the jail, opened; closed by lay_folders(). */
static int
open_folders(struct jail *jail, int *fds)
{
    for (size_t i = 0; jail->folders && jail->folders[i]; i++)
        if (i == FOLDERS || (fds[i] = open_mount(jail->folders[i])) < 0)
            return fail(jail, "a folder that the program needs cannot be opened");
    return 0;
}

/* mkdir -p below the working folder, which is to be the root. */
static int
make_place(const char *path)
{
    char part[4096];

    for (const char *end = path + 1; *end; end++) {
        size_t length = strcspn(end, "/");

        end += length;
        snprintf(part, sizeof part, "%.*s", (int)(end - path - 1), path + 1);
        if (mkdir(part, 0755) != 0 && errno != EEXIST)
            return -1;
        if (!*end)
            break;
    }
    return 0;
}

/* A file to read as it is there; what is missing stays missing. */
static int
lay_file(const char *path)
{
    char folder[256];
    int fd = open_mount(path), made = -1, result;

    if (fd < 0)
        return 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (make_place(folder) == 0)
        made = open(path + 1, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);
    result = made < 0 ? -1 : lay_mount(fd, path + 1);
    if (made >= 0)
        close(made);
    close(fd);
    return result;
}

static int
lay_processor(void)
{
    static const char *const files[] = {JAIL_PROCESSOR};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (lay_file(files[i]) != 0)
            return -1;
    return 0;
}

static int
lay_folders(struct jail *jail, const int *fds)
{
    if (jail->folders && lay_device("/dev/urandom") != 0)
        return fail(jail, "/dev/urandom cannot be laid into the jail");
    if (jail->folders && lay_processor() != 0)
        return fail(jail, "what the processor is cannot be laid into the jail");
    for (size_t i = 0; jail->folders && jail->folders[i]; i++) {
        if (make_place(jail->folders[i]) != 0 || lay_mount(fds[i], jail->folders[i] + 1) != 0)
            return fail(jail, "a folder that the program needs cannot be laid into the jail");
        close(fds[i]);
    }
    return 0;
}

/* Some folder that exists, to lay the new root on; nobody outside sees it. */
static const char *
mount_place(void)
{
    static const char *const places[] = {"/tmp", "/mnt", "/var", "/usr"};
    struct stat facts;

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (stat(places[i], &facts) == 0 && S_ISDIR(facts.st_mode))
            return places[i];
    return "/";
}

/* pivot_root() needs the present root to be a mount, which a chroot is not. */
static int
move_in(void)
{
    if (syscall(SYS_pivot_root, ".", ".") == 0)
        return umount2(".", MNT_DETACH) == 0 ? chdir("/") : -1;
    return chroot(".") == 0 ? chdir("/") : -1;
}

static int
make_root(struct jail *jail, int cache, const int *folders)
{
    char options[64];
    const char *place = mount_place();

    snprintf(options, sizeof options, "size=%llu,mode=755", (unsigned long long)jail->bytes);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("box", place, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0 || chdir(place) != 0)
        return fail(jail, "an empty file system cannot be mounted");
    if (jail->tools && lay_tools(jail) != 0)
        return -1;
    if (cache >= 0 && (mkdir("cache", 0755) != 0 || lay_mount(cache, "cache") != 0))
        return fail(jail, "the precompiled header cannot be laid into the jail");
    if (lay_folders(jail, folders) != 0)
        return -1;
    /* a folder laid before may lie in /tmp */
    if ((mkdir("tmp", 0777) != 0 && errno != EEXIST) || chmod("tmp", 0777) != 0 ||
        mkdir("job", 0777) != 0 || chmod("job", 0777) != 0)
        return fail(jail, "folders cannot be made in the jail");
    return move_in() == 0 ? 0 : fail(jail, "the root of the jail cannot be entered");
}

/* Root outside: groups away, then an id that nobody has. With a user namespace these are ids of
 * it, and 0 is needed until the root is made. */
static int
change_ids(unsigned id)
{
    if (setgroups(0, NULL) != 0 && errno != EPERM)
        return -1;
    return setresgid(id, id, id) == 0 ? setresuid(id, id, id) : -1;
}

static int
inside(struct jail *jail, bool mapped_many)
{
    int cache = -1, folders[FOLDERS];

    if (open_folders(jail, folders) != 0)
        return -1;
    if (jail->cache && (cache = open_mount(jail->cache)) < 0)
        return fail(jail, "the folder of the precompiled header cannot be opened");
    if ((jail->features & BIT(USERNS)) && change_ids(0) != 0)
        return fail(jail, "root of the user namespace cannot be taken");
    if (make_root(jail, cache, folders) != 0)
        return -1;
    if (cache >= 0)
        close(cache);
    if ((jail->features & BIT(USERNS)) ? mapped_many && change_ids(1) != 0
                                       : change_ids(GUEST_ID) != 0)
        return fail(jail, "the user id cannot be changed");
    return jail_drop() == 0 ? 0 : fail(jail, "capabilities cannot be dropped");
}

/* No namespaces: at least another user, where we are root. */
static int
without_walls(struct jail *jail)
{
    if (geteuid() == 0 && change_ids(GUEST_ID) != 0)
        return fail(jail, "the user id cannot be changed");
    return jail_drop() == 0 ? 0 : fail(jail, "capabilities cannot be dropped");
}

int
jail_drop(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};

    for (int cap = 0; cap < 64; cap++)
        prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); /* those that exist, where we may */
    if (syscall(SYS_capset, &header, none) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return 0;
}

static uint64_t
space_flags(bool user)
{
    uint64_t flags =
        CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET | CLONE_NEWCGROUP;

    return user ? flags | CLONE_NEWUSER : flags;
}

static uint32_t
space_features(bool user)
{
    return BIT(MOUNTNS) | BIT(PIDNS) | BIT(IPCNS) | BIT(UTSNS) | BIT(NETNS) |
           (user ? BIT(USERNS) : 0);
}

/* The child, or -1. The pipe tells it when its maps are written, and dies with us. */
static pid_t
spawn_inside(struct jail *jail, bool user)
{
    struct clone_args args = {.flags = space_flags(user), .exit_signal = SIGCHLD};

    jail->features = space_features(user);
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

static bool
try_spaces(struct jail *jail, bool user, pid_t *child, int gate[2])
{
    if (pipe2(gate, O_CLOEXEC) != 0)
        return false;
    *child = spawn_inside(jail, user);
    if (*child >= 0)
        return true;
    close(gate[0]);
    close(gate[1]);
    return false;
}

/* 'm': many ids are mapped, 'o': only our own; anything else: the parent failed. */
static char
maps_written(pid_t child, bool user)
{
    if (!user)
        return 'o';
    if (write_maps(child) != 0)
        return 'x';
    return geteuid() == 0 ? 'm' : 'o';
}

static int
child_side(struct jail *jail, int gate[2])
{
    char word = 'x';

    close(gate[1]);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || read(gate[0], &word, 1) != 1 || word == 'x') {
        errno = EPERM;
        return fail(jail, "the ids of the user namespace cannot be mapped");
    }
    close(gate[0]);
    if (inside(jail, word == 'm') != 0)
        return -1;
    /* Changing ids clears it. If the parent went before this line, the socket's end tells. */
    return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int
jail_enter(struct jail *jail)
{
    bool spaces = !(jail->without & BIT(MOUNTNS));
    bool user = spaces && !(jail->without & BIT(USERNS));
    int gate[2];
    pid_t child;
    char word;

    jail->features = 0;
    if (!(user && try_spaces(jail, true, &child, gate))) {
        user = false;
        if (!(spaces && geteuid() == 0 && try_spaces(jail, false, &child, gate))) {
            jail->features = 0;
            return without_walls(jail);
        }
    }
    if (child == 0)
        return child_side(jail, gate);
    close(gate[0]);
    word = maps_written(child, user);
    if (write(gate[1], &word, 1) != 1)
        kill(child, SIGKILL);
    close(gate[1]);
    wait_outside(child);
}
