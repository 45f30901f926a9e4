/* What a kernel for cpu may leave to the libraries: memory, mathematics, OpenMP. Nothing that can
 * open, wait, start, map or tell the time; and no omp_get_wtime(), since only the judge has a
 * clock. */
#include "target/target_int.h"

const struct target_symbols target__cpu_symbols[] = {
    {.what = "memcpy memmove memset memcmp memchr malloc calloc realloc free aligned_alloc "
             "posix_memalign abort",
     .names = "memcpy memmove memset memcmp memchr malloc calloc realloc free aligned_alloc "
              "posix_memalign abort"},
    {.what = "everything of <math.h>",
     .names =
         "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 "
         "exp10 expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint "
         "llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter "
         "nexttoward pow remainder remquo rint round roundeven scalbln scalbn sin sincos sinh "
         "sqrt tan tanh tgamma trunc j0 j1 jn y0 y1 yn",
     .suffixes = "fl"},
    {.what = "everything of <complex.h>",
     .names =
         "cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow "
         "cproj creal csin csinh csqrt ctan ctanh",
     .suffixes = "fl"},
    {.what = "the vector forms of these that gcc calls", .names = "_ZGV*"},
    {.what = "omp_get_... (but no clock), omp_set_..., and locks",
     .names = "omp_get_thread_num omp_get_num_threads omp_get_max_threads omp_get_num_procs "
              "omp_in_parallel omp_get_level omp_get_active_level omp_get_max_active_levels "
              "omp_get_ancestor_thread_num omp_get_team_size omp_get_num_teams omp_get_team_num "
              "omp_get_thread_limit omp_get_dynamic omp_get_schedule omp_get_proc_bind "
              "omp_set_num_threads omp_set_dynamic omp_set_schedule omp_set_max_active_levels "
              "omp_init_lock omp_set_lock omp_unset_lock omp_test_lock omp_destroy_lock "
              "omp_init_nest_lock omp_set_nest_lock omp_unset_nest_lock omp_test_nest_lock "
              "omp_destroy_nest_lock"},
    {.what = "what gcc makes of OpenMP and of thread-local variables",
     .names =
         "GOMP_parallel* GOMP_loop_* GOMP_barrier* GOMP_critical_* GOMP_atomic_* GOMP_single_* "
         "GOMP_sections* GOMP_ordered_* GOMP_doacross_* GOMP_scope_start GOMP_task* "
         "GOMP_cancel* GOMP_workshare_* GOMP_teams_reg GOMP_alloc GOMP_free __tls_get_addr "
         "strlen"},
    {0},
};
