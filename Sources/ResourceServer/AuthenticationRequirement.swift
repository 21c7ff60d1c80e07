internal import Foundation

/// The sign-in that a resource requires of the user (RFC 9470).
///
/// ```swift
/// let payments = router.group("payments").add(
///     middleware: BearerAuthentication(verifier: verifier, authentication: .init(acrValues: ["urn:okta:loa:2fa:any"], maxAge: 300)))
/// ```
/// A token without a required claim does not meet the requirement. In particular, the token of a service has neither claim.
/// `Sendable`.
public struct AuthenticationRequirement: Sendable, Equatable {
    /// The longest ``maxAge``: ten years.
    static let longestAge = 315_360_000

    /// The accepted authentication context classes, in order of preference: the token's `acr` must be one of them. Empty accepts all, unless
    /// all given values were unusable: then no token is accepted.
    public let acrValues: [String]
    /// The maximum age of the sign-in in seconds, by the token's `auth_time`; `nil` accepts every age. The verifier tolerates its leeway in
    /// addition.
    public let maxAge: Int?

    /// Creates a requirement.
    /// - Parameters:
    ///   - acrValues: The accepted values of `acr`, in order of preference; empty accepts all. The client requests them in this order. A
    ///     text with spaces counts as several values. Values must have the characters of RFC 6749's scopes: visible ASCII without `"` and
    ///     `\`; others are left out.
    ///   - maxAge: The maximum age of the sign-in in seconds, 0 to 315,360,000 (ten years); `nil` accepts every age. A value beyond this
    ///     range counts as its limit.
    public init(acrValues: [String] = [], maxAge: Int? = nil) {
        self.acrValues = acrValues.flatMap { $0.split(separator: " ").map(String.init) }.filter(Self.isSendable)
        self.maxAge = maxAge.map { min(max($0, 0), Self.longestAge) }
        // A requirement whose values are all unusable must not accept every sign-in.
        isUnsatisfiable = self.acrValues.isEmpty && !acrValues.isEmpty
    }

    private let isUnsatisfiable: Bool

    private static func isSendable(_ value: String) -> Bool {
        value.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    /// Checks the sign-in of a verified token.
    /// - Parameters:
    ///   - leeway: The tolerated clock difference in seconds.
    ///   - missingScopes: The required scopes if the token lacks one of them; the error names them.
    func check(_ token: AccessToken, now: Date, leeway: TimeInterval, missingScopes: [String]) throws(AccessTokenError) {
        func refusal(_ message: String) -> AccessTokenError {
            AccessTokenError(.insufficientAuthentication, message, requiredScopes: missingScopes, requiredAuthentication: self)
        }
        if !acrValues.isEmpty || isUnsatisfiable {
            guard let level = token.authenticationContextClass, acrValues.contains(where: { $0.utf8.elementsEqual(level.utf8) }) else {
                throw refusal("This request needs a stronger sign-in. Sign in again with the acr_values of the challenge.")
            }
        }
        if let maxAge {
            guard let time = token.authenticationTime else {
                throw refusal("This request needs a recent sign-in, and the access token has no auth_time. Sign in again with max_age.")
            }
            let age = now.timeIntervalSince(time)
            guard age >= -leeway, age <= TimeInterval(maxAge) + leeway else {
                throw refusal("This request needs a newer sign-in: at most \(maxAge) seconds old. Sign in again with max_age.")
            }
        }
    }
}
