public import Foundation

/// A folder that is deleted with its owner. It is made by whoever first writes to it.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let url: URL
    private let isKept: Bool

    /// A folder with a name of its own.
    public init() {
        url = URL.temporaryDirectory.appending(path: "countersign-\(UUID().uuidString)", directoryHint: .isDirectory)
        isKept = false
    }

    /// Somebody else's folder, which stays.
    ///
    /// - Parameter url: Where it is.
    public init(keeping url: URL) {
        self.url = url
        isKept = true
    }

    deinit { if !isKept { try? FileManager.default.removeItem(at: url) } }

    /// The names of the files in it, sorted.
    public var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    /// The names that begin with a word and a dash, sorted.
    ///
    /// - Parameter kind: The word.
    /// - Returns: The names.
    /// - Throws: If there is no folder.
    public func names(of kind: String) throws -> [String] { try names.filter { $0.hasPrefix(kind + "-") } }

    /// A file in it.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Where it is.
    public func file(_ name: String) -> URL { url.appending(path: name) }

    /// Who may do what with a file.
    ///
    /// - Parameter name: Its name; empty for the folder itself.
    /// - Returns: The POSIX permissions.
    /// - Throws: If it does not exist.
    public func mode(of name: String = "") throws -> Int {
        let path = name.isEmpty ? url.path : file(name).path
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }
}
