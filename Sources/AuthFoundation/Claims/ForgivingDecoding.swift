package import Foundation

extension KeyedDecodingContainer {
    /// A number, or a string with one.
    package func seconds(_ key: Key) -> TimeInterval? {
        let seconds = (try? decode(Double.self, forKey: key)) ?? text(key).flatMap { Double($0) }
        return seconds.flatMap { $0.isFinite ? $0 : nil }
    }

    /// A string that is not blank.
    package func text(_ key: Key) -> String? {
        let text = (try? decode(String.self, forKey: key))?.trimmingCharacters(in: .whitespacesAndNewlines)
        return text?.isEmpty == false ? text : nil
    }
}
