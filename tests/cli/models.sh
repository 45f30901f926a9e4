# hone models: which models are there; no key is ever shown, nothing is sent unless a model is named.
. "${0%/*}/lib.sh"

BUILD=${BUILD:-$ROOT/build/asan}
HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache
export HOME XDG_CACHE_HOME
unset XDG_CONFIG_HOME HONE_MODEL
for name in OPENAI_API_KEY ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN OPENROUTER_API_KEY \
    DEEPSEEK_API_KEY GEMINI_API_KEY OPENAI_BASE_URL ANTHROPIC_BASE_URL OLLAMA_HOST; do
    unset "$name"
done
key=sk-planted-0123456789abcdef

# The server lives as long as the other end of its standard input.
mkfifo hold
"$BUILD/tests/llm/server" server.log <hold >port &
exec 3>hold
while [ ! -s port ]; do
    sleep 0.01
done
url=http://127.0.0.1:$(cat port)

expect 'no model' 0 "$HONE" models
says out 'is said' 'no model is set; hone models PROVIDER:NAME looks at one'
OPENAI_API_KEY=$key
export OPENAI_API_KEY
expect 'a key alone' 0 "$HONE" models
says out 'is seen' 'openai:NAME   OPENAI_API_KEY is set'
check 'and nothing is sent' '[ ! -s server.log ]'
unset OPENAI_API_KEY

expect 'a model that answers' 0 "$HONE" models "openai:test-model@$url/probe/v1"
says out 'its window' '32k window'
says out 'what it can do' 'writes C, edits, grammar'
says out 'what it costs' 'free   no key needed'
check 'three questions' '[ "$(grep -c "^ok probe chat" server.log)" -eq 3 ]'
check 'as published' '! grep -q ^wrong server.log'
expect 'again' 0 "$HONE" models "openai:test-model@$url/probe/v1"
check 'nothing is asked' '[ "$(grep -c "^ok probe chat" server.log)" -eq 3 ]'
expect '--probe' 0 "$HONE" models --probe "openai:test-model@$url/probe/v1"
check 'asks again' '[ "$(grep -c "^ok probe chat" server.log)" -eq 6 ]'
expect '--no-probe' 0 "$HONE" models --no-probe "openai:test-model@$url/ok/v1"
says out 'asks nothing' 'not asked yet'
check 'at all' '! grep -q "^ok ok" server.log'

mkdir -p home/.config/hone
cat >home/.config/hone/config <<END
model = lab:test-model
[provider lab]
wire = anthropic
base_url = $url/probe-whole
key_env = LAB_KEY
window = 65536
price = 1 0.5 2
END
expect 'no key' 2 "$HONE" models
says err 'is said' 'lab: no key: set LAB_KEY'
LAB_KEY=$key
export LAB_KEY
expect 'the model of the settings' 0 "$HONE" models
says out 'with its provider' 'lab:test-model   64k window'
says out 'its price' '1/2 USD   LAB_KEY'
says out 'its form' 'whole files, schema'
expect 'as JSON' 0 "$HONE" models --json
for field in '"model":"lab:test-model"' '"reachable":true' '"wire":"anthropic"' \
    '"key_from":"LAB_KEY"' '"window":65536' '"skill":"whole-file"' \
    '"price":{"input":1,"cached":0.5,"written":null,"output":2,"date":null}'; do
    says out "JSON has $field" "$field"
done
if command -v python3 >/dev/null; then
    check 'it is JSON' 'python3 -m json.tool out'
fi
sed "s|/probe-whole|/401|" home/.config/hone/config >config && cp config home/.config/hone/config
expect 'a refused key' 1 "$HONE" models -vv
says out 'is named by its variable' 'lab: 401, the key in LAB_KEY was refused'
check 'no key anywhere' "! grep -rq '$key' out err cache home server.log"
unset LAB_KEY
rm home/.config/hone/config

expect 'others' 1 "$HONE" models gpt-5 builtin openai:m@http://127.0.0.1:1/v1 exec:no-such-program \
    mailbox:box
says out 'a string that names none' 'which provider? write openai:gpt-5, or openai:gpt-5@URL'
says out 'a port where nobody listens' 'no answer from http://127.0.0.1:1/v1 (refused)'
says out 'a program that is not there' 'no-such-program is not in PATH'
says out 'a folder' 'is there'
says out 'the micro-coder' 'always there'

expect 'prices' 0 "$HONE" models --prices
cp out home/.config/hone/prices
expect 'can be read back' 0 "$HONE" models --prices
printf 'lab:m 1000 1 1\n' >home/.config/hone/prices
expect 'wrong ones' 2 "$HONE" models
says err 'have a line' 'prices:1: no row of prices; write provider:model'
rm home/.config/hone/prices

exec 3>&-
wait
finish
