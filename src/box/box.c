/* Opening a box: where hone-box is, and what this machine can close. */
#include "box/box_int.h"

#include "base/fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROBE_SECONDS = 30 };

static const struct {
    const char *name, *open;
} features[] = {
#define BOX_FEATURE_ROW(id, name, open) {name, open},
    BOX_FEATURES(BOX_FEATURE_ROW)
#undef BOX_FEATURE_ROW
};

const char *
box_feature_name(enum box_feature feature)
{
    return features[feature].name;
}

const char *
box_level_name(enum box_level level)
{
    static const char *const names[] = {"none", "partial", "full"};

    return names[level];
}

/* Finding hone-box. */

static bool
try_path(struct box *box, const char *folder, const char *rest)
{
    int length = snprintf(box->program, sizeof box->program, "%s%s", folder, rest);

    return length > 0 && (size_t)length < sizeof box->program && access(box->program, X_OK) == 0;
}

static bool
find_program(struct box *box)
{
    static const char *const usual[] = {"/usr/local/libexec/hone", "/usr/libexec/hone"};
    const char *named = getenv("HONE_BOX");
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (named && *named)
        return try_path(box, named, "");
    if (length > 0) {
        self[length] = '\0';
        slash = strrchr(self, '/');
        *slash = '\0';
        if (try_path(box, self, "/hone-box") || try_path(box, self, "/../libexec/hone/hone-box"))
            return true;
    }
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (try_path(box, usual[i], "/hone-box"))
            return true;
    return false;
}

/* Probing. */

static bool
has(const struct box *box, enum box_feature feature)
{
    return box->machine.features >> feature & 1;
}

static enum box_level
level_of(const struct box *box)
{
    if (!has(box, BOX_SECCOMP) || !has(box, BOX_PIDFD))
        return BOX_NONE;
    return has(box, BOX_MOUNTNS) && has(box, BOX_PIDNS) && has(box, BOX_NETNS) ? BOX_FULL
                                                                               : BOX_PARTIAL;
}

static void
name_missing(struct box *box)
{
    for (int i = 0; i < BOX_FEATURE_COUNT; i++) {
        if (has(box, (enum box_feature)i))
            continue;
        snprintf(box->missing[i], sizeof box->missing[i], "no %s: %s", features[i].name,
                 features[i].open);
        box->machine.missing[i] = box->missing[i];
    }
}

static enum status
probe(struct box *box, struct box__why *why)
{
    struct box__order order = {.verb = BOX__PROBE};
    struct box__process process;
    struct box__probed probed;
    enum status status = box__start(box, &order, NULL, NULL, 0, NULL, &process, why);

    if (status != STATUS_OK)
        return status;
    status = box__answer_of(&process, &probed, sizeof probed, sizeof probed, NULL, 0, NULL,
                            PROBE_SECONDS, why);
    box__stop(&process);
    if (status != STATUS_OK)
        return status;
    box->machine.features = probed.features & ~box->options.without;
    /* They come together or not at all, and only root can do without a user namespace. */
    if (!has(box, BOX_MOUNTNS) || (!has(box, BOX_USERNS) && geteuid() != 0))
        box->machine.features &= ~(1u << BOX_USERNS | 1u << BOX_MOUNTNS | 1u << BOX_PIDNS |
                                   1u << BOX_NETNS | 1u << BOX_IPCNS | 1u << BOX_UTSNS);
    box->machine.landlock_abi = has(box, BOX_LANDLOCK) ? probed.landlock_abi : 0;
    box->nproc_counts = probed.nproc_counts;
    return STATUS_OK;
}

enum status
box_open(const struct box_options *options, struct box **result, struct diags *diags)
{
    struct box *box = fault_hit(FAULT_ALLOC) ? NULL : calloc(1, sizeof *box);
    struct box__why why = {{0}};
    enum status status = STATUS_OK;

    *result = NULL;
    if (!box)
        return box__report(box__fault(&why, ENOMEM, "no box"), &why, diags);
    if (options)
        box->options = *options;
    if (!find_program(box))
        status = box__fault(&why, 0, "hone-box is missing; build it, or name it in HONE_BOX");
    if (status == STATUS_OK)
        status = probe(box, &why);
    if (status != STATUS_OK) {
        free(box);
        return box__report(status, &why, diags);
    }
    box->machine.level = level_of(box);
    box->machine.root = geteuid() == 0;
    box->machine.program = box->program;
    name_missing(box);
    *result = box;
    return STATUS_OK;
}

void
box_close(struct box *box)
{
    free(box);
}

const struct box_machine *
box_machine(const struct box *box)
{
    return &box->machine;
}

uint32_t
box__without(const struct box *box)
{
    return ~box->machine.features;
}
