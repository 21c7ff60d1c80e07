#ifndef C_TEST_SUPPORT_H
#define C_TEST_SUPPORT_H

#include <sys/types.h>

/// Starts a program that inherits three descriptors and no others, blocks no signal and ignores none.
///
/// In C because Swift does not see the two calls that it needs on Linux.
///
/// @param arguments The path of the program and its arguments, with a null at the end.
/// @param environment Its variables, with a null at the end.
/// @param folder Where it starts; null for where this process is.
/// @param descriptors What becomes its standard input, output and error.
/// @param process Its number.
/// @return 0, or the error.
int spawnProgram(
    char *const *arguments, char *const *environment, const char *folder, const int descriptors[3], pid_t *process);

#endif
