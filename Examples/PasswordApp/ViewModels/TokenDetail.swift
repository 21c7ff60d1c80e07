package import AuthFoundation
package import Foundation
package import Wording

/// A part of the tokens as it is shown.
package struct TokenDetail: Identifiable, Equatable {
    /// The name.
    package let title: String
    /// The purpose.
    package let meaning: String
    /// The content.
    package let value: String
    /// Whether it is not made of words.
    package var isMonospaced = false

    package var id: String { title }
}

extension Token {
    /// The tokens, part by part, for a developer to look at. An app for other people does not show them: who sees a token can use it.
    ///
    /// - Parameters:
    ///   - wording: The language of the titles.
    ///   - now: The time by which their end is told.
    /// - Returns: The parts that there are.
    package func details(_ wording: Wording, now: Date) -> [TokenDetail] {
        var details = [
            TokenDetail(title: wording("Token Type"), meaning: wording("How the token is sent with a request."), value: tokenType),
            TokenDetail(
                title: wording("Access Token"), meaning: wording("What an API is shown so that it does what this app asks for."),
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
                    // In another case than the button of the same words, which other languages call something else.
                    title: wording("Refresh token"), meaning: wording("Gets the next tokens without asking for the password."),
                    value: refreshToken, isMonospaced: true))
        }
        if let expiresAt {
            let left = max(0, Int(expiresAt.timeIntervalSince(now)))
            details.append(
                TokenDetail(
                    title: wording("Expires In"), meaning: wording("How long the access token is still good."),
                    value: wording("%@ seconds", String(left))))
        }
        return details
    }
}
