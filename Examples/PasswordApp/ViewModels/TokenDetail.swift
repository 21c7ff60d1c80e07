package import AuthFoundation
package import Foundation
package import Wording

/// A section of the displayed tokens.
package struct TokenDetail: Identifiable, Equatable {
    /// The title of the section.
    package let title: String
    /// The purpose of the content, as a sentence.
    package let meaning: String
    /// The content of the section.
    package let value: String
    /// Whether the content is a token and not text.
    package var isMonospaced = false

    package var id: String { title }
}

extension Token {
    /// Returns the tokens in sections for developers. A production app does not show tokens, because a reader can use them.
    ///
    /// - Parameters:
    ///   - wording: The language of the titles.
    ///   - now: The current time, for the remaining lifetime of the tokens.
    package func details(_ wording: Wording, now: Date) -> [TokenDetail] {
        var details = [
            TokenDetail(title: wording("Token Type"), meaning: wording("The scheme for sending the token."), value: tokenType),
            TokenDetail(
                title: wording("Access Token"), meaning: wording("Authorizes this app's requests to an API."),
                value: accessToken, isMonospaced: true),
        ]
        if let scope {
            details.append(
                TokenDetail(title: wording("Scopes"), meaning: wording("What these tokens allow."), value: scope.joined(separator: ", ")))
        }
        if let idToken {
            details.append(
                TokenDetail(
                    title: wording("ID Token"), meaning: wording("Tells this app who signed in."), value: idToken.rawValue,
                    isMonospaced: true))
        }
        if let refreshToken {
            details.append(
                TokenDetail(
                    // The capitalization differs from that of the button, because other languages translate the two differently.
                    title: wording("Refresh token"), meaning: wording("Gets new tokens without the password."),
                    value: refreshToken, isMonospaced: true))
        }
        if let expiresAt {
            let left = max(0, Int(expiresAt.timeIntervalSince(now)))
            details.append(
                TokenDetail(
                    title: wording("Expires In"), meaning: wording("The remaining lifetime of the access token."),
                    value: wording("%@ seconds", String(left))))
        }
        return details
    }
}
