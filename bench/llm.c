/* llm SERVER [CALLS]: so many calls in flight at once in one process, against the slow server of
 * the tests: how many were open at the same moment, how long all took, how much memory it needed.
 */
#include "llm/llm.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const double seconds_a_call = 1; /* the server sends 20 words, one every 50 ms */

/* Starts the server; its port, and the pipe that it lives by. */
static int
start_server(const char *path, const char *log)
{
    int in[2], out[2];
    char line[32] = "";

    if (pipe(in) != 0 || pipe(out) != 0)
        return 0;
    if (fork() == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        execl(path, path, log, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    return read(out[0], line, sizeof line - 1) > 0 ? atoi(line) : 0;
}

static double
megabytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* The largest number of connections that the server saw at once. */
static long
most_at_once(const char *log)
{
    FILE *file = fopen(log, "r");
    char line[4096];
    long most = 0, now;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "ok slow chat %ld", &now) == 1 && now > most)
            most = now;
    if (file)
        fclose(file);
    return most;
}

static size_t
ask_all(struct llm *llm, const struct llm_model *model, size_t calls, struct diags *diags)
{
    static char prompt[20000];
    const struct llm_message message = {LLM_USER, prompt};
    struct llm_request request = {
        .model = model, .messages = &message, .message_count = 1, .temperature = NAN};
    struct llm_call *call;
    size_t good = 0;

    memset(prompt, 'p', sizeof prompt - 1);
    for (size_t i = 0; i < calls; i++)
        if (llm_submit(llm, &request, &call, diags) != STATUS_OK)
            return 0;
    for (size_t done = 0; done < calls; done++) {
        while (llm_wait(llm, 1) == 0)
            continue;
        call = llm_next_done(llm);
        good += llm_result(call)->record.outcome == LLM_OK && llm_result(call)->text_length == 100;
        llm_call_free(call);
    }
    return good;
}

int
main(int argc, char **argv)
{
    size_t calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 200;
    char log[] = "/tmp/hone-bench-XXXXXX";
    int port = argc > 1 && mkstemp(log) >= 0 ? start_server(argv[1], log) : 0;
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    struct llm_options options = {.parallel = (unsigned)calls};
    const struct llm_model *model;
    struct llm *llm = NULL;

    if (port == 0) {
        fprintf(stderr, "llm SERVER [CALLS]: the server does not start\n");
        return 3;
    }
    if (llm_open(&options, &llm, diags) != STATUS_OK ||
        llm_model_find(llm, arena_printf(arena, "openai:m@http://127.0.0.1:%d/slow/v1", port),
                       &model, diags) != STATUS_OK) {
        diags_print(diags, stderr, false);
        return 3;
    }
    double before = megabytes(), start = clock_seconds();
    size_t good = ask_all(llm, model, calls, diags);
    double seconds = clock_seconds() - start;
    printf("  %zu calls of %.0f s each: %zu whole, %ld open at once, %.2f s in all (%.1fx one)\n",
           calls, seconds_a_call, good, most_at_once(log), seconds, seconds / seconds_a_call);
    printf("  memory: %.1f MB, %.1f of them for the calls (aim: 200 MB)\n", megabytes(),
           megabytes() - before);
    llm_close(llm);
    arena_destroy(arena);
    unlink(log);
    return good == calls ? 0 : 1;
}
