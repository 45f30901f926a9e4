#!/bin/sh
# Replies that a person wrote, as a model's: examples/by_hand/rms_norm.replies. What they lead to follows
# again from the archive alone, and can be told.
. "${0%/*}/lib.sh"
if [ "$(uname -m)" != x86_64 ]; then
    pass 'one of the replies faults on x86 alone: skipped'
    finish
fi
export HOME="$scratch" HONE_ARCHIVE="$scratch/archive.db"

cp "$ROOT/examples/by_hand/rms_norm.op" "$ROOT/examples/by_hand/rms_norm.replies" .
expect 'replies written by hand' 0 "$HONE" optimize rms_norm.op --recipe cudaforge \
    --model scripted:rms_norm.replies --calls 7 --evals 24 --threads 1 -q
says out 'are judged' 'recipe cudaforge, scripted:rms_norm.replies: 4 proposals'
check 'the kernel stands alone' '! grep -q "hone\\.h\"" rms_norm.c && gcc -O2 -march=native -fopenmp -c rms_norm.c'
expect 'the same decisions again' 0 "$HONE" replay last
says out 'are identical' '7 replies from the archive, no network: identical'
expect 'the story' 0 "$HONE" explain last
says out 'names what was tried' 'both passes over a row while it is in L1'
says out 'and what was expected' 'four partial sums'
expect 'the tree' 0 "$HONE" show last
says out 'has the last one' 'past the caches'

# ---- the same through a folder ----

mkdir box
# Answers each question that appears with the next reply of the script.
answer()
{
    awk -v number=0 '/^=== / { number++; next } number > 0 { print > ("reply" number) }' rms_norm.replies
    for number in 1 2 3 4 5 6 7; do
        while ! ls box/*.prompt.md >/dev/null 2>&1; do
            [ ! -e over ] || return 0
            sleep 0.1
        done
        prompt=$(ls box/*.prompt.md | head -n 1)
        cp "reply$number" box/next
        mv box/next "${prompt%.prompt.md}.reply.md"
        while [ -e "$prompt" ]; do
            [ ! -e over ] || return 0
            sleep 0.1
        done
    done
}
answer &
expect 'replies in a mailbox' 0 "$HONE" optimize rms_norm.op --recipe cudaforge --model mailbox:box \
    --calls 7 --evals 24 --threads 1 -o mail.c -q
: >over
wait
says out 'are the same to it' 'recipe cudaforge, mailbox:box: 4 proposals'
expect 'which replays too' 0 "$HONE" replay last
finish
