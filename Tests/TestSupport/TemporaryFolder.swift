public import Foundation

/// A folder that is deleted when its last reference is released. The first writer must create it.
public final class TemporaryFolder: Sendable {
    /// The URL of the folder.
    public let url: URL
    private let isKept: Bool

    /// Chooses a unique name for a folder.
    public init() {
        url = URL.temporaryDirectory.appending(path: "countersign-\(UUID().uuidString)", directoryHint: .isDirectory)
        isKept = false
    }

    /// Refers to an existing folder, which is not deleted.
    public init(keeping url: URL) {
        self.url = url
        isKept = true
    }

    deinit { if !isKept { try? FileManager.default.removeItem(at: url) } }

    /// The sorted names of the files in the folder.
    public var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    /// Returns the sorted names of the files that begin with this word and a dash.
    public func names(of kind: String) throws -> [String] { try names.filter { $0.hasPrefix(kind + "-") } }

    /// Returns the URL of a file in the folder.
    public func file(_ name: String) -> URL { url.appending(path: name) }

    /// Returns the POSIX permissions of a file.
    ///
    /// - Parameter name: The name of the file; empty for the folder itself.
    public func mode(of name: String = "") throws -> Int {
        let path = name.isEmpty ? url.path : file(name).path
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }
}
