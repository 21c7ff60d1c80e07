import Foundation

/// A folder for a test's screenshots: the one that `COUNTERSIGN_SCREENSHOTS` names, which stays, or one of its own.
struct BrowserScreenshots {
    private static let kept = ProcessInfo.processInfo.environment["COUNTERSIGN_SCREENSHOTS"]

    let url: URL

    init() throws {
        url =
            Self.kept.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? FileManager.default.temporaryDirectory.appending(path: "countersign-pages-\(ProcessInfo.processInfo.globallyUniqueString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// Removes it, if nobody wants to look at it.
    func close() {
        if Self.kept == nil { try? FileManager.default.removeItem(at: url) }
    }
}
