internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Creates files that only their owner can read.
enum PrivateFile {
    /// A system error.
    struct Failure: Error {
        let reason: String

        init() { reason = String(cString: strerror(errno)) }
    }

    /// Creates a file of mode 0600 atomically and durably. Returns `false`, without a change, if the file exists. `FileManager` does not
    /// suffice: it creates files readable for others, restricts them later, and replaces existing files.
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

    /// Makes the folder entry durable.
    private static func synchronizeFolder(of path: String) throws {
        let descriptor = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure() }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Failure() }
    }
}
