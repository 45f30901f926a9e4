// task scale.op: build_failed
/* A variable of that name. */
int kernel = 1;
