# hone config: settings, where they come from, and what is wrong with them.
. "${0%/*}/lib.sh"

HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache
export HOME XDG_CACHE_HOME
unset XDG_CONFIG_HOME XDG_DATA_HOME HONE_MODEL HONE_COST HONE_THREADS HONE_ARCHIVE HONE_RECIPE \
    HONE_EMBEDDINGS
mkdir -p home/.config/hone project/deep
config=home/.config/hone/config
key=sk-planted-0123456789abcdef

expect 'nothing is set' 0 "$HONE" config
check 'defaults' 'grep -Eq "^  cost +1.00 +default" out && grep -Eq "^  model +- +default" out'
says out 'where yours goes' "Yours: $scratch/home/.config/hone/config"
cat >$config <<'END2'
# mine
cost    = 2.50   # dollars
threads = 2
model   = lab:big
[provider lab]
wire     = responses
base_url = http://gpu1:8000/v1
key_env  = LAB_KEY
END2
expect 'a file' 0 "$HONE" config
check 'has places' 'grep -Eq "^  cost +2.50 +~/.config/hone/config:2" out'
says out 'and providers' 'http://gpu1:8000/v1'
cd project || exit 3
printf 'cost = 3\n' >.hone
expect '.hone' 0 "$HONE" config
check 'goes before it' 'grep -Eq "^  cost +3 +[.]hone:1" out'
mkdir .git
cd deep || exit 3
expect 'also from above' 0 "$HONE" config
check 'in a repository' 'grep -Eq "^  cost +3 +.*/project/[.]hone:1" out'
HONE_COST=4
export HONE_COST
expect 'a variable' 0 "$HONE" config --json
says out 'goes before that' '{"key":"cost","value":"4","from":"HONE_COST"}'
HONE_COST=much
expect 'a wrong one' 2 "$HONE" config
says err 'is said' 'HONE_COST=much: write US dollars, as in 2.00'
unset HONE_COST
cd ../.. || exit 3

LAB_KEY=$key
export LAB_KEY
expect 'keys' 0 "$HONE" config --keys
check 'are seen' 'grep -Eq "^  lab +LAB_KEY +set" out'
check 'not shown' "! grep -q '$key' out"
expect 'keys as JSON' 0 "$HONE" config --keys --json
says out 'likewise' '{"provider":"lab","variable":"LAB_KEY","set":true}'

unset LAB_KEY
printf "# keys\\nexport LAB_KEY='%s'\\n" "$key" >env
expect 'a file of variables' 0 "$HONE" config --keys --env-file env
check 'is read when it is named' 'grep -Eq "^  lab +LAB_KEY +set" out'
cp env .env
expect 'and not unasked' 0 "$HONE" config --keys
check 'ever' 'grep -Eq "^  lab +LAB_KEY +not set" out'
printf '%s\\n' "$key" >env
expect 'a wrong one' 2 "$HONE" config --keys --env-file env
says err 'has a line' 'env:1: no variable; write NAME=VALUE'
check 'which is not shown' "! grep -q '$key' err"

# wrong NAME TEXT LINE...: the file of these lines is refused with the text.
wrong()
{
    name=$1 text=$2
    shift 2
    printf '%s\n' "$@" >$config
    expect "$name" 2 "$HONE" config
    says err "$name: the message" "$text"
}
wrong 'a typing error' 'config:1:1: cots: no such setting; did you mean cost?' 'cots = 2'
wrong 'no number' 'config:2:11: threads none: write a number from 1 on' '' 'threads = none'
wrong 'nothing' 'model : is empty; write a value' 'model ='
wrong 'no setting' 'config:1:1: no setting; write key = value' 'model'
wrong 'no such section' 'config:1:1: providr: no such section; did you mean provider?' '[providr x]'
wrong 'no name' 'which provider? write [provider NAME]' '[provider]'
wrong 'no address' 'the provider has no address; write base_url' '[provider lab]' 'wire = openai'
wrong 'no such wire' 'did you mean anthropic?' '[provider lab]' 'wire = antropic' 'base_url = http://x'
wrong 'no such key' 'base_ulr: no such setting of a provider; did you mean base_url?' \
    '[provider lab]' 'base_ulr = http://x'
wrong 'no price' 'write three numbers' '[provider lab]' 'base_url = http://x' 'price = 1 2'
wrong 'too many prices' 'write three numbers' '[provider lab]' 'base_url = http://x' \
    'price = 1 2 3 4 5 6'
wrong 'a key where its name belongs' 'key_env in line 3: write the name of a variable' \
    '[provider lab]' 'base_url = http://x' "key_env = $key"
check 'which is not repeated' "! grep -q '$key' err"
rm $config

cd project || exit 3
printf 'model = exec:rm -rf /\n' >.hone
expect 'a command in a folder of others' 2 "$HONE" config
says err 'is refused' 'write it into config in your configuration folder instead'
printf 'embeddings = openai:m@http://evil/v1\n' >.hone
expect 'nor may it say who reads what was learned' 2 "$HONE" config
says err 'as it may not say who is asked' 'a model with a command or an address of its own'
printf '[provider x]\nbase_url = http://evil\n' >.hone
expect 'and so is a provider' 2 "$HONE" config
says err 'with the reason' 'providers stand in config in your configuration folder, not here'
finish
