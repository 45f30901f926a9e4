# hone fmt: in place, from stdin, --check; and what it writes means the same.
. "${0%/*}/lib.sh"

cat >ugly.op <<'END'
op   ugly   # a name
dim N=4,M   = 3
in X:f32[ N,M ]
Y[i,j]=X[i,j]*2+1      # twice, and one
out Y
END
cp ugly.op kept.op
"$HONE" task ugly.op --json >before.json

expect '--check finds it' 1 "$HONE" fmt --check ugly.op
is_text out 'and names it' 'ugly.op'
check 'but changes nothing' 'cmp -s ugly.op kept.op'
expect 'stdin to stdout' 0 sh -c '"$1" fmt - <ugly.op' sh "$HONE"
cp out formatted.op
expect 'in place' 0 "$HONE" fmt ugly.op
check 'the same text' 'cmp -s ugly.op formatted.op'
check 'nothing on stdout' '[ ! -s out ]'
check 'it changed' '! cmp -s ugly.op kept.op'
says ugly.op 'comments are kept' '# twice, and one'
expect 'a second time' 0 "$HONE" fmt ugly.op
check 'nothing changes' 'cmp -s ugly.op formatted.op'
expect '--check is content' 0 "$HONE" fmt --check ugly.op
"$HONE" task ugly.op --json >after.json
check 'its meaning is the same' 'cmp before.json after.json'

printf 'Y[i = 3\n' >broken.op
cp kept.op ugly.op
expect 'a file that does not parse' 2 "$HONE" fmt broken.op ugly.op
says err 'is told' 'broken.op:1:'
check 'and stays as it is' '[ "$(cat broken.op)" = "Y[i = 3" ]'
check 'the others are formatted' 'cmp -s ugly.op formatted.op'
expect 'no such file' 2 "$HONE" fmt nowhere.op

for file in "$ROOT"/examples/*.op "$ROOT"/lib/*.op; do
    name=${file#"$ROOT"/}
    cp "$file" copy.op
    expect "$name can be formatted" 0 "$HONE" fmt copy.op
    expect "$name: formatted once and for all" 0 "$HONE" fmt --check copy.op
done
finish
