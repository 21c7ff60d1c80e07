internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// An error of the client modules. It has a text for the user of an app, and a technical description for developers, which contains no
/// secret.
package protocol ClientError: Error, CustomDebugStringConvertible {
    /// The text for the user, in each language.
    var userText: ErrorText { get }
}

/// The text of an error for the user of an app. It has no codes, protocol terms and type names, because these do not help the user.
package struct ErrorText: Sendable, Hashable {
    /// A sentence that says what happened.
    package let description: LocalizedText
    /// A sentence that says what the user can do next; `nil` if there is nothing to do.
    package let suggestion: LocalizedText?

    package init(_ english: String, de german: String, next suggestion: LocalizedText? = nil) {
        self.init(LocalizedText(english, de: german), next: suggestion)
    }

    package init(_ description: LocalizedText, next suggestion: LocalizedText? = nil) {
        (self.description, self.suggestion) = (description, suggestion)
    }

    /// Creates the text of any error, which may come from an app or a system framework.
    package init(of error: any Error) {
        switch error {
        case let error as any ClientError: self = error.userText
        case is CancellationError: self = .cancelled
        case let error as URLError: self.init(error)
        case let error as any LocalizedError:
            guard let text = error.errorDescription else { fallthrough }
            self.init(LocalizedText(text, de: text), next: error.recoverySuggestion.map { LocalizedText($0, de: $0) })
        default:
            // Uses only a description that the error itself contains. The system's text for other errors names types and codes.
            let text = (error as NSError).userInfo[NSLocalizedDescriptionKey] as? String
            self = text.map { ErrorText(LocalizedText($0, de: $0)) } ?? .somethingWrong
        }
    }

    /// Creates the text of several errors. Texts that occur more than once are used once.
    package init(ofAll errors: [any Error]) {
        var texts: [ErrorText] = []
        for text in errors.map(ErrorText.init(of:)) where !texts.contains(text) { texts.append(text) }
        guard let first = texts.first else {
            self = .somethingWrong
            return
        }
        func joined(_ language: TextLanguage) -> String { texts.map { $0.description[language] }.joined(separator: " ") }
        self.init(joined(.english), de: joined(.german), next: first.suggestion)
    }
}

/// Returns the technical description of any error, for logs and the terminal. It is in English and contains no secret of a ``ClientError``.
package func technicalText(of error: any Error) -> String {
    switch error {
    case let error as any ClientError: return error.debugDescription
    case is CancellationError: return "The task was cancelled."
    // Its own description can contain the query of the URL, and with it a code.
    case let error as URLError: return technicalText(error.explanation, ["URL error \(error.code.rawValue)"])
    case let error as any LocalizedError:
        if let text = error.errorDescription { return text }
    default: break
    }
    let details = error as NSError
    let name = "\(details.domain) error \(details.code)"
    // The system's text for an error without a description says no more than its domain and code.
    return details.localizedDescription.contains(details.domain) ? name : technicalText(details.localizedDescription, [name])
}

/// Returns a technical description with details in parentheses at its end: codes, the status and the ID of the request, as far as known.
/// - Parameter underlying: The cause; it is left out if the sentence contains its description.
package func technicalText(_ sentence: String, _ details: [String?], causedBy underlying: (any Error)? = nil) -> String {
    let cause = underlying.map(technicalText(of:)).flatMap { sentence.contains($0) ? nil : $0 }
    let known = (details + [cause]).compactMap { $0 }.filter { !$0.isEmpty }
    return known.isEmpty ? sentence : "\(sentence) (\(known.joined(separator: ", ")))"
}
