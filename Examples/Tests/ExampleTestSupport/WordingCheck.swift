internal import Foundation

/// The check that an app's sources and its translations have the same texts.
public enum WordingCheck {
    /// Returns the differences: the keys of `words(…)` calls in an app's sources that have no translation, and the translated keys that no
    /// source uses.
    ///
    /// - Parameters:
    ///   - app: The app's folder.
    ///   - translated: The translated keys.
    /// - Throws: An error if the sources cannot be read.
    public static func differences(app: String, translated: some Sequence<String>) throws -> Set<String> {
        let examples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let files = FileManager.default.enumerator(at: examples.appending(path: app), includingPropertiesForKeys: nil)
        var keys: Set<String> = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let source = try String(contentsOf: file, encoding: .utf8)
            for match in source.matches(of: /words\(\s*"([^"]+)"/) { keys.insert(String(match.1)) }
        }
        return keys.symmetricDifference(translated)
    }
}
