# Every task of suites/ against PyTorch by its compiled reference: twenty minutes and more, once, whatever
# SOAK_SECONDS says. The test run compares all of them by the interpreter (tests/unit/suite_torch.c).
set -eu

python=${HONE_TORCH:-${XDG_DATA_HOME:-$HOME/.local/share}/hone/torch}/bin/python3
if ! "$python" -c 'import torch, numpy' 2>/dev/null; then
    echo 'suites: skipped, PyTorch is not there: ./run setup-torch'
    exit 0
fi
XDG_CACHE_HOME=$(mktemp -d) # every reference is compiled anew
HONE=$OUT/hone
trap 'rm -rf "$XDG_CACHE_HOME"' EXIT
export XDG_CACHE_HOME HONE
"$python" bridge/check_suites.py
