# help, version, overview, manual page, completion, and what happens to a wrong command line.
. "${0%/*}/lib.sh"

expect 'hone alone shows what it can do' 0 "$HONE"
says out 'its name and version' 'hone 0.1  finds fast kernels and proves that they are right'
says out 'an example' 'hone task examples/softmax.op'
says out 'the verbs' 'Start:   new  task  fmt'
says out 'the exit codes' 'Exit codes: 0 yes, 1 no, 2 your input, 3 this machine.'
check 'nothing on stderr' '[ ! -s err ]'
cp out overview
expect 'hone help is the same' 0 "$HONE" help
check 'the same text' 'cmp -s overview out'
expect 'so is -h' 0 "$HONE" -h
check 'the same text again' 'cmp -s overview out'

for verb in task fmt help version; do
    expect "help $verb" 0 "$HONE" help "$verb"
    says out "help $verb: names the verb" "hone $verb"
    says out "help $verb: global options" '-q, --quiet'
    cp out "help.$verb"
    expect "$verb -h" 0 "$HONE" "$verb" -h
    check "$verb -h is the same text" "cmp -s help.$verb out"
    check "help $verb fits 100 columns" "! grep -q '.\{101\}' help.$verb"
done
says help.task 'options of task' '--case NAME[,NAME]'

expect 'version' 0 "$HONE" version
is_text out 'version: the text' 'hone 0.1'
expect '--version' 0 "$HONE" --version
is_text out '--version: the text' 'hone 0.1'
expect 'version --json' 0 "$HONE" version --json
is_text out 'version --json: the text' '{"name":"hone","version":"0.1"}'

expect 'help --man' 0 "$HONE" help --man
says out 'a title line' '.TH HONE 1'
says out 'every verb has a section' '.SS hone fmt'
says out 'options are in it' '\-\-emit\-reference'
check 'no line of it is an unknown request' "! grep '^[.]' out | grep -vE '^[.](TH|SH|SS|TP|PP|B|I)\\b'"
if command -v groff >/dev/null; then
    check 'groff accepts it' 'groff -man -Tascii -ww out >man.txt 2>man.err && [ ! -s man.err ]'
fi

expect 'help --completion' 0 "$HONE" help --completion
if command -v bash >/dev/null; then
    cp out completion
    check 'bash reads it' 'bash -n completion'
    bash -c '. ./completion; COMP_WORDS=(hone ta); COMP_CWORD=1; _hone 2>/dev/null
        echo "${COMPREPLY[*]}"
        COMP_WORDS=(hone task --ex); COMP_CWORD=2; _hone 2>/dev/null
        echo "${COMPREPLY[*]}"' >completed 2>&1
    check 'it completes verbs and options' 'printf "task\n--expand\n" | cmp - completed'
fi

# wrong NAME TEXT ARGUMENT...: exit code 2, the text on stderr, nothing on stdout.
wrong()
{
    name=$1 text=$2
    shift 2
    expect "$name" 2 "$HONE" "$@"
    says err "$name: what to do" "$text"
    check 'nothing on stdout' '[ ! -s out ]'
}

wrong 'a mistyped verb' 'tsak: no such verb; did you mean hone task?' tsak x.op
wrong 'an unknown verb' 'xyzzy: no such verb; `hone` alone lists them' xyzzy
wrong 'help of an unknown verb' 'did you mean hone task?' help taks
wrong 'a mistyped option' '--exapnd: no such option; did you mean --expand?' task x.op --exapnd
wrong 'an unknown option' '--xyzzy: no such option; `hone help task` lists them' task x.op --xyzzy
wrong 'an unknown letter' '-x: no such option' task x.op -x
wrong 'an option before the verb' '--expand: no such option' --expand task x.op
wrong 'a missing value' '--case: NAME[,NAME] is missing' task x.op --case
wrong 'a value for a flag' '--expand=yes: takes no value; write --expand' task x.op --expand=yes
wrong 'an option twice' 'given twice' task x.op --seed 1 --seed 2 --eval
wrong 'a missing operand' 'hone task: FILE.op is missing; write hone task FILE.op' task
wrong 'one operand too many' 'b.op: one too many' task a.op b.op
wrong 'a colour that is none' '--color blue: write never, always or auto' version --color=blue
wrong 'two forms at once' 'write one of them' task x.op --expand --eval
wrong 'an option of --eval' '--inputs belongs to --eval; write --eval too' task x.op --inputs d
wrong '-o without --eval' '-o belongs to --eval; write --eval too' task x.op -o d

expect 'global options may stand first' 0 "$HONE" --json version
is_text out 'and count' '{"name":"hone","version":"0.1"}'
expect 'letters together' 0 "$HONE" -qvv version

if [ -e /dev/full ]; then
    code=0
    "$HONE" help >/dev/full 2>err || code=$?
    check 'a full disk is exit code 3' "[ $code -eq 3 ]"
    says err 'and is said' 'stdout: cannot be written'
fi
code=0
"$HONE" help >&- 2>err || code=$?
check 'a closed stdout is exit code 3' "[ $code -eq 3 ]"
{
    code=0
    sleep 0.2
    "$HONE" help 2>pipe.err || code=$?
    echo "$code" >pipe.code
} | true
check 'a reader that left is exit code 3' '[ "$(cat pipe.code)" = 3 ]'
check 'without a word' '[ ! -s pipe.err ]'
finish
