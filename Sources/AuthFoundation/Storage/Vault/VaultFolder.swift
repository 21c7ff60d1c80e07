package import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The files of a vault: a folder of 0700 with files of 0600, each replaced as a whole or not at all.
///
/// A value without state; what it does is safe against crashes, and against other processes as long as writers hold the ``VaultLock``.
package struct VaultFolder: Sendable {
    /// What tells one version of a file from the next without reading it.
    package struct Fingerprint: Equatable {
        private let inode: UInt64
        private let size: Int64
        private let seconds: Int
        private let nanoseconds: Int

        init(_ status: stat) {
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            #if canImport(Darwin)
            seconds = status.st_mtimespec.tv_sec
            nanoseconds = status.st_mtimespec.tv_nsec
            #else
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
            #endif
        }
    }

    private static let temporarySuffix = ".tmp"

    package let path: String

    package init(path: String) {
        self.path = path
    }

    func path(of name: String) -> String { path + "/" + name }

    /// Makes the folder if need be, and sees to it that not everybody may change it.
    package func create() throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw VaultError(
                .inaccessible, entry: path, "The folder \(path) for credentials can't be made. Check the rights of the folder above it.",
                underlying: error)
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw systemError("looked at", path) }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw VaultError(
                .insecurePermissions, entry: path,
                "The folder \(path) belongs to another user, who may change what is in it. Name a folder of your own for the credentials.")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw VaultError(
                .insecurePermissions, entry: path,
                "Others may change the folder \(path), so credentials are not safe there. Run: chmod 700 \(path)")
        }
    }

    /// Deletes files that a writer left when it was killed. Only for who holds the lock: then no writer is at work.
    ///
    /// - Parameter isOurs: Whether a file of that name belongs to the vault. The folder may be one that somebody uses for more.
    /// - Throws: ``VaultError`` if the folder can't be listed.
    package func sweep(where isOurs: (String) -> Bool) throws {
        for name in try allNames() where name.hasSuffix(Self.temporarySuffix) && isOurs(String(name.dropLast(Self.temporarySuffix.count))) {
            unlink(path(of: name))
        }
    }

    /// The names of the files that begin so, sorted; none if there is no folder.
    package func names(beginning prefix: String, ending suffix: String) throws -> [String] {
        try allNames().filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }.sorted()
    }

    /// - Returns: nil if there is no such file.
    func fingerprint(of name: String) -> Fingerprint? {
        var status = stat()
        guard lstat(path(of: name), &status) == 0 else { return nil }
        return Fingerprint(status)
    }

    package func exists(_ name: String) -> Bool { fingerprint(of: name) != nil }

    /// - Returns: nil if there is no such file.
    package func read(_ name: String, isSecret: Bool = false) throws -> (data: Data, fingerprint: Fingerprint)? {
        // Without O_NONBLOCK a named pipe in place of the file would keep the caller waiting for a writer.
        let descriptor = open(path(of: name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw systemError("opened", name)
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw systemError("looked at", name) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw notRegular(name) }
        if isSecret, status.st_mode & 0o077 != 0 {
            throw VaultError(
                .insecurePermissions, entry: name, "Others may read \(path(of: name)). Run: chmod 600 \(path(of: name))")
        }
        do {
            return (try file.readToEnd() ?? Data(), Fingerprint(status))
        } catch {
            throw VaultError(.inaccessible, entry: name, "\(path(of: name)) can't be read.", underlying: error)
        }
    }

    /// Writes a file so that it is durable when this returns, and so that a crash leaves either the old content or the new.
    package func write(_ data: Data, to name: String) throws {
        let temporary = path(of: name) + Self.temporarySuffix
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw systemError("made", name) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw notRegular(name + Self.temporarySuffix) }
        do {
            try file.write(contentsOf: data)
            try file.synchronize()
            try file.close()
        } catch {
            unlink(temporary)
            throw VaultError(.inaccessible, entry: name, "\(path(of: name)) can't be written. Is the disk full?", underlying: error)
        }
        guard rename(temporary, path(of: name)) == 0 else {
            let failure = systemError("replaced", name)
            unlink(temporary)
            throw failure
        }
        try synchronize()
    }

    /// Deletes a file for good. One that is not there is no error.
    package func remove(_ name: String) throws {
        guard unlink(path(of: name)) == 0 else {
            if errno == ENOENT { return }
            throw systemError("deleted", name)
        }
        try synchronize()
    }

    /// Makes the folder's list of names durable.
    private func synchronize() throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw systemError("opened", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw systemError("flushed", path) }
    }

    private func allNames() throws -> [String] {
        guard let folder = opendir(path) else {
            if errno == ENOENT { return [] }
            throw systemError("listed", path)
        }
        defer { closedir(folder) }
        var names: [String] = []
        let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 0
        while let entry = readdir(folder) {
            // Read in place: the record ends with the name, before the end of the array that the type declares.
            names.append(String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)))
        }
        return names
    }

    private func notRegular(_ name: String) -> VaultError {
        VaultError(.inaccessible, entry: name, "\(path(of: name)) is not a regular file. Remove it.")
    }

    private func systemError(_ action: String, _ name: String) -> VaultError {
        let code = errno
        return VaultError(
            .inaccessible, entry: name, "\(name) can't be \(action) in \(path): \(String(cString: strerror(code))).",
            underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) })
    }
}

/// The user's folders, by the [XDG Base Directory Specification](https://specifications.freedesktop.org/basedir-spec/latest/).
package enum UserFolders {
    /// The home folder of the user who runs this process.
    package static var home: String { home(environment: ProcessInfo.processInfo.environment, systemHome: NSHomeDirectory()) }

    /// The folder that `HOME` names, or else the folder that the system reports.
    ///
    /// Foundation on Linux reads only the password database and ignores `HOME`, which containers, services and tests set.
    /// On Apple's systems Foundation returns the correct folder: the container of a sandboxed app.
    package static func home(environment: [String: String], systemHome: String) -> String {
        #if canImport(Darwin)
        return systemHome
        #else
        guard let path = environment["HOME"], path.hasPrefix("/") else { return systemHome }
        return path
        #endif
    }

    /// The folder for the data of programs: `XDG_DATA_HOME`, else `.local/share` in the home folder.
    package static func data(
        environment: [String: String] = ProcessInfo.processInfo.environment, home: String = UserFolders.home
    ) -> URL {
        // The specification says to ignore a relative path.
        if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") { return URL(fileURLWithPath: path, isDirectory: true) }
        return URL(fileURLWithPath: home, isDirectory: true).appendingPathComponent(".local/share", isDirectory: true)
    }
}

/// Where the vault of this program lies unless the app says otherwise.
enum VaultLocation {
    /// `COUNTERSIGN_VAULT` if set, else `countersign/<program>/credentials` in the user's data folder (XDG base directories).
    static func folder(environment: [String: String], home: String, program: String) -> URL {
        if let path = environment["COUNTERSIGN_VAULT"], !path.isEmpty {
            return URL(fileURLWithPath: path, isDirectory: true)
        }
        let name = program.isEmpty ? "default" : program
        return UserFolders.data(environment: environment, home: home).appendingPathComponent(
            "countersign/\(name)/credentials", isDirectory: true)
    }

    static var current: URL {
        folder(
            environment: ProcessInfo.processInfo.environment, home: UserFolders.home,
            program: URL(fileURLWithPath: ProcessInfo.processInfo.arguments.first ?? "").lastPathComponent)
    }
}
