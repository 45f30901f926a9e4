# hone report: pages of runs, with hostile text in them, looked at in a browser where there is one.
. "${0%/*}/lib.sh"

HONE_ARCHIVE=$PWD/archive.db HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache
export HONE_ARCHIVE HOME XDG_CACHE_HOME
unset XDG_CONFIG_HOME HONE_MODEL HONE_RECIPE
mkdir -p home

# look PAGE NAME WIDTH SCHEME [OPTION]: the file dom is the page so wide, in light or dark, drawn to
# its end and not wider than the window; the browser says no error.
look()
{
    name="$2, $3 wide and $4,"
    cat "$1" probe.html >looked_at.html
    timeout -k 5 120 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$scratch/chromium" --window-size="$3,900" --virtual-time-budget=2000 ${5:-} \
        --enable-logging=stderr --dump-dom "file://$PWD/looked_at.html" >dom 2>browser.log </dev/null
    if grep 'CONSOLE' browser.log >err; then
        fail "$name opens without an error"
        quote err
    else
        pass "$name opens without an error"
    fi
    says dom "$name is drawn to its end" '<footer>Made by hone'
    says dom "$name is so, and fits" "data-looks=\"$4 fits\""
}

# opens FILE NAME TEXT...: it can be looked at on a desk and on a phone, and says each text.
opens()
{
    page=$1 what=$2
    shift 2
    if [ -z "$browser" ]; then
        echo "ok - $what opens in a browser # SKIP chromium is not installed"
        return
    fi
    look "$page" "$what" 1280 dark --force-dark-mode
    look "$page" "$what" 1280 light
    look "$page" "$what" 400 light
    for text; do
        says dom "$what has $text" "$text"
    done
}

cat >probe.html <<'END'
<script>
setTimeout(() => {
  const root = document.documentElement;
  root.dataset.looks = (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light') +
    (root.scrollWidth > innerWidth ? ' overflows' : ' fits');
}, 1000);
</script>
END
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)

# whole FILE NAME: the data is one block of JSON between its tags, and there are two scripts.
whole()
{
    check "$2 has two scripts" "[ \$(grep -ci '<script' $1) -eq 2 ] && [ \$(grep -ci '</script' $1) -eq 2 ]"
    check "$2 loads nothing" "! grep -v www.w3.org/2000/svg $1 | grep -q '://'"
}

expect 'no archive' 2 "$HONE" report last
says err 'says how to get one' 'hone optimize FILE.op makes it'

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
expect 'its page' 0 "$HONE" report last
says out 'is named by the task' 'norm.html   '
says out 'opens alone' ' kB, one file, opens without a network'
check 'says what is in it' \
    "grep -qx '  best-so-far curve, tree, roofline with [0-9]* candidates, kernel and diff, machine, how to repeat' out"
whole norm.html 'it'
says norm.html 'it has the program' 'M[r] = mean[j](X[r,j])'
says norm.html 'and how to repeat' 'hone replay '
area=$(sed -n 's/.*"area":\[{"name":"default","baseline":"naive","value":\([0-9.e+-]*\)}.*/\1/p' norm.html)
check 'it has an area' '[ -n "$area" ]'
says norm.html 'which is that of the figures' "\"area\":$area,"
opens norm.html 'the page of a builtin run' '<h2>Best so far</h2>' '<h2>Roofline</h2>' \
    '<svg' '<h3>case odd</h3>' '<h2>Figures</h2>' 'Perf@k' 'SOL score' 'GFLOP/s</text>' '<dt>processor</dt>' '<code>hone report '
expect 'as JSON' 0 "$HONE" report last -o other.html --json
says out 'it names the file' '{"file":"other.html","bytes":'

cat >scale.op <<'END'
# </script><script>document.title = 'broken out'</script> <!-- <b onload=x> & \u003c
op scale
dim N=4096
in X: f32[N]
Y[i] = X[i]*2 + 1
out Y
END
cat >plain.c <<'END'
/* </script><script>document.title = 'broken out'</script> */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = X[i] * 2 + 1;
}
END
{
    echo '=== coder tokens=100/20'
    echo 'Nothing to see here. </script><script>document.title = "broken out"</script>'
    echo '=== coder tokens=100/20'
    echo '```c'
    cat plain.c
    echo '```'
    echo '=== coder repeat tokens=100/20'
    echo '```c'
    sed 's/+ 1/+ 2/' plain.c
    echo '```'
} >script
expect 'a run of a hostile model' 0 "$HONE" optimize scale.op --recipe evoengineer-free --evals 4 \
    --effort quick --model scripted:script --calls 4 -q
expect 'its page' 0 "$HONE" report last -o hostile.html
whole hostile.html 'the hostile one'
opens hostile.html 'the page of a hostile run' '<title>scale, run ' '<td class="l">scripted:script' \
    'time bad">wrong' "document.title = 'broken out'&lt;/script&gt;"

expect 'a benchmark' 0 "$HONE" bench norm.op scale.op --evals 1 --time 2 --against naive -q --json
bench=$(sed -n 's/^{"run":"\([a-z0-9]*\)".*/\1/p' out)
title=$(sed -n 's/.*"title":"\([^"]*\)".*/\1/p' out)
expect 'its page' 0 "$HONE" report "$bench" -o bench.html
says out 'says what is in it' \
    '  summary, speed-ups of 2 tasks, fast_p, light, the slowest, machine, how to repeat'
whole bench.html 'the page of a benchmark'
opens bench.html 'the page of a benchmark' '<h2>Speed-up of each task</h2>' '>as fast as naive</text>' \
    '<h2>The ten slowest</h2>' '<h2>Figures</h2>' 'build@k' ' evaluation' '<td class="l">builtin</td>' "<code>hone bench --resume $bench"
if command -v sqlite3 >/dev/null; then
    pretend_torch archive.db "$bench" 'no <b>compiler</b>'
    expect 'its page with PyTorch' 0 "$HONE" report "$bench" -o torch.html
    whole torch.html 'the page with PyTorch'
    opens torch.html 'the page with PyTorch' '>as fast as torch</text>' '<td class="l">torch.as shipped' \
        'all tasks; never claimed against</td>' 'all tasks (1 with fewer builds)</td>' \
        'Builds that took no part: 1' 'no &lt;b&gt;compiler&lt;/b&gt;</td>' '>beside torch</th>'
else
    echo 'ok - a page with PyTorch # SKIP sqlite3 is not installed'
fi
says bench.html 'it says how it was searched' "hone bench $title --against naive --evals 1 --time 2"
expect 'by its title' 0 "$HONE" report "$title" -o again.html
says again.html 'is the same' "\"run\":\"$bench\""
mkdir own_tasks
cp norm.op own_tasks/001_norm.op
cp norm.op own_tasks/002_norm.op
printf '1 001_norm.op\n2 002_norm.op\n' >own_tasks/LIST
expect 'another benchmark, of a part of a suite' 0 "$HONE" bench own_tasks:1 --evals 1 -q --json
part=$(sed -n 's/^{"run":"\([a-z0-9]*\)".*/\1/p' out)
expect 'and one after it' 0 "$HONE" bench scale.op --evals 1 -q
expect 'the newest that has tasks of the suite' 0 "$HONE" report own_tasks -o own.html
says own.html 'is that of the part' "\"run\":\"$part\""
expect 'a benchmark of a folder somewhere' 0 "$HONE" bench "$PWD/own_tasks:2" --evals 1 -q
expect 'has a page' 0 "$HONE" report "$PWD/own_tasks:2"
check 'whose name is no hidden file and no option' "grep -q '^[^-./][^/]*own_tasks.html   ' out"
expect 'a suite without a benchmark' 2 "$HONE" report kernelbench/1
expect 'the beginning of a name is none' 2 "$HONE" report own_task

expect 'a candidate' 2 "$HONE" report last.0
says err 'has no page' 'write hone report last, or hone show last.0'
expect 'no such run' 2 "$HONE" report zzzz
says err 'is told' 'zzzz'
expect 'a folder that is not there' 2 "$HONE" report last -o no/such/folder.html
check 'leaves nothing' '! [ -e no ]'
finish
