package import AuthFoundation
package import Foundation
package import Wording

/// A part of the tokens as it is shown.
package struct TokenDetail: Identifiable, Equatable {
    /// What it is.
    package let title: String
    /// What it holds.
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
            TokenDetail(title: wording("Token Type"), value: tokenType),
            TokenDetail(title: wording("Access Token"), value: accessToken, isMonospaced: true),
        ]
        if let scope { details.append(TokenDetail(title: wording("Scopes"), value: scope.joined(separator: ", "))) }
        if let idToken { details.append(TokenDetail(title: wording("ID Token"), value: idToken.rawValue, isMonospaced: true)) }
        if let refreshToken { details.append(TokenDetail(title: wording("Refresh Token"), value: refreshToken, isMonospaced: true)) }
        if let expiresAt {
            let left = max(0, Int(expiresAt.timeIntervalSince(now)))
            details.append(TokenDetail(title: wording("Expires In"), value: wording("%@ seconds", String(left))))
        }
        return details
    }
}
