/* Any bytes as an object: refused with a reason, or passed. */
#include "box/box.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const undefined[] = {"mem*", "sqrtf", "GOMP_*", NULL};
    static const char *const needed[] = {"libm.so.6", "libc.so.6", "libgomp.so.1", NULL};
    static const char *const exports[] = {"kernel", NULL};
    struct box_audit_rules rules = {undefined, needed, exports};
    struct box_audit audit;
    bool passed = box_audit(bytes, count, &rules, &audit);

    assert(passed == (audit.reason[0] == '\0'));
    assert(memchr(audit.reason, 0, sizeof audit.reason));
    if (passed)
        assert(audit.loaded_bytes >= audit.writable_bytes && audit.loaded_bytes > 0);
    return 0;
}
