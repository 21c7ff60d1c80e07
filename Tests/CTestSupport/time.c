#include <time.h>

#include "CTestSupport.h"

long long threadProcessorTime(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}
