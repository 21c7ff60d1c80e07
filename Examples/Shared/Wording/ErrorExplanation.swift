internal import Foundation

extension Error {
    /// The error's text for the user: what happened, and what to do next if the error says so. Both are in the user's language.
    public var explanation: String {
        let suggestion = (self as? any LocalizedError)?.recoverySuggestion
        return [localizedDescription, suggestion].compactMap(\.self).joined(separator: " ")
    }
}
