package import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Functions that run a program until it exits.
///
/// Foundation's `Process` is not used, because its child inherits a socket that signals the exit. A program that starts a server, as tmux
/// does, keeps this socket open.
package enum Program {
    struct NotStarted: Error, CustomStringConvertible { let description: String }

    /// Runs a program. It inherits only the three standard descriptors.
    ///
    /// - Parameters:
    ///   - executable: The file.
    ///   - arguments: The arguments without the program name.
    /// - Returns: The exit status, or the negative number of a signal, and the combined output.
    /// - Throws: ``NotStarted``, or an error if the output cannot be captured.
    package static func run(_ executable: URL, _ arguments: [String]) async throws -> (status: Int32, text: String) {
        let file = URL.temporaryDirectory.appending(path: "output-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let child = try start(executable, arguments, output: file)
        let status = await withCheckedContinuation { continuation in
            // The wait runs on a thread of its own, because it blocks.
            Thread.detachNewThread {
                var status: Int32 = 0
                while waitpid(child, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F))
            }
        }
        return (status, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }

    /// Starts a program without waiting for it.
    ///
    /// - Parameters:
    ///   - executable: The file.
    ///   - arguments: The arguments without the program name.
    ///   - end: Called when the program has exited.
    static func runInBackground(_ executable: URL, _ arguments: [String], then end: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            if let child = try? start(executable, arguments, output: URL(filePath: "/dev/null")) {
                var status: Int32 = 0
                while waitpid(child, &status, 0) < 0, errno == EINTR {}
            }
            end()
        }
    }

    private static func start(_ executable: URL, _ arguments: [String], output: URL) throws -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output.path, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        #if canImport(Darwin)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
        #else
        // Closes the descriptors that are open now. A descriptor that is closed in between is closed twice, which is harmless here.
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            if let descriptor = Int32(name), descriptor > 2 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        }
        #endif
        let copies = ([executable.path] + arguments).map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var child: pid_t = 0
        let error = posix_spawn(&child, executable.path, &actions, &attributes, copies + [nil], environ)
        guard error == 0 else { throw NotStarted(description: "\(executable.path): \(String(cString: strerror(error)))") }
        return child
    }
}
