import Foundation

/// A folder that is deleted with its owner.
final class TemporaryFolder: Sendable {
    let url: URL

    init() {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("countersign-\(UUID().uuidString)", isDirectory: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The names of the files in it, sorted.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    func mode(of name: String = "") throws -> Int {
        let path = name.isEmpty ? url.path : file(name).path
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }
}
