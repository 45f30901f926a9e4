#include "base/log.h"
#include "unit.h"

#include <stdlib.h>

struct screen {
    char text[4096];
    FILE *stream;
};

static int
open_screen(void **state)
{
    struct screen *screen = calloc(1, sizeof *screen);

    unsetenv("NO_COLOR");
    unsetenv("CLICOLOR_FORCE");
    setenv("COLUMNS", "40", 1);
    screen->stream = fmemopen(screen->text, sizeof screen->text, "w");
    *state = screen;
    return screen->stream ? 0 : -1;
}

static int
close_screen(void **state)
{
    struct screen *screen = *state;

    fclose(screen->stream);
    free(screen);
    return 0;
}

static const char *
shown(struct screen *screen)
{
    fflush(screen->stream);
    return screen->text;
}

/* A log as on a terminal; memory is none. */
static struct log
terminal(struct screen *screen)
{
    struct log log = log_create(screen->stream, LOG_NORMAL, LOG_COLOUR_NEVER);

    log.terminal = true;
    log.last = 0;
    return log;
}

static void
levels_decide_what_is_said(void **state)
{
    struct screen *screen = *state;

    for (int level = LOG_QUIET; level <= LOG_DEBUG; level++) {
        struct log log = log_create(screen->stream, (enum log_level)level, LOG_COLOUR_AUTO);

        assert_false(log.terminal || log.colour);
        log_warning(&log, "w%d", level);
        log_hint(&log, "h%d", level);
        log_detail(&log, "d%d", level);
        log_progress(&log, NULL, 0, "p", true);
    }
    assert_string_equal(shown(screen), "warning: w0\nhint: h0\np\n"
                                       "warning: w1\nhint: h1\nd1\np\n"
                                       "warning: w2\nhint: h2\nd2\np\n");
}

static void
in_a_pipe_only_news_come_at_once(void **state)
{
    struct screen *screen = *state;
    struct log log = log_create(screen->stream, LOG_NORMAL, LOG_COLOUR_AUTO);

    log_progress(&log, NULL, 0, "early", false);
    log_progress(&log, NULL, 0, "news", true);
    log_progress(&log, NULL, 0, "soon", false);
    log.last -= 31;
    log_progress(&log, NULL, 0, "later", false);
    log_progress(&log, NULL, 0, "again", false);
    log_progress(&log, NULL, 0, NULL, true);
    log_progress_done(&log);
    assert_string_equal(shown(screen), "news\nlater\n");
}

static void
on_a_terminal_the_block_is_redrawn(void **state)
{
    struct screen *screen = *state;
    struct log log = terminal(screen);

    log_progress(&log, (const char *[]){"one", "two"}, 2, "plain", false);
    log_progress(&log, (const char *[]){"too soon"}, 1, "plain", false);
    log_progress(&log, (const char *[]){"three"}, 1, "plain", true);
    log_warning(&log, "noise");
    log_progress(&log, (const char *[]){"four"}, 1, "plain", false);
    log_progress_done(&log);
    log_progress_done(&log);
    assert_string_equal(shown(screen), "one\ntwo\n"
                                       "\r\033[2A\033[Jthree\n"
                                       "\r\033[1A\033[Jwarning: noise\n"
                                       "four\n"
                                       "\r\033[1A\033[J");
}

/* A line that wraps would leave rubbish above the block when it is wiped. */
static void
lines_are_cut_to_the_width(void **state)
{
    struct screen *screen = *state;
    struct log log = terminal(screen);
    const char *const lines[] = {
        "123456789012345678901234567890123456789012345",
        "ääääääääääääääääääääääääääääääääääääääääääää",
        "\033[31m1234567890\033[0m12345678901234567890123456789012345",
    };

    log_progress(&log, lines, 3, NULL, true);
    assert_string_equal(shown(screen), "1234567890123456789012345678901234567890\n"
                                       "ääääääääääääääääääääääääääääääääääääääää\n"
                                       "\033[31m1234567890\033[0m123456789012345678901234567890\n");
}

static void
at_most_nine_lines_are_shown(void **state)
{
    struct screen *screen = *state;
    struct log log = terminal(screen);
    const char *const lines[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"};

    log_progress(&log, lines, 11, NULL, true);
    assert_int_equal(log.shown, 9);
    assert_string_equal(shown(screen), "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
}

static void
colour_follows_flag_and_environment(void **state)
{
    struct screen *screen = *state;

    assert_false(log_colour_for(screen->stream, LOG_COLOUR_AUTO));
    assert_true(log_colour_for(screen->stream, LOG_COLOUR_ALWAYS));
    setenv("CLICOLOR_FORCE", "1", 1);
    assert_true(log_colour_for(screen->stream, LOG_COLOUR_AUTO));
    assert_false(log_colour_for(screen->stream, LOG_COLOUR_NEVER));
    setenv("NO_COLOR", "1", 1);
    assert_false(log_colour_for(screen->stream, LOG_COLOUR_AUTO));
    assert_true(log_colour_for(screen->stream, LOG_COLOUR_ALWAYS));
    setenv("NO_COLOR", "", 1);
    setenv("CLICOLOR_FORCE", "0", 1);
    assert_false(log_colour_for(screen->stream, LOG_COLOUR_AUTO));
}

static void
warnings_are_yellow(void **state)
{
    struct screen *screen = *state;
    struct log log = log_create(screen->stream, LOG_NORMAL, LOG_COLOUR_ALWAYS);

    log_warning(&log, "w");
    assert_string_equal(shown(screen), "\033[33mwarning: \033[0mw\n");
}

#define SCREEN_TEST(function) cmocka_unit_test_setup_teardown(function, open_screen, close_screen)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCREEN_TEST(levels_decide_what_is_said),
        SCREEN_TEST(in_a_pipe_only_news_come_at_once),
        SCREEN_TEST(on_a_terminal_the_block_is_redrawn),
        SCREEN_TEST(lines_are_cut_to_the_width),
        SCREEN_TEST(at_most_nine_lines_are_shown),
        SCREEN_TEST(colour_follows_flag_and_environment),
        SCREEN_TEST(warnings_are_yellow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
