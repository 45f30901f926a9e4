// task scale.op: rejected
/* Nothing but comments. */
