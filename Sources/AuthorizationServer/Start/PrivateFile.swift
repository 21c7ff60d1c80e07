package import Foundation

#if os(Linux)
internal import CExtendedAttributes
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Creates and replaces files that only their owner can read.
package enum PrivateFile {
    /// A system error.
    package struct Failure: Error {
        package let reason: String

        init() { reason = String(cString: strerror(errno)) }

        init(_ reason: String) { self.reason = reason }
    }

    /// Creates a file of mode 0600 atomically and durably. Returns `false`, without a change, if the file exists. `FileManager` does not
    /// suffice: it creates files readable for others, restricts them later, and replaces existing files.
    package static func create(_ path: String, holding content: Data) throws -> Bool {
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

    /// Replaces a file of this user atomically and durably, if it still has the expected content. The new file keeps the group and the
    /// mode. Returns `false`, without a change, if the content differs. Concurrent calls wait for each other. A call removes what a killed
    /// one left.
    static func replace(_ path: String, holding expected: Data, with content: Data) throws -> Bool {
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw Failure() }
        defer { close(folder) }
        guard flock(folder, LOCK_EX) == 0 else { throw Failure() }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw Failure() }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure("it is a symbolic link or another kind of file") }
        guard status.st_uid == geteuid() else { throw Failure("it belongs to another user") }
        guard !hasAccessList(path) else { throw Failure("it has an access control list, which the command does not keep") }
        guard try Data(contentsOf: URL(fileURLWithPath: path)) == expected else { return false }
        // Always the same name, so that no copy of a key stays after a call was killed. Only the owner of the lock uses it.
        let temporary = path + ".new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Failure() }
        defer { unlink(temporary) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // The folder may give each new file a list.
        guard !hasAccessList(temporary) else { throw Failure("its folder has a default access control list") }
        guard fchown(descriptor, status.st_uid, status.st_gid) == 0, fchmod(descriptor, status.st_mode & 0o777) == 0 else {
            throw Failure()
        }
        do {
            try file.write(contentsOf: content)
            try file.synchronize()
            try file.close()
        } catch {
            throw Failure()
        }
        guard rename(temporary, path) == 0, fsync(folder) == 0 else { throw Failure() }
        return true
    }

    /// Whether a file has an extended access control list. The group's bits of the mode are then the mask of the list, and do not say which
    /// users may read the file.
    private static func hasAccessList(_ path: String) -> Bool {
        #if os(Linux)
        return getxattr(path, "system.posix_acl_access", nil, 0) >= 0
        #else
        return false
        #endif
    }

    /// Makes the folder entry durable.
    private static func synchronizeFolder(of path: String) throws {
        let descriptor = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure() }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Failure() }
    }
}
