/* Words of C that a size, a tuned number or a parameter cannot be called. */
#include "target/target_int.h"

#include <string.h>

/* Families of macros in <stdint.h>, <math.h> and <stdlib.h> are told by their ends: INT_LEAST8_MAX,
 * UINT64_C, M_PI, FP_NAN, HUGE_VALF. */
static bool
is_standard_macro(const char *name)
{
    static const char *const begin[] = {"INT",  "UINT", "PTRDIFF", "SIZE", "WCHAR",
                                        "WINT", "SIG_", "RAND",    "MB_"};
    static const char *const whole[] = {"M_", "FP_", "HUGE_VAL", "MATH_", "EXIT_"};
    size_t length = strlen(name);
    bool limit =
        length > 4 && (!strcmp(name + length - 4, "_MAX") || !strcmp(name + length - 4, "_MIN"));

    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (!strncmp(name, begin[i], strlen(begin[i])) &&
            (limit || !strcmp(name + length - 2, "_C")))
            return true;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (!strncmp(name, whole[i], strlen(whole[i])))
            return true;
    return false;
}

bool
target__c_taken(const char *name)
{
    static const char *const words[] = {
        "BIG_ENDIAN",    "BYTE_ORDER",
        "FD_SETSIZE",    "HONE",
        "INFINITY",      "LITTLE_ENDIAN",
        "NAN",           "NFDBITS",
        "NULL",          "PDP_ENDIAN",
        "WCONTINUED",    "WEXITED",
        "WNOHANG",       "WNOWAIT",
        "WSTOPPED",      "WUNTRACED",
        "alignas",       "alignof",
        "asm",           "auto",
        "bf16",          "bf16_of_f32",
        "bool",          "break",
        "case",          "char",
        "const",         "continue",
        "default",       "do",
        "double",        "else",
        "enum",          "extern",
        "f32_of_bf16",   "false",
        "float",         "for",
        "goto",          "if",
        "inline",        "int",
        "kernel",        "linux",
        "long",          "math_errhandling",
        "register",      "restrict",
        "return",        "short",
        "signed",        "sizeof",
        "static",        "static_assert",
        "struct",        "switch",
        "thread_local",  "true",
        "typedef",       "typeof",
        "union",         "unix",
        "unsigned",      "void",
        "volatile",      "while",
        "constexpr",     "nullptr",
        "typeof_unqual",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(name, words[i]))
            return true;
    return is_standard_macro(name);
}
