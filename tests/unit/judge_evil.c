/* Every kernel in tests/evil gets the verdict it names, as root and as an ordinary user. */
#include "../judge/fixtures.h"

int
main(int argc, char **argv)
{
    return box_test_as_nobody(fixtures_run("tests/evil", argc > 1 ? argv[1] : NULL));
}
