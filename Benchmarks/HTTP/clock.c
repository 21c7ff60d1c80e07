// Preloaded by soak.py: the wall clock runs SOAK_SPEED times as fast since SOAK_START (seconds since 1970), and so does the clock of the time
// since boot, by which the server notices corrections of the wall clock. The monotonic clock of timers stays real.
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *time) {
    if (syscall(SYS_clock_gettime, id, time) != 0) return -1;
    if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE && id != CLOCK_BOOTTIME) return 0;
    static double begun, speed;
    if (speed == 0) {
        begun = atof(getenv("SOAK_START"));
        speed = atof(getenv("SOAK_SPEED"));
    }
    double start = id == CLOCK_BOOTTIME ? 0 : begun;
    // A long double keeps the nanoseconds.
    long double now = start + ((long double)time->tv_sec + time->tv_nsec / 1e9L - start) * speed;
    time->tv_sec = now;
    time->tv_nsec = (now - time->tv_sec) * 1e9L;
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
