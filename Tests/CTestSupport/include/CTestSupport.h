#ifndef C_TEST_SUPPORT_H
#define C_TEST_SUPPORT_H

#include <sys/types.h>

/// Starts a program that inherits only three descriptors and blocks or ignores no signal.
///
/// The function is in C because two of its calls are not visible to Swift on Linux.
///
/// @param arguments The path of the program and its arguments, with a null at the end.
/// @param environment The environment variables, with a null at the end.
/// @param folder The working directory; null for that of this process.
/// @param descriptors The standard input, output and error of the program.
/// @param process Receives the process ID.
/// @return 0, or an error number.
int spawnProgram(
    char *const *arguments, char *const *environment, const char *folder, const int descriptors[3], pid_t *process);

/// Returns the processor time of the calling thread in nanoseconds.
long long threadProcessorTime(void);

#endif
