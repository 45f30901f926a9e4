/* Every kernel in tests/evil gets the verdict it names. */
#include "../judge/fixtures.h"

int
main(int argc, char **argv)
{
    return fixtures_run("tests/evil", argc > 1 ? argv[1] : NULL);
}
