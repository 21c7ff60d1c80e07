#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Left to itself Swift Testing starts every case of every test at once: each then takes as long as all, time limits run out, and servers,
// databases and processes are open by the thousand. It has a limit, but reads it from the environment or the command line only, and plain
// `swift test` gives it none. So this runs when the tests are loaded. A width that somebody chose stays.
__attribute__((constructor)) static void limitWidth(void) {
    // More than the cores, since tests wait for processes, disks and each other's locks.
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char width[24];
    snprintf(width, sizeof width, "%ld", cores > 2 ? cores * 2 : 4);
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, 0);
}
