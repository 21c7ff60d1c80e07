import Foundation

/// Finds and reads `Okta.plist`.
enum PropertyListFile {
    static let name = "Okta.plist"

    /// Returns the file in the main bundle. On Linux, also searches the folder of the executable and the working directory.
    static func standard() -> URL? {
        if let url = Bundle.main.url(forResource: "Okta", withExtension: "plist") { return url }
        #if os(Linux)
        let folders = [
            Bundle.main.executableURL?.deletingLastPathComponent(), URL(filePath: FileManager.default.currentDirectoryPath),
        ]
        return first(in: folders.compactMap { $0 })
        #else
        return nil
        #endif
    }

    /// Returns the file in the first folder that contains it.
    static func first(in folders: [URL]) -> URL? {
        folders.map { $0.appending(path: name) }.first { FileManager.default.fileExists(atPath: $0.path(percentEncoded: false)) }
    }

    static func settings(at url: URL) throws -> [String: Any] {
        guard let data = try? Data(contentsOf: url) else {
            throw OAuth2Client.PropertyListConfigurationError.invalidPropertyList(url: url)
        }
        let list: Any
        do {
            list = try PropertyListSerialization.propertyList(from: data, format: nil)
        } catch {
            throw OAuth2Client.PropertyListConfigurationError.invalidPropertyList(url: url)
        }
        guard let settings = list as? [String: Any] else {
            throw OAuth2Client.PropertyListConfigurationError.invalidPropertyList(url: url)
        }
        return settings
    }
}
