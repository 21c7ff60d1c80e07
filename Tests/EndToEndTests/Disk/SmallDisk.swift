import Foundation
import TestSupport
import Testing

/// A server whose data folder is a file system of its own, which a test can fill or make read-only.
///
/// The file system is in a mount namespace that ends with the server. Commands of the test enter the namespace.
final class SmallDisk: Sendable {
    private let process: ChildProcess
    private let namespace: String
    private let data: String

    /// Whether the system lets the tests create mount namespaces, in which the folders above the data folder belong to the user.
    @Sendable static func isEnabled() async -> Bool {
        #if os(Linux)
        if ProcessInfo.processInfo.environment["COUNTERSIGN_REQUIRE_ALL"] == "1" { return true }
        let probe = isolation + ["bash", "-c", "test -O / && mount -t tmpfs none /tmp && test -x /usr/bin/nsenter"]
        return (try? await ChildProcess.run(URL(filePath: "/usr/bin/unshare"), probe))?.status == 0
        #else
        return false
        #endif
    }

    static let missingNote: Comment =
        "Full disks are tested on Linux, as a user who may use unshare --mount, with nsenter: run make setup-test as root"

    private static let isolation = ["--user", "--map-root-user", "--mount"]

    /// Starts a server, and returns as soon as its disk is there.
    ///
    /// - Parameters:
    ///   - data: The data folder, which must exist.
    ///   - kilobytes: The size of the disk.
    ///   - isReadOnly: Whether the disk is made read-only after the content of the data folder was copied to it.
    ///   - arguments: The arguments of the command.
    init(data: String, kilobytes: Int, isReadOnly: Bool = false, _ arguments: [String]) async throws {
        self.data = data
        let script = """
            set -e
            copy=$(mktemp -d) && cp -a "$1/." "$copy/"
            mount -t tmpfs -o "size=$2k,mode=700" none "$1"
            cp -a "$copy/." "$1/" && rm -r "$copy"
            if [ "$3" = true ]; then mount -o remount,ro "$1"; fi
            shift 3
            echo "namespace of $$ is ready"
            exec "$@"
            """
        let command = [try Command.executable.path()] + arguments
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/unshare"),
            Self.isolation + ["bash", "-c", script, "bash", data, "\(kilobytes)", "\(isReadOnly)"] + command)
        self.process = process
        let ready = try await process.waitFor("is ready")
        namespace = try #require(ready.split(separator: " ").compactMap { Int($0) }.last.map { "\($0)" }, "\(ready)")
    }

    /// Waits until the server has written a text.
    func waitFor(_ text: String) async throws { try await process.waitFor(text) }

    /// Waits until the server has ended, and returns its status and output.
    func end() async -> (status: Int32, text: String) { await process.end() }

    func interrupt() { process.interrupt() }

    /// Runs a command where the disk is the data folder.
    func run(_ executable: URL, _ arguments: [String]) async throws -> ChildProcess.Ended {
        try await ChildProcess.run(
            URL(filePath: "/usr/bin/nsenter"),
            ["--target", namespace, "--user", "--mount", "--preserve-credentials", "--", executable.path()] + arguments)
    }

    /// Writes a file that takes all free space.
    func fill() async throws {
        let ended = try await run(URL(filePath: "/bin/bash"), ["-c", "cat /dev/zero >\"$1/filler\"", "bash", data])
        #expect(ended.status != 0 && ended.errors.contains("No space left"), "\(ended.errors)")
    }

    /// Removes the file.
    func free() async throws { #expect(try await run(URL(filePath: "/bin/rm"), ["\(data)/filler"]).status == 0) }
}
