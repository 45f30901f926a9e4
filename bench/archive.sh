#!/bin/sh
# An archive of a million candidates: how long it takes to show a run, to find similar cases, to
# record a verdict. Needs about 4 GB in $TMPDIR, and some minutes to make them.
set -eu
out=${OUT:-build/release}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$out/bench/archive" "$folder/archive.db" "${CANDIDATES:-1000000}"
