// The report of a benchmark.
