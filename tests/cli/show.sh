# hone show, explain, diff, say, add on a run that the builtin search left.
. "${0%/*}/lib.sh"

HONE_ARCHIVE=$PWD/archive.db
export HONE_ARCHIVE
expect 'nothing yet' 0 "$HONE" show
says out 'says how to begin' 'hone optimize FILE.op makes the first'
check 'and makes no archive' '! [ -e archive.db ]'

cat >norm.op <<'END'
op norm
dim R=24, N=200
in X: f32[R,N]
M[r] = mean[j](X[r,j])
Y[r,j] = exp(X[r,j] - M[r])
out Y
case odd R=3 N=37
END
expect 'a run' 0 "$HONE" optimize norm.op --evals 4 -q
run=$(sed -n 's/^run \([a-z0-9]*\).*/\1/p' out)
check 'has a name' '[ -n "$run" ]'

expect 'runs' 0 "$HONE" show
says out 'are listed' "$run   norm   builtin"
says out 'with their state' 'done'
expect 'one of them' 0 "$HONE" show "$run"
says out 'has a title' 'norm  recipe builtin'
says out 'the schedules of a case are one line' 'case default: '
says out 'the file is the best' 'the best kernel of each case, in one file'
check 'it fits 100 columns' "! grep -q '.\{101\}' out"
cp out tree
expect 'its name may be shortened' 0 "$HONE" show "$(echo "$run" | cut -c1-3)"
check 'to the same' 'cmp -s tree out'
expect 'last is a name' 0 "$HONE" show last
check 'of the same' 'cmp -s tree out'
expect 'as JSON' 0 "$HONE" show last --json
check 'is one line' '[ "$(wc -l <out)" -eq 1 ]'
for field in '"run":"' '"task":"norm"' '"recipe":"builtin"' '"candidates":[{"id":"' '"parent":null' \
    '"phase":"default"' '"role":""' '"status":"correct"' '"time_us":' '"why":""' '"calls":[]' \
    '"figures":{"baseline":"naive","attempts":'; do
    says out "it has $field" "$field"
done

expect 'with more to see' 0 "$HONE" show last -v
says out 'it has figures of others' ' kernels that were judged, against naive (doc/metrics.md)'
check 'before what to do next' 'tail -n 1 out | grep -q "hone explain"'

expect 'the best candidate' 0 "$HONE" show last.best
says out 'its cases' '  cases '
says out 'its schedule' '  as '
expect 'its code' 0 "$HONE" show last.best --code
check 'is the file that was written' 'cmp -s out norm.c'
if command -v objdump >/dev/null && [ "$(uname -m)" = x86_64 ]; then
    expect 'its machine code' 0 "$HONE" show last.best --asm
    says out 'is of the first case that was timed' '  case default, hot loop as gcc makes it here'
    check 'its loop ends with a jump, or is cut' 'grep -Eq "^  ([0-9a-f]+: j|[.][.][.] [0-9]+ more)" out'
    check 'and is short' '[ "$(grep -c "^  [0-9a-f]*: " out)" -le 40 ]'
    says out 'figures have their meaning' 'spills = '
    expect 'of one that was drafted for another case' 0 "$HONE" show last.2 --asm --json
    says out 'it is of that case' '"case":"odd"'
    says out 'with figures' '"figures":{'
fi
expect 'but not of a run' 2 "$HONE" show last --asm
says err 'which has many' 'write hone show last.best --asm'
expect 'its verdict' 0 "$HONE" show last.best --verdict
says out 'as the judge said it' '{"status":"correct"'
expect 'its prompt' 2 "$HONE" show last.best --prompt
says err 'there is none' 'was not proposed by a model'

expect 'explain' 0 "$HONE" explain last
says out 'has a title' 'How norm came to '
says out 'numbers its sentences' '1   The limit is '
says out 'tells of each case' 'Case odd: builtin reached '
says out 'tells what the schedule does' 'does this:'
says out 'names what was given' 'was judged as a whole: correct'
expect 'explain a candidate' 0 "$HONE" explain last.0
says out 'says where it came from' ', as schedule 1 of case default: '

expect 'diff' 0 "$HONE" diff last.0 last.1
says out 'has both' '+ '"$run"'.1  correct'
expect 'diff with a file' 0 "$HONE" diff last.best norm.c
says out 'that is the same' 'the kernels are the same, byte for byte'
expect 'diff with nothing' 2 "$HONE" diff last.best nothing.c

expect 'say to a run that is done' 2 "$HONE" say last 'try more'
says err 'says so' "$run is done and listens no more"
expect 'add to it' 2 "$HONE" add last norm.c
says err 'says what to do' '--start norm.c'

expect 'find' 0 "$HONE" show --find 'best kernel'
says out 'finds by rationale' "$run."
expect 'find nothing' 1 "$HONE" show --find xyzzy
expect 'no such run' 2 "$HONE" show zz9z
expect 'another archive' 0 "$HONE" show --archive other.db
says out 'is empty' '0 of 0 runs'
expect 'an option of a candidate' 2 "$HONE" show last --code
says err 'says what to write' 'write hone show last.best --code'

# the pager is only for people
PAGER='cat >paged' expect 'a pager' 0 "$HONE" show last
check 'is not used in a pipe' '! [ -e paged ] && cmp -s tree out'
if command -v script >/dev/null; then
    TERM=xterm PAGER='cat >paged' script -qec "'$HONE' show last" /dev/null >out 2>err
    check 'but on a terminal' 'cmp -s tree paged'
fi
finish
