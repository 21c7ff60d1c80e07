// Foundation exports Darwin and Security on Apple's systems. The scoped imports make Darwin's symbols hide those of Glibc with the same
// names, because Foundation exports Glibc on Linux.
@_exported import Darwin
@_exported import Security

@_exported import var Darwin.SHUT_WR
@_exported import var Darwin.SOCK_STREAM
@_exported import typealias Darwin.posix_spawn_file_actions_t
@_exported import typealias Darwin.posix_spawnattr_t
@_exported import typealias Darwin.pthread_key_t
@_exported import typealias Darwin.tcflag_t
@_exported import struct Darwin.termios
