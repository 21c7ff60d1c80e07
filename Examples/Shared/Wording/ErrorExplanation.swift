internal import Foundation

extension Error {
    /// The error's text for the user in the user's language: the reason, and the next step if the error has one.
    public var explanation: String {
        let suggestion = (self as? any LocalizedError)?.recoverySuggestion
        return [localizedDescription, suggestion].compactMap(\.self).joined(separator: " ")
    }
}
