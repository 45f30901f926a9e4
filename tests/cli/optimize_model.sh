# hone optimize with models: by script, by the micro-coder, and one that refuses; limits, resume, replay;
# no key is ever kept or shown.
. "${0%/*}/lib.sh"

HONE_ARCHIVE=$PWD/archive.db HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache
export HONE_ARCHIVE HOME XDG_CACHE_HOME
unset XDG_CONFIG_HOME HONE_MODEL HONE_RECIPE OPENAI_BASE_URL
mkdir -p home
key=sk-planted-0123456789abcdef

cat >scale.op <<'END'
op scale
dim N=4096
in X: f32[N]
Y[i] = X[i]*2 + 1
out Y
END
cat >plain.c <<'END'
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = X[i] * 2 + 1;
}
END
{
    echo '=== coder tokens=100/20'
    echo 'Nothing to see here.'
    echo '=== coder tokens=100/20'
    echo '```c'
    cat plain.c
    echo '```'
    echo '=== coder repeat tokens=100/20'
    echo '```c'
    sed 's/+ 1/+ 2/' plain.c
    echo '```'
} >script
run_model()
{
    "$HONE" optimize scale.op --recipe evoengineer-free --evals 4 --effort quick "$@" -o scale.c
}

expect 'a model by script' 0 run_model --model scripted:script --calls 4 --json
for field in '"recipe":"evoengineer-free"' '"model":"scripted:script"' '"calls":4' '"tokens":' \
    '"cost_usd":0' '"stopped":"calls"' '"file":"scale.c"'; do
    says out "JSON has $field" "$field"
done
expect 'the judge agrees' 0 "$HONE" judge scale.op scale.c --effort quick
expect 'it is replayed' 0 "$HONE" replay last
expect 'the micro-coder plays every role' 0 run_model --model builtin --json
says out 'and asks nobody' '"calls":0'
expect 'a role of its own' 0 run_model --model builtin --role coder=scripted:script --calls 2 --json
says out 'is asked' '"calls":2'

expect 'no call is allowed' 0 run_model --model scripted:script --calls 0
says out 'and that is why nobody was asked' 'nobody was asked: the limit on calls'
expect 'and nothing could be written' 1 "$HONE" optimize scale.op --recipe caesar --evals 4 \
    --effort quick --model scripted:script --calls 0 -o none.c
says err 'with the limit' 'the limit on calls is reached; --calls N raises it'

expect 'no such recipe' 2 "$HONE" optimize scale.op --recipe evoengineer-fre --model builtin
says err 'with what was meant' 'evoengineer-free'
expect 'no such model' 2 "$HONE" optimize scale.op --model opnai:gpt
says err 'with what was meant' 'openai'
expect 'no such script' 2 run_model --model scripted:nothing
HONE_EMBEDDINGS=anthropic:m@http://127.0.0.1:1
export HONE_EMBEDDINGS
expect 'who gives no vectors' 2 run_model --model scripted:script --calls 1
says err 'is told before anything is done' 'gives no vectors; name a model of an OpenAI-like server'
HONE_EMBEDDINGS=openai:m@http://10.255.255.1/v1
expect 'vectors without a price' 2 run_model --model scripted:script --calls 1
says err 'need another limit' 'has no price, so --cost cannot hold'
expect 'nobody is asked for them without a model' 0 run_model --model builtin
unset HONE_EMBEDDINGS

# a server that nobody runs: the key goes nowhere
OPENAI_API_KEY=$key
export OPENAI_API_KEY
run run_model --model openai:test@http://127.0.0.1:1/v1 --cost 1 --tokens 100000 -vv
check 'a refused server ends it with an answer' '[ "$code" -le 3 ]'
cat out err >said
check 'no key is said' "! grep -q '$key' said"
"$HONE" show last >shown 2>&1
check 'nor kept' "! grep -q '$key' shown && ! grep -aq '$key' archive.db && ! grep -raq '$key' home cache"
unset OPENAI_API_KEY

# ^C, then on
{
    echo '=== coder delay=0.5 tokens=100/20 repeat'
    sed -n '/^```c/,$p' script | sed -n '1,/^```$/p'
} >slow
"$HONE" optimize scale.op --recipe evoengineer-free --model scripted:slow --calls 30 --evals 30 \
    -o slow.c >out 2>err &
pid=$!
tries=0
while [ $tries -lt 300 ] && ! grep -q coder err; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -INT $pid
wait $pid
check '^C ends it well' "[ $? -eq 0 ]"
expect 'and it goes on' 0 "$HONE" resume last --json
says out 'to its end' '"recipe":"evoengineer-free"'
finish
