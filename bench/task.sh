# The time of `hone task` for every example: the middle of some runs, in ms. The aim is 20 ms, and 100 ms for
# a program of more than 300 stages.
HONE=${HONE:-build/release/hone}
runs=${RUNS:-15}
cd "$(dirname "$0")/.." || exit 3

now()
{
    date +%s%N
}

for file in examples/*.op; do
    i=0
    while [ "$i" -lt "$runs" ]; do
        start=$(now)
        "$HONE" task "$file" >/dev/null 2>&1 || { echo "$file: failed"; break; }
        echo $(($(now) - start))
        i=$((i + 1))
    done | sort -n | awk -v file="$file" '
        /failed/ { print; exit }
        { time[NR] = $1 / 1e6 }
        END {
            if (NR > 0)
                printf "%-36s %7.1f ms   [%.1f, %.1f]\n", file, time[int((NR + 1) / 2)], time[1], time[NR]
        }'
done
