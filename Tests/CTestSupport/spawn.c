#define _GNU_SOURCE
#include "CTestSupport.h"

#include <signal.h>
#include <spawn.h>

int spawnProgram(
    char *const *arguments, char *const *environment, const char *folder, const int descriptors[3], pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    for (int target = 0; target < 3 && !error; target++)
        error = posix_spawn_file_actions_adddup2(&actions, descriptors[target], target);
    if (!error && folder) error = posix_spawn_file_actions_addchdir_np(&actions, folder);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#ifdef __APPLE__
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#else
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
    // The child must not inherit the signals that Dispatch's threads block and NIO ignores.
    sigset_t signals;
    sigemptyset(&signals);
    if (!error) error = posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    sigdelset(&signals, SIGKILL);
    sigdelset(&signals, SIGSTOP);
    if (!error) error = posix_spawnattr_setsigdefault(&attributes, &signals);
    if (!error) error = posix_spawnattr_setflags(&attributes, flags);
    if (!error) error = posix_spawn(process, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}
