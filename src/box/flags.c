/* Which options of a compiler may be given. The jail would hold without this: it is here so that a
 * flag does what its giver thinks, and nothing else. */
#include "box/box.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

static const char *const allowed[] = {"-O", "-f", "-m",        "-std=",    "-W",       "-D",
                                      "-U", "-g", "-pedantic", "-pthread", "--param=", NULL};

/* Of those, what loads code, names a file or reaches another program. */
static const char *const refused[] = {"-fplugin",
                                      "-fprofile",
                                      "-fauto-profile",
                                      "-fdump",
                                      "-fsave-optimization-record",
                                      "-fcompare-debug",
                                      "-flto",
                                      "-fuse-linker-plugin",
                                      "-fuse-ld",
                                      "-fbranch-probabilities",
                                      "-fworking-directory",
                                      "-fdebug-prefix-map",
                                      "-ffile-prefix-map",
                                      "-fmacro-prefix-map",
                                      "-fdiagnostics-format",
                                      "-fdirectives-only",
                                      "-fpch",
                                      "-fcallgraph-info",
                                      "-fmodule",
                                      "-fstack-usage",
                                      "-fcoverage",
                                      "-ftest-coverage",
                                      "-finstrument",
                                      "-fpatchable",
                                      "-fvtable",
                                      "-fsplit-stack",
                                      "-fconcepts-diagnostics",
                                      "-foffload",
                                      "-fsanitize",
                                      "-fintegrated",
                                      "-fno-integrated",
                                      "-fload",
                                      "-fpass-plugin",
                                      "-Wl,",
                                      "-Wa,",
                                      "-Wp,",
                                      "-gsplit-dwarf",
                                      "-grecord",
                                      "-mrecord",
                                      "-mllvm",
                                      NULL};

static bool
begins_with_one_of(const char *text, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (text_starts(text, *prefixes))
            return true;
    return false;
}

/* A macro's value may be any printable text; every other option is plain. */
static bool
plain(const char *flag)
{
    bool macro = text_starts(flag, "-D");

    for (; *flag; flag++)
        if (macro ? !isprint((unsigned char)*flag)
                  : !isalnum((unsigned char)*flag) && !strchr("-_=+.,", *flag))
            return false;
    return true;
}

bool
box_flag_allowed(const char *flag)
{
    return strcmp(flag, "-w") == 0 ||
           (strlen(flag) < 256 && plain(flag) && begins_with_one_of(flag, allowed) &&
            !begins_with_one_of(flag, refused) && strcmp(flag, "-f") != 0 &&
            strcmp(flag, "-m") != 0 && strcmp(flag, "-D") != 0 && strcmp(flag, "-U") != 0);
}
