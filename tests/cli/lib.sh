# Helpers of the shell tests. A test begins with
#
#     . "${0%/*}/lib.sh"
#
# and is then in an empty folder of its own. $HONE is the program, $ROOT the project's folder.

HONE=${HONE:-$(cd "${0%/*}/../.." && pwd)/build/release/hone}
ROOT=${ROOT:-$(cd "${0%/*}/../.." && pwd)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cd "$scratch" || exit 3
failures=0

pass()
{
    echo "ok - $1"
}

fail()
{
    echo "not ok - $1"
    failures=$((failures + 1))
}

# Shows a file as TAP comments.
quote()
{
    [ ! -s "$1" ] || sed 's/^/#   /' "$1"
}

# run COMMAND...: its output in the files out and err, its exit code in $code.
run()
{
    code=0
    "$@" >out 2>err </dev/null || code=$?
}

# check NAME COMMAND: COMMAND, a line of shell, must succeed.
check()
{
    if (eval "$2") >check.log 2>&1; then
        pass "$1"
    else
        fail "$1"
        echo "# failed: $2"
        quote check.log
    fi
}

# expect NAME CODE COMMAND...: the command must end with that exit code; then see out and err.
expect()
{
    name=$1 wanted=$2
    shift 2
    run "$@"
    if [ "$code" -eq "$wanted" ]; then
        pass "$name"
    else
        fail "$name"
        echo "# exit code $code, not $wanted: $*"
        quote out
        quote err
    fi
}

# says FILE NAME TEXT: the file must contain the text.
says()
{
    if grep -qF -e "$3" "$1"; then
        pass "$2"
    else
        fail "$2"
        echo "# $1 does not contain: $3"
        quote "$1"
    fi
}

# is_text FILE NAME TEXT: the file must be exactly that text and a newline.
is_text()
{
    printf '%s\n' "$3" >wanted.txt
    if cmp -s wanted.txt "$1"; then
        pass "$2"
    else
        fail "$2"
        diff wanted.txt "$1" | sed 's/^/#   /'
    fi
}

# An operator that serves every size, in the file any.op.
make_any_op()
{
    cat >any.op <<'END'
op anysize
dim any R=24, N=200
in X: f32[R,N]
M[r] = mean[j](X[r,j])
Y[r,j:N] = (X[r,j-1 | 0] - M[r]) * (1/sqrt(N))
out Y
END
}

# pretend_torch ARCHIVE BENCH REASON: as if PyTorch had been measured beside its correct tasks; for
# that reason one of its builds did not work for the last of them.
pretend_torch()
{
    sqlite3 "$1" "
        CREATE TEMP TABLE done AS SELECT t.* FROM bench_task t JOIN bench b ON b.id = t.bench
            WHERE b.name = '$2' AND t.status = 'correct';
        CREATE TEMP TABLE build (ordinal, name, build, factor);
        INSERT INTO build VALUES (100, 'torch', 'eager', 2), (101, 'torch.eager', 'eager', 2),
            (102, 'torch.aot', 'aot', 3), (103, 'torch.as shipped', 'as shipped', 6);
        UPDATE bench SET against = 'torch,naive' WHERE name = '$2';
        INSERT INTO bench_baseline SELECT d.bench, d.place, ordinal, b.name, build, factor * time_us,
            factor * low_us, factor * high_us, factor, factor * 0.9, factor * 1.1 FROM done d, build b;
        UPDATE bench_baseline SET build = '$3', time_us = NULL, low_us = NULL, high_us = NULL,
            speedup = NULL, speedup_low = NULL, speedup_high = NULL
            WHERE bench = (SELECT min(bench) FROM done) AND name = 'torch.aot'
            AND place = (SELECT max(place) FROM done);"
}

# The last line of a test.
finish()
{
    [ "$failures" -eq 0 ]
    exit
}
