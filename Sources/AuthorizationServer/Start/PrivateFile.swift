internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Files that nobody but their owner ever reads.
enum PrivateFile {
    /// What the system said.
    struct Failure: Error {
        let reason: String

        init() { reason = String(cString: strerror(errno)) }
    }

    /// Makes a file of mode 0600 that appears whole, on disk, or not at all, and never in place of another.
    ///
    /// `FileManager` makes files that all may read and closes them afterwards, and puts them in the place of what is there.
    ///
    /// - Parameters:
    ///   - path: Where; its folder exists.
    ///   - content: What it holds.
    /// - Returns: False if there is a file already, which is left as it is.
    /// - Throws: ``Failure``.
    static func create(_ path: String, holding content: Data) throws -> Bool {
        let temporary = path + ".\(UUID().uuidString)"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Failure() }
        defer { unlink(temporary) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: content)
            try file.synchronize()
            try file.close()
        } catch {
            throw Failure()
        }
        guard link(temporary, path) == 0 else {
            if errno == EEXIST { return false }
            throw Failure()
        }
        try synchronizeFolder(of: path)
        return true
    }

    /// Makes the folder's list of names durable.
    private static func synchronizeFolder(of path: String) throws {
        let descriptor = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure() }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Failure() }
    }
}
