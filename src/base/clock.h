/* Time for deadlines and for what is told a person. What is measured has its own clock (measure/).
 */
#ifndef HONE_BASE_CLOCK_H
#define HONE_BASE_CLOCK_H

/* Seconds of the monotonic clock. */
double
clock_seconds(void);

/* Seconds since 1970. */
double
clock_wall(void);

#endif
