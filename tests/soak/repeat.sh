# Repeats the whole suite for SOAK_SECONDS: what fails once in a hundred times fails here.
set -eu

end=$(($(date +%s) + ${SOAK_SECONDS:-600}))
rounds=0
report=$(mktemp)
trap 'rm -f "$report"' EXIT
while [ "$(date +%s)" -lt "$end" ]; do
    rounds=$((rounds + 1))
    if ! "${0%/*}/../run-tests" "${OUT:-build/asan}" >"$report" 2>&1; then
        cat "$report"
        echo "failed in round $rounds"
        exit 1
    fi
done
echo "$rounds rounds without a failure"
