# The README's transcript: every `$ ./run ...` and `$ cat FILE` in it, done again. Figures that depend on
# the machine are left out of the comparison.
. "${0%/*}/lib.sh"

# What follows the line "$ COMMAND" in the README, up to the next command or text, without the indent.
shown()
{
    awk -v command="    \$ $1" '
        $0 == command { on = 1; next }
        on && (/^    \$ / || /^[^ ]/) { exit }
        on { sub(/^    /, ""); print }
    ' "$ROOT/README.md" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

# Times and what limits them differ from machine to machine.
steady()
{
    sed -e 's/  *[0-9.]* [nmu]*s   .*//' -e 's/   *\([0-9a-f]\{8\}\)$/   \1/' -e '/^  Speed of light/d' -e '/speed of light   limit$/d' "$1"
}

mkdir examples
cp "$ROOT/examples/softmax.op" examples/
shown 'cat examples/softmax.op' >want
check 'the example is what the README shows' 'cmp want examples/softmax.op'
shown 'cat bad.op' >bad.op
check 'the mistakes are shown' '[ -s bad.op ]'

shown './run task examples/softmax.op' >want
steady want >want.steady
expect 'task' 0 "$HONE" task examples/softmax.op
steady out >out.steady
check 'says what the README says' '[ -s want.steady ] && diff want.steady out.steady'

shown './run task examples/softmax.op --eval -o /tmp/out' | sed '$d' >want
expect 'task --eval' 0 "$HONE" task examples/softmax.op --eval -o made
sed '$d' out >out.steady
check 'gives what the README says' '[ -s want ] && diff want out.steady'
check 'and writes its files' '[ -s made/Y.npy ] && [ -s made/Y.tolerance.npy ]'

shown './run task bad.op' >want
expect 'mistakes' 2 "$HONE" task bad.op
check 'are reported as the README shows' '[ -s want ] && diff want err'

# What a search finds differs from run to run: the frame around it does not.
frame()
{
    sed -n -e 's/^softmax  .* of the speed of light  .* naive  .* evaluations, .*/headline/p' \
        -e 's/^  case  *time  *light  *naive  *gain  *limited by$/table/p' \
        -e 's/^  \([a-z]*\) .*[0-9] [mun]*s ±.*/row \1/p' -e '/^  case [a-z]*$/p' -e 's/^  How .*/How/p' \
        -e '/written, stands alone:/p' -e '/^test and time it:/p' -e 's/^run [a-z0-9]*\.$/run/p' "$1"
}
shown './run optimize examples/softmax.op' >want
frame want >want.frame
expect 'optimize' 0 "$HONE" optimize examples/softmax.op --evals 3
frame out >out.frame
check 'answers in the form that the README shows' '[ -s want.frame ] && diff want.frame out.frame'

check 'every file the README names is there' '
    for name in $(grep -o "\`[a-zA-Z_/.]*\.[a-z]*\`" "$ROOT/README.md" | tr -d "\`" | sort -u); do
        case $name in /tmp/* | libhone.h | softmax.c) continue ;; esac
        [ -e "$ROOT/$name" ] || { echo "no $name"; exit 1; }
    done'
finish
