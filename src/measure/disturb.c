/* Who else had the core: what the kernel tells about waiting, stolen time and other processes. */
#include "measure/measure_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISTURBED_SHARE 0.01

bool
measure__read(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t count = fread(text, 1, size - 1, file);
    text[count] = 0;
    fclose(file);
    return count > 0;
}

bool
measure_parse_schedstat(const char *text, struct measure_schedstat *stat)
{
    return sscanf(text, "%" SCNu64 " %" SCNu64, &stat->run_ns, &stat->wait_ns) == 2;
}

bool
measure_read_schedstat(pid_t thread, struct measure_schedstat *stat)
{
    char path[64] = "/proc/thread-self/schedstat", text[128];
    if (thread != 0)
        snprintf(path, sizeof path, "/proc/%ld/schedstat", (long)thread);
    return measure__read(path, text, sizeof text) && measure_parse_schedstat(text, stat);
}

bool
measure_disturbed(const struct measure_schedstat *before, const struct measure_schedstat *after,
                  double sample_ns)
{
    return (double)(after->wait_ns - before->wait_ns) > DISTURBED_SHARE * sample_ns;
}

/* cpu user nice system idle iowait irq softirq steal guest guest_nice; guest is in user already. */
bool
measure_parse_stat(const char *text, struct measure_ticks_of *ticks)
{
    uint64_t part[8] = {0};
    if (sscanf(text,
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &part[0], &part[1], &part[2], &part[3], &part[4], &part[5], &part[6], &part[7]) < 4)
        return false;
    *ticks = (struct measure_ticks_of){.idle = part[3] + part[4], .steal = part[7]};
    for (unsigned i = 0; i < 8; i++)
        ticks->all += part[i];
    return true;
}

/* A name may hold blanks and parentheses: it ends at the last one. */
bool
measure_parse_process(const char *text, struct measure_busy *process)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    uint64_t user, system;
    int used = 0;
    if (open == NULL || close == NULL || close < open)
        return false;
    *process = (struct measure_busy){.pid = (pid_t)strtol(text, NULL, 10)};
    snprintf(process->name, sizeof process->name, "%.*s", (int)(close - open - 1), open + 1);
    /* state, fields 4 to 13, utime, stime, fields 16 to 38, processor */
    if (sscanf(close + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64 " %n",
               &user, &system, &used) != 2)
        return false;
    process->ticks = user + system;
    const char *rest = close + 1 + used;
    for (unsigned field = 16; field < 39 && rest != NULL; field++)
        rest = (rest = strchr(rest, ' ')) ? rest + 1 : NULL;
    process->cpu = rest ? atoi(rest) : -1;
    return true;
}
