# The runner of the tests: what it must count as a failure, and what not.
. "${0%/*}/lib.sh"

mkdir -p p/tests/cli p/tests/unit p/tests/fuzz/corpus/f p/build/tests/unit p/build/tests/fuzz
cp "$ROOT/tests/run-tests" p/tests/

# with NAME LAST CODE SCRIPT: a project whose one test is that script.
with()
{
    rm -f p/tests/cli/* p/tests/unit/*
    printf '%s\n' "$4" >p/tests/cli/t.sh
    TEST_SECONDS=1 expect "$1" "$3" sh p/tests/run-tests p/build
    tail -n 1 out >last
    is_text last "$1: counts" "$2"
}

rmdir p/tests/fuzz/corpus/f
with 'success' '2 passed, 0 failed' 0 'echo "ok - a"; echo "ok - b"'
with 'failure' '1 passed, 1 failed' 1 'echo "ok - a"; echo "not ok - b"; echo "# why not"; exit 1'
says out 'what a failed test said is shown' '# why not'
with 'a crash' '1 passed, 1 failed' 1 'echo "ok - a"; kill -SEGV $$'
with 'no end' '1 passed, 1 failed' 1 'echo "ok - a"; sleep 20'
says out 'the time limit is named' 'no end after 1 s'
with 'no test' '0 passed, 1 failed' 1 'true'
with 'an early end' '1 passed, 1 failed' 1 'echo 1..3; echo "ok 1 - a"'
with 'a skipped test' '1 passed, 0 failed' 0 'echo 1..2; echo "ok 1 - a"; echo "not ok 2 # SKIP b"'

# A unit test whose program was not built, and a corpus that makes its program fail.
with 'before' '1 passed, 0 failed' 0 'echo "ok - a"'
touch p/tests/unit/u.c
expect 'a missing program is a failure' 1 sh p/tests/run-tests p/build
printf '#!/bin/sh\necho 1..1\necho ok 1 - u\n' >p/build/tests/unit/u
chmod +x p/build/tests/unit/u
expect 'a program that is there is run' 0 sh p/tests/run-tests p/build
tail -n 1 out >last
is_text last 'its tests are counted' '2 passed, 0 failed'
mkdir p/tests/fuzz/corpus/f
echo bad >p/tests/fuzz/corpus/f/1
printf '#!/bin/sh\n! grep -q bad "$@"\n' >p/build/tests/fuzz/fuzz_f
chmod +x p/build/tests/fuzz/fuzz_f
expect 'a corpus that crashes is a failure' 1 sh p/tests/run-tests p/build
echo good >p/tests/fuzz/corpus/f/1
expect 'a corpus that does not is none' 0 sh p/tests/run-tests p/build
rm -r p/tests/fuzz/corpus/f p/tests/cli/* p/tests/unit/*
expect 'nothing to run is a failure' 1 sh p/tests/run-tests p/build
is_text out 'and says so' '0 passed, 0 failed'
finish
