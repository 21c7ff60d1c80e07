#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// By default, Swift Testing starts every case of every test at once. Each case then takes as long as all cases, time limits expire, and
// thousands of servers, databases and processes are open. Swift Testing reads its limit only from the environment or the command line, and
// plain `swift test` sets none. Therefore this function runs when the tests are loaded. It keeps a limit that is already set.
__attribute__((constructor)) static void limitWidth(void) {
    // More than the number of cores, because tests wait for processes, disks and locks.
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char width[24];
    snprintf(width, sizeof width, "%ld", cores > 2 ? cores * 2 : 4);
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, 0);
}
