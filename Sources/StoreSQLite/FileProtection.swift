package import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Checks that other users of the machine can neither change nor read the server's files.
package enum FileProtection {
    /// The error for a file or folder that the server refuses to use.
    package struct Unsafe: Error {
        /// The problem, and the command that fixes it.
        package let message: String
    }

    /// The permissions of other users that make a file unsafe.
    package enum Secrecy: Sendable {
        /// Read or write: for files that the server creates with mode 0600.
        case ownerOnly
        /// Write: for files that an operator or a secret manager provides.
        case readableByOthers

        fileprivate var forbidden: mode_t { self == .ownerOnly ? 0o077 : 0o022 }
    }

    /// Checks a folder whose files the server trusts. A missing folder is safe.
    /// - Throws: ``Unsafe`` if the folder belongs to another user, or if others may write to it or replace it.
    package static func checkFolder(_ path: String) throws(Unsafe) {
        try checkParents(of: path, .serverOnly)
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw Unsafe(message: "\(path) is not a folder. Name another data folder.")
        }
        try checkOwner(status, path)
        guard status.st_mode & 0o022 == 0 else {
            throw Unsafe(message: "Other users may write to the folder \(path). Run: chmod 700 \(path)")
        }
    }

    /// Checks a file that an operator writes and that contains no secret itself. Its group may write it, and another user may own it. For
    /// anything but a regular file, only the folders above it are checked.
    /// - Throws: ``Unsafe`` if all users may write or replace the file.
    package static func checkConfiguration(_ path: String) throws(Unsafe) {
        try checkParents(of: path, .operators)
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o002 != 0 else { return }
        throw Unsafe(message: "All users may write the file \(path). Run: chmod o-w \(path)")
    }

    /// Checks a file without opening it, because SQLite loses its locks when the process closes any other descriptor of the file. A missing
    /// file is safe.
    /// - Throws: ``Unsafe`` if the path is a symbolic link or not a regular file, belongs to another user, or is accessible to others.
    package static func checkFile(_ path: String, _ secrecy: Secrecy) throws(Unsafe) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        try check(status, path, secrecy)
    }

    /// Opens a regular file for reading, without waiting for the writer of a named pipe. Returns `nil` if the file does not exist. With
    /// `followsLink`, the last path component may be a symbolic link.
    /// - Throws: ``Unsafe`` if the file is of another kind, belongs to another user, or is accessible to or replaceable by others.
    package static func open(_ path: String, _ secrecy: Secrecy, followsLink: Bool = false) throws(Unsafe) -> FileHandle? {
        try checkParents(of: path, .serverOnly)
        let descriptor = systemOpen(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP: throw notRegular(path)
            default: throw Unsafe(message: "\(path) cannot be opened: \(String(cString: strerror(errno))). Check who owns it.")
            }
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw notRegular(path) }
        try check(status, path, secrecy)
        return file
    }

    /// The users that may write to the folders above a path.
    private enum Writers {
        /// The server's user, root, and groups of these users only.
        case serverOnly
        /// Any user or group that owns a folder, but not all users.
        case operators
    }

    /// Checks the folders above a path and above the target of its links, because a user with write access to a folder can replace its
    /// contents. Access control lists and members of groups are not checked.
    private static func checkParents(of path: String, _ writers: Writers) throws(Unsafe) {
        let url = URL(filePath: path).absoluteURL
        for path in Set([url.path, url.resolvingSymlinksInPath().path]) {
            var child = path
            while child != "/", let slash = child.lastIndex(of: "/") {
                let parent = slash == child.startIndex ? "/" : String(child[..<slash])
                try checkParent(parent, of: child, writers)
                child = parent
            }
        }
    }

    private static func checkParent(_ parent: String, of child: String, _ writers: Writers) throws(Unsafe) {
        var status = stat()
        guard stat(parent, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
        guard writers == .operators || status.st_uid == geteuid() || status.st_uid == 0 else {
            throw Unsafe(
                message:
                    "The folder \(parent) belongs to another user, who may replace \(child). Choose another folder, or change the owner: chown"
            )
        }
        let isOpenToAll = status.st_mode & 0o002 != 0
        let isOpenToGroup = writers == .serverOnly && status.st_mode & 0o020 != 0 && !isPrivate(group: status.st_gid)
        guard isOpenToAll || isOpenToGroup else { return }
        guard status.st_mode & stickyBit != 0 else {
            let (whose, right) = isOpenToAll ? ("All users", "o-w") : ("The users of a group", "g-w")
            throw Unsafe(message: "\(whose) may write to the folder \(parent), and so replace \(child). Run: chmod \(right) \(parent)")
        }
        // In a sticky folder such as /tmp, only the owner can replace a file.
        if lstat(child, &status) == 0 { try checkOwner(status, child) }
    }

    /// Whether a group is root's, or the private group of the server's user, which by convention has the user's number.
    private static func isPrivate(group: gid_t) -> Bool { group == 0 || group == getegid() && group == geteuid() }

    /// `S_ISVTX`, whose type differs between systems.
    private static let stickyBit: mode_t = 0o1000

    private static func check(_ status: stat, _ path: String, _ secrecy: Secrecy) throws(Unsafe) {
        guard status.st_mode & S_IFMT == S_IFREG else { throw notRegular(path) }
        try checkOwner(status, path)
        guard status.st_mode & secrecy.forbidden == 0 else {
            throw Unsafe(message: "Other users may read or change \(path). Run: chmod 600 \(path)")
        }
    }

    private static func checkOwner(_ status: stat, _ path: String) throws(Unsafe) {
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw Unsafe(
                message: "\(path) belongs to another user, who may change it. Run the server as that user, or change the owner: chown")
        }
    }

    private static func notRegular(_ path: String) -> Unsafe {
        Unsafe(message: "\(path) is a symbolic link, a folder or a named pipe. Put the file itself there.")
    }
}

/// The system's `open`, which ``FileProtection/open(_:_:followsLink:)`` hides.
private let systemOpen: @Sendable (String, Int32) -> Int32 = { open($0, $1) }
