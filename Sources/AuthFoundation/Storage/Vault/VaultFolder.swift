package import Foundation

/// The folder of a vault: mode 0700, with files of mode 0600 that are replaced atomically. Stateless. Safe against crashes, and against
/// other processes as long as writers hold the ``VaultLock``.
package struct VaultFolder: Sendable {
    /// The version of a file, determined without reading the file.
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

    /// Creates the folder if needed and checks that other users cannot change it.
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

    /// Creates the folder if needed and runs a change under the lock that excludes changes by other processes.
    /// - Parameter isOurs: Returns whether a file name belongs to the vault. The folder can contain other files.
    package func locked<Result>(
        timeout: Duration, sweeping isOurs: (String) -> Bool, _ change: () throws -> Result
    ) throws -> Result {
        try create()
        let lock = try VaultLock.acquire(VaultFileName.lock, in: self, timeout: timeout)
        defer { lock.release() }
        try sweep(where: isOurs)
        return try change()
    }

    /// Deletes temporary files of writers that were killed. The caller must hold the lock, so that no writer is active.
    private func sweep(where isOurs: (String) -> Bool) throws {
        for name in try allNames() where name.hasSuffix(Self.temporarySuffix) && isOurs(String(name.dropLast(Self.temporarySuffix.count))) {
            unlink(path(of: name))
        }
    }

    /// Returns the matching file names, sorted. Empty if the folder does not exist.
    package func names(beginning prefix: String, ending suffix: String) throws -> [String] {
        try allNames().filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }.sorted()
    }

    /// Returns the fingerprint of a file, or `nil` if it does not exist.
    func fingerprint(of name: String) -> Fingerprint? {
        var status = stat()
        guard lstat(path(of: name), &status) == 0 else { return nil }
        return Fingerprint(status)
    }

    package func exists(_ name: String) -> Bool { fingerprint(of: name) != nil }

    /// Reads a file, or returns `nil` if it does not exist. If `isSecret` is true, throws if other users have access to the file.
    package func read(_ name: String, isSecret: Bool = false) throws -> (data: Data, fingerprint: Fingerprint)? {
        // Without O_NONBLOCK, a named pipe in place of the file would block the caller.
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

    /// Writes a file durably and atomically: a crash leaves either the old content or the new.
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

    /// Deletes a file durably. No-op if it does not exist.
    package func remove(_ name: String) throws {
        guard unlink(path(of: name)) == 0 else {
            if errno == ENOENT { return }
            throw systemError("deleted", name)
        }
        try synchronize()
    }

    /// Makes the directory entries durable.
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
            // Read in place: the record ends after the name, before the end of the declared array.
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

/// The user's folders, according to the [XDG Base Directory Specification](https://specifications.freedesktop.org/basedir-spec/latest/).
package enum UserFolders {
    /// The home folder of the user who runs this process.
    package static var home: String { home(environment: ProcessInfo.processInfo.environment, systemHome: NSHomeDirectory()) }

    /// Returns the folder in `HOME`, or else the home folder that the system reports. Foundation on Linux ignores `HOME`, which containers,
    /// services and tests set. On Apple platforms Foundation returns the correct folder, such as the container of a sandboxed app.
    package static func home(environment: [String: String], systemHome: String) -> String {
        #if canImport(Darwin)
        return systemHome
        #else
        guard let path = environment["HOME"], path.hasPrefix("/") else { return systemHome }
        return path
        #endif
    }

    /// Returns the folder for program data: `XDG_DATA_HOME`, else `.local/share` in the home folder.
    package static func data(
        environment: [String: String] = ProcessInfo.processInfo.environment, home: String = UserFolders.home
    ) -> URL {
        // The specification requires ignoring a relative path.
        if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") { return URL(fileURLWithPath: path, isDirectory: true) }
        return URL(fileURLWithPath: home, isDirectory: true).appendingPathComponent(".local/share", isDirectory: true)
    }
}

/// The default location of this program's vault.
enum VaultLocation {
    /// Returns `COUNTERSIGN_VAULT` if set, else `countersign/<program>/credentials` in the user's data folder.
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
