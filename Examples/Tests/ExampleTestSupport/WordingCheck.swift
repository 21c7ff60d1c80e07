internal import Foundation

/// The texts in an app's sources, and their translations.
public enum WordingCheck {
    /// The keys in the sources of an app, in calls of `words(…)`, that a language lacks; and those of the language that no source has.
    ///
    /// - Parameters:
    ///   - app: The app's folder.
    ///   - translated: The keys of the language.
    /// - Returns: The keys.
    /// - Throws: If the sources can't be read.
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
