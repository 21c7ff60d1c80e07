import Foundation

/// The folder for a test's screenshots. If `COUNTERSIGN_SCREENSHOTS` names a folder, the screenshots stay there; otherwise the folder is
/// temporary.
struct BrowserScreenshots {
    private static let kept = ProcessInfo.processInfo.environment["COUNTERSIGN_SCREENSHOTS"]

    let url: URL

    init() throws {
        url =
            Self.kept.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? FileManager.default.temporaryDirectory.appending(path: "countersign-pages-\(ProcessInfo.processInfo.globallyUniqueString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// Removes the folder if it is temporary.
    func close() {
        if Self.kept == nil { try? FileManager.default.removeItem(at: url) }
    }
}
