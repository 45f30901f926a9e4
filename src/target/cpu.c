/* cpu: one C file, built by gcc, called in the box. */
#include "target/target_int.h"

/* Alignment is fixed because where a loop happens to begin moves its time by 10 % and more. */
static const char *const defaults[] = {
    "-O2",      "-ftree-vectorize", "-fvect-cost-model=dynamic", "-march=native",
    "-fopenmp", "-fno-math-errno",  "-falign-functions=64",      "-falign-loops=32",
    NULL,
};

/* -g1: a crash is told by its line. -DNDEBUG: assert() would need a symbol that is not allowed.
 * -U, -fno-stack-protector: some distributions switch on what calls symbols that are not allowed.
 * -Werror=...: a name that does not exist is told by its line, not as a symbol that is missing. */
static const char *const service[] = {
    "-std=gnu17",
    "-fPIC",
    "-g1",
    "-DNDEBUG",
    "-U_FORTIFY_SOURCE",
    "-fno-stack-protector",
    "-Werror=implicit-function-declaration",
    "-fmax-errors=20",
    "-fdiagnostics-color=never",
    NULL,
};

/* No start files: nothing but the kernel's own text can then ask for code at load time. */
static const char *const linking[] = {
    "-shared", "-nostartfiles", "-fopenmp", "-Wl,-z,now,-z,relro,-z,noexecstack", "-lm", NULL,
};

/* Slow to read: <immintrin.h> alone takes gcc a third of a second. */
static const char *const known_headers[] = {"immintrin.h", "x86intrin.h", NULL};

static const struct target_file files[] = {{"hone.h", target__hone_h}, {0}};

/* A size becomes a macro: it must not be one already, nor a word of C. */
static const char *
supports(struct arena *arena, const struct program *program)
{
    for (size_t i = 0; i < program->dim_count; i++)
        if (target__c_taken(program->dims[i].name))
            return arena_printf(arena,
                                "dim %s has a name that means something else in C; "
                                "call it otherwise",
                                program->dims[i].name);
    for (size_t i = 0; i < program->const_count; i++)
        if (target__c_taken(program->const_names[i]))
            return arena_printf(arena,
                                "const %s has a name that means something else in C; "
                                "call it otherwise",
                                program->const_names[i]);
    return NULL;
}

const struct target target__cpu = {
    .name = "cpu",
    .summary = "one C file, built by gcc for this machine, with OpenMP",
    .suffix = ".c",
    .entry = "kernel",
    .runner = TARGET_RUNNER_NATIVE,
    .limits = {.text_bytes = (size_t)4 << 20,
               .scratch_bytes = (size_t)1 << 30,
               .stack_bytes = (size_t)1 << 20,
               .alignment = 64},
    .compiler = "gcc",
    .defaults = defaults,
    .service = service,
    .linking = linking,
    .flags = target__cpu_flags,
    .symbols = target__cpu_symbols,
    .supports = supports,
    .headers = target__cpu_headers,
    .known_headers = known_headers,
    .files = files,
    .prelude = target__cpu_prelude,
    .signature = target__cpu_signature,
    .read = target__read_c,
    .explain = target__cpu_explain,
    .contract = target__cpu_contract,
};
