/* What the tests of targets share: programs from text or file, gcc. */
#ifndef HONE_TESTS_TARGET_UNIT_H
#define HONE_TESTS_TARGET_UNIT_H

#include "scratch.h"

#include "base/file.h"
#include "base/proc.h"
#include "lang/lang.h"
#include "target/target.h"

#define SMALL "dim R=4, N=10\nin X: f32[R,N]\nY[r] = sum[j](X[r,j])\nout Y\n"

static inline const struct program *
program_of(struct unit *unit, const char *text)
{
    struct lang *lang = lang_parse(unit->arena, "test.op", text, strlen(text), unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;

    if (!program)
        fail_msg("%s", unit_printed(unit, false));
    return program;
}

static inline const struct target *
cpu(void)
{
    const struct target *target = target_find("cpu");

    assert_non_null(target);
    return target;
}

/* A kernel that must be accepted. */
static inline struct target_kernel
kernel_of(struct unit *unit, const struct program *program, const char *text)
{
    struct target_kernel kernel;
    struct target_fault fault;

    if (!target_read(unit->arena, cpu(), program, text, strlen(text), &kernel, &fault))
        fail_msg("line %u: %s", fault.line, fault.message);
    return kernel;
}

/* gcc with these arguments, the source on its standard input; its exit code, what it says in *err.
 */
static inline int
gcc_run(struct unit *unit, const char *const *arguments, const char *source, const char **err)
{
    const char *argv[128] = {"gcc"};
    size_t count = 1;
    struct proc_result result;

    while (*arguments && count < 125)
        argv[count++] = *arguments++;
    argv[count++] = "-xc";
    argv[count++] = "-";
    struct proc_request request = {
        .argv = argv, .input = source, .input_length = strlen(source), .seconds = 120};
    assert_int_equal(proc_run(unit->arena, &request, &result), STATUS_OK);
    *err = result.err;
    return result.exit_code;
}

/* The target's own arguments with some more in front. */
static inline const char *const *
arguments_with(struct unit *unit, const struct target_kernel *kernel, const char *const *more)
{
    const char *const *own = target_arguments(unit->arena, cpu(), kernel, NULL);
    const char **argv = arena_array(unit->arena, 128, sizeof *argv);
    size_t count = 0;

    while (*more)
        argv[count++] = *more++;
    while (*own && count < 120)
        argv[count++] = *own++;
    return argv;
}

static inline const char *
source_of(struct unit *unit, const struct program *program, const struct target_kernel *kernel)
{
    struct buf buf = buf_in(unit->arena);

    target_source(&buf, cpu(), program, "k.c", kernel);
    return buf.data;
}

/* For a test that is run by hand in the project's folder; before it moves to a folder of its own.
 */
static inline void
remember_project(void)
{
    char *folder = getcwd(NULL, 0);

    if (folder)
        setenv("ROOT", folder, 0);
    free(folder);
}

/* A path below the project's folder. */
static inline const char *
project(struct unit *unit, const char *path)
{
    return arena_printf(unit->arena, "%s/%s", getenv("ROOT"), path);
}

static inline void
write_text(struct unit *unit, const char *path, const char *text)
{
    assert_int_equal(file_write(path, text, strlen(text), unit->diags), STATUS_OK);
}

/* Runs a program that must succeed; its output. */
static inline const char *
ran(struct unit *unit, const char *const *argv)
{
    struct proc_request request = {.argv = argv, .seconds = 120};
    struct proc_result result;

    assert_int_equal(proc_run(unit->arena, &request, &result), STATUS_OK);
    if (result.exit_code != 0)
        fail_msg("%s: exit code %d\n%s%s", argv[0], result.exit_code, result.out, result.err);
    return result.out;
}

/* gcc accepts prelude and kernel without a warning. */
static inline void
compiles(struct unit *unit, const struct program *program, const char *text)
{
    static const char *const more[] = {"-fsyntax-only",         "-Wall", "-Wextra", "-Werror",
                                       "-Wno-unused-parameter", NULL};
    struct target_kernel kernel = kernel_of(unit, program, text);
    const char *err;

    if (gcc_run(unit, arguments_with(unit, &kernel, more), source_of(unit, program, &kernel), &err))
        fail_msg("%s, case %s:\n%s", program->name, program->case_name, err);
}

/* The prototype with a body. */
static inline const char *
trivial(struct unit *unit, const struct program *program)
{
    struct buf buf = buf_in(unit->arena);

    cpu()->signature(&buf, program);
    buf_puts(&buf, "\n{\n}\n");
    return buf.data;
}

#endif
