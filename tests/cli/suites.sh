# The folders of suites/: their lists, and what each task's text must hold. tests/unit/suite_tasks.c
# parses all of them, tests/unit/suite_torch.c compares them with PyTorch.
. "${0%/*}/lib.sh"

suites=$(cd "$ROOT/suites" && find . -name LIST | sed 's|^\./||; s|/LIST$||' | sort)

# What is wrong with a list, a line each: "# COMMENT" or "NUMBER FILE [MARK ...]", numbers rising.
faults_of_list()
{
    awk '
    /^#/ { next }
    NF < 2 || $1 !~ /^[1-9][0-9]*$/ { print "not NUMBER FILE: " $0; next }
    $1 + 0 <= last { print "not rising: " $0 }
    { last = $1 + 0 }
    $2 != sprintf("%03d", $1) substr($2, 4) || $2 !~ /^[0-9]+_[a-z0-9_]+\.op$/ { print "name: " $0 }
    {
        for (i = 3; i <= NF; i++)
            if ($i != "wasteful" && $i != "constant" && $i != "smaller")
                print "mark: " $0
    }' "$1"
}

# What is wrong with the files of a list: a sentence first, a case small, `smaller` said in both places.
faults_of_files()
{
    awk '!/^#/' "$1/LIST" | while read -r _ file marks; do
        text=$1/$file
        sed '1{/^# KernelBench /d}' "$text" | head -1 | grep -q '^# .*[.]$' ||
            echo "no comment first: $file"
        grep -q '^case small .*check$' "$text" || echo "no case small: $file"
        said=no
        if grep -qE '^# smaller:( [A-Z][A-Za-z0-9]*=[0-9]+)+$' "$text"; then
            said=yes
        fi
        case " $marks " in
        *' smaller '*) [ $said = yes ] || echo "no line # smaller: $file" ;;
        *) [ $said = no ] || echo "smaller, but not in LIST: $file" ;;
        esac
    done
}

# The tasks of KernelBench's level $2 begin with its own names for them.
faults_of_names()
{
    awk '!/^#/' "$1/LIST" | while read -r number file _; do
        head -1 "$1/$file" | grep -qE "^# KernelBench $2/$number: [A-Za-z0-9_]+\$" ||
            echo "no line # KernelBench $2/$number: NAME: $file"
    done
}

check 'there are suites' '[ "$(echo "$suites" | wc -l)" -ge 11 ]'
for suite in $suites; do
    folder=$ROOT/suites/$suite
    faults_of_list "$folder/LIST" >faults
    check "$suite: every line of LIST is one" 'cat faults && [ ! -s faults ]'
    awk '!/^#/ { print $2 }' "$folder/LIST" | sort >listed
    (cd "$folder" && ls | grep -v '^LIST$' | sort) >there
    check "$suite: LIST and folder agree" 'diff listed there'
    faults_of_files "$folder" >faults
    check "$suite: every task says what it is" 'cat faults && [ ! -s faults ]'
    case $suite in
    kernelbench*)
        faults_of_names "$folder" "${suite##*/}" >faults
        check "$suite: every task has KernelBench's own name" 'cat faults && [ ! -s faults ]'
        ;;
    esac
    check "$suite: the files are in the house style" '"$HONE" fmt -q --check "$folder"/*.op'
done

# Of level 2 the numbers 33 and 39 alone have one name.
cat "$ROOT"/suites/kernelbench/?/*.op | sed -n 's|^# KernelBench ./[0-9]*: ||p' | sort >names
check 'KernelBench has 250 names' '[ "$(wc -l <names)" -eq 250 ]'
check 'one of them twice' '[ "$(uniq -d names)" = Gemm_Scale_BatchNorm ]'

# A task in training mode is one of those for inference, its name and number the same, and has no
# running statistics: what is called V is a variance in all of them.
for text in "$ROOT"/suites/kernelbench-train/?/*.op; do
    name=${text#*/kernelbench-train/}
    other=$ROOT/suites/kernelbench/$name
    [ "$(head -1 "$text")" = "$(head -1 "$other" 2>&1)" ] || echo "not that of $other: $name"
    grep -v '^#' "$other" | grep -qw 'V[A-Za-z0-9_]*' || echo "no variance in $other"
    grep -v '^#' "$text" | grep -w 'V[A-Za-z0-9_]*'
done >faults
check 'training mode has no running statistics' 'cat faults && [ ! -s faults ]'
grep -lw 'batch_norm\|rsqrt' "$ROOT"/suites/kernelbench/?/*.op | xargs grep -lw 'V[A-Za-z0-9_]*' |
    sed 's|.*/kernelbench/||' | sort >listed
(cd "$ROOT/suites/kernelbench-train" && ls ?/*.op | sort) >there
check 'every task with a batch norm has one' 'diff listed there'

task=$ROOT/suites/kernelbench/2/022_linear_scale_residual_clamp_logsumexp_mish.op
expect 'a task is shown' 0 "$HONE" task "$task"
says out 'with both cases' 'small'
expect 'its small case is evaluated' 0 "$HONE" task "$task" --eval --case small
says out 'and has values' 'f32 3x1'

# Without torch the check against PyTorch says one line and is content.
if command -v python3 >/dev/null; then
    expect 'the check needs torch' 0 python3 -S "$ROOT/bridge/check_suites.py"
    check 'and says so in one line' '[ "$(wc -l <out)" -eq 1 ] && grep -q "^skipped: " out'
fi
finish
