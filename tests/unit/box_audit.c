/* The audit: what objects are refused for, with the name that is to blame; and any bytes at all. */
#include "../box/box_test.h"

#define KERNEL "void kernel(const float *x, float *y) { y[0] = x[0]; }\n"

static const char *const undefined[] = {"memcpy", "memset",    "sqrtf",          "expf",
                                        "GOMP_*", "omp_get_*", "__tls_get_addr", NULL};
static const char *const needed[] = {"libm.so.6", "libc.so.6", "libgomp.so.1",
                                     "ld-linux-x86-64.so.2", NULL};
static const struct box_audit_rules rules = {undefined, needed, box_test_exports};

static bool
audit_text(struct box_test *test, const char *source, struct box_audit *audit)
{
    int object = box_test_object(test, source);
    struct stat facts;
    void *bytes;
    bool passed;

    assert_int_equal(fstat(object, &facts), 0);
    bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_SHARED, object, 0);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    passed = box_audit(bytes, (size_t)facts.st_size, &rules, audit);
    munmap(bytes, (size_t)facts.st_size);
    close(object);
    assert_true(passed == (audit->reason[0] == '\0'));
    return passed;
}

static void
honest_objects_pass(void **state)
{
    static const char *const sources[] = {
        KERNEL,
        "#include <math.h>\n#include <string.h>\n"
        "void kernel(const float *x, float *y) { memcpy(y, x, 1000); y[0] = expf(y[1]); }\n",
        "void kernel(const float *x, float *y) {\n#pragma omp parallel for schedule(dynamic)\n"
        "for (int i = 0; i < 100; i++) y[i] = x[i]; }\n",
        "static float scratch[1 << 20]; static const float *table[] = {scratch, scratch + 4};\n"
        "void kernel(const float *x, float *y) { for (int i = 0; i < 1 << 20; i++)\n"
        "scratch[i] = x[i & 7]; y[0] = table[(int)x[0] & 1][3]; }\n",
        "static _Thread_local float t[16];\nvoid kernel(const float *x, float *y)\n"
        "{ t[(int)x[0] & 15] += x[0]; y[0] = t[3]; }\n",
        "static void inner(float *y) { *y = 1; }\nstatic void (*volatile f)(float *) = inner;\n"
        "void kernel(const float *x, float *y) { f(y); }\n",
    };
    struct box_audit audit;

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        bool passed = audit_text(*state, sources[i], &audit);

        if (!passed)
            print_message("%s\n", audit.reason);
        assert_true(passed);
        assert_true(audit.loaded_bytes > 0);
        if (i == 3)
            assert_true(audit.writable_bytes > 4 << 20);
    }
}

static void
others_are_refused_by_name(void **state)
{
    static const struct {
        const char *source, *reason;
    } cases[] = {
        {"__attribute__((constructor)) static void early(void) { __asm__ volatile(\"\"); "
         "}\n" KERNEL,
         "constructor"},
        {"__attribute__((destructor)) static void late(void) { __asm__ volatile(\"\"); }\n" KERNEL,
         "destructor"},
        {"static void early(void) { __asm__ volatile(\"\"); }\n"
         "__attribute__((section(\".init_array\"), used)) static void (*p)(void) = early;\n" KERNEL,
         "constructor"},
        {"static void go(void) {}\nstatic void (*pick(void))(void) { return go; }\n"
         "static void chosen(void) __attribute__((ifunc(\"pick\")));\n"
         "void kernel(const float *x, float *y) { chosen(); y[0] = x[0]; }\n",
         "indirect"},
        {"__asm__(\".section .note.GNU-stack,\\\"x\\\",@progbits\\n.text\");\n" KERNEL, NULL},
        {"#include <stdlib.h>\nvoid kernel(const float *x, float *y) { y[0] = system(\"\"); }\n",
         "system"},
        {"long syscall(long, ...);\nvoid kernel(const float *x, float *y) { syscall(1); }\n",
         "syscall"},
        {"void *dlopen(const char *, int);\n"
         "void kernel(const float *x, float *y) { dlopen(\"\", 0); }\n",
         "dlopen"},
        {"#include <time.h>\nvoid kernel(const float *x, float *y) { struct timespec t;\n"
         "clock_gettime(0, &t); y[0] = t.tv_nsec; }\n",
         "clock_gettime"},
        {"void colonel(const float *x, float *y) { y[0] = x[0]; }\n", "kernel"},
        {"float kernel[4];\n", "not a function"},
        {"__attribute__((section(\".wx,\\\"awx\\\",@progbits#\"))) void f(void) {}\n" KERNEL,
         "writable and executable"},
        {"void nowhere(void);\nvoid kernel(const float *x, float *y) { nowhere(); }\n", "nowhere"},
    };
    struct box_audit audit;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool passed = audit_text(*state, cases[i].source, &audit);

        if (!cases[i].reason)
            continue; /* the linker's own option has made it harmless: either is right */
        if (passed || !strstr(audit.reason, cases[i].reason))
            print_message("%s: %s\n", cases[i].source, audit.reason);
        assert_false(passed);
        assert_non_null(strstr(audit.reason, cases[i].reason));
    }
}

/* Interposing: whatever else the source defines does not leave the object. */
static void
only_the_wanted_is_shown(void **state)
{
    struct box_audit audit;

    assert_true(audit_text(*state,
                           "int main(void) { return 1; }\nlong write(int a, void *b, long c)\n"
                           "{ return 0; }\n__attribute__((visibility(\"default\"), weak))\n"
                           "void GOMP_parallel(void) {}\n" KERNEL,
                           &audit));
}

/* Cut anywhere, and with any byte changed: refused or passed, never read out of bounds. */
static void
broken_objects(void **state)
{
    struct box_test *test = *state;
    struct box_compile_result result = box_test_compile(test, KERNEL);
    unsigned char *bytes = malloc(result.object_bytes), *copy;
    struct box_audit audit;
    unsigned random = 1;

    assert_non_null(bytes);
    assert_int_equal(pread(result.object, bytes, result.object_bytes, 0), result.object_bytes);
    for (size_t cut = 0; cut < result.object_bytes; cut += cut < 4096 ? 1 : 97) {
        copy = malloc(cut ? cut : 1); /* its own block, so that the sanitizer sees its end */
        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        box_audit(copy, cut, &rules, &audit);
        free(copy);
    }
    for (int i = 0; i < 20000; i++) {
        size_t at;
        unsigned char kept;

        random = random * 1103515245 + 12345;
        at = (random >> 8) % (i % 2 ? 1200 : result.object_bytes);
        kept = bytes[at];
        bytes[at] = (unsigned char)(random >> 3);
        box_audit(bytes, result.object_bytes, &rules, &audit);
        if (i % 7)
            bytes[at] = kept;
    }
    free(bytes);
    close(result.object);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_objects_pass),
        cmocka_unit_test(others_are_refused_by_name),
        cmocka_unit_test(only_the_wanted_is_shown),
        cmocka_unit_test(broken_objects),
    };

    return cmocka_run_group_tests(tests, box_test_setup, box_test_teardown);
}
