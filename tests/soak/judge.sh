# The judge for hours: every kernel of tests/evil and tests/honest ten times in a row, as root also as an
# ordinary user, and ten thousand verdicts that must leave nothing behind. Repeats until SOAK_SECONDS are
# over, at least once.
set -eu

end=$(($(date +%s) + SOAK_SECONDS))
ROOT=$(pwd)
HOME=$(mktemp -d)
trap 'rm -rf "$HOME"' EXIT
export ROOT HOME
unset XDG_CACHE_HOME

while :; do
    for round in 1 2 3 4 5 6 7 8 9 10; do
        for name in judge_evil judge_honest; do
            if ! "$OUT/tests/unit/$name" >"$HOME/log" 2>&1; then
                grep -e '^#' -e FAILED "$HOME/log"
                echo "$name failed in round $round"
                exit 1
            fi
        done
    done
    HONE_SOAK_VERDICTS=10000 "$OUT/tests/unit/judge_faults" >"$HOME/log" 2>&1 || {
        tail "$HOME/log"
        exit 1
    }
    [ "$(date +%s)" -lt "$end" ] || break
done
echo 'judge: nothing found'
