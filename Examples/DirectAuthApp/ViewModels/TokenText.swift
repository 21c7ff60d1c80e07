package import AuthFoundation
package import Foundation
package import Wording

extension Credential {
    /// Returns the tokens as text for developers. A production app does not show tokens, because a reader can use them.
    ///
    /// - Parameter wording: The language of the names.
    /// - Returns: The names and values, with an empty line after each value.
    package func toString(_ wording: Wording) -> String { token.text(wording, now: oauth2.now) }
}

extension Token {
    /// Returns the tokens as text for developers, as `Credential.toString` does.
    ///
    /// - Parameters:
    ///   - wording: The language of the names.
    ///   - now: The current time, for the remaining lifetime of the tokens.
    ///   - isSpoken: Whether the text is for a screen reader. This text omits the tokens.
    /// - Returns: The names and values, with an empty line after each value.
    package func text(_ wording: Wording, now: Date, isSpoken: Bool = false) -> String {
        var lines = [wording("Token type: %@", tokenType)]
        if !isSpoken { lines.append(wording("Access Token: %@", accessToken)) }
        lines.append(wording("Scopes: %@", scope?.joined(separator: ",") ?? wording("No scopes found")))
        if let idToken, !isSpoken { lines.append(wording("ID Token: %@", idToken.rawValue)) }
        if let refreshToken, !isSpoken { lines.append(wording("Refresh Token: %@", refreshToken)) }
        if let expiresAt {
            let left = max(0, Int(expiresAt.timeIntervalSince(now)))
            lines.append(wording("Expires in: %@ seconds", String(left)))
        }
        return lines.map { $0 + "\n\n" }.joined()
    }
}
