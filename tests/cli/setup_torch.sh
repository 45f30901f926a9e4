# ./run setup-torch where packages are missing; the system's programs have stand-ins.
. "${0%/*}/lib.sh"

stand_in()
{
    printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
    chmod +x "bin/$1"
}

mkdir bin
stand_in id 'echo 1000'
stand_in sudo 'exit 1'
stand_in apt-get 'exit 1'
PATH=$PWD/bin:$PATH

stand_in python3 'exit 1'
expect 'a python3 without its parts' 3 "$ROOT/run" setup-torch
says err 'they are named' 'python3-venv python3-dev'
says err 'with what to type' '. Type:  sudo apt-get install -y '
stand_in python3 'case $2 in *ensurepip) exit 1 ;; esac'
expect 'one without venv' 3 "$ROOT/run" setup-torch
says err 'that alone is named' 'python3-venv'
check 'and not the headers' '! grep -q python3-dev err'
finish
