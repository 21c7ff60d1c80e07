internal import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers

/// The provider tokens in use, one for each set of credentials (device-authenticator reference 9.2).
///
/// The service refuses tokens older than an hour, and providers that make a new one more often than every 20 minutes.
/// `Sendable`; safe from any thread or task.
final class ProviderTokens: Sendable {
    private struct Entry {
        let token: String
        let issuedAt: Date
        /// When a token was last replaced because the service called it too old.
        let forcedAt: Date?
    }

    /// After this a token is replaced: well before the hour at which the service refuses it.
    static let lifetime: TimeInterval = 50 * 60
    /// No more than one token that the service asked for in this time. If it refuses that one too, clocks differ, and more would not help.
    static let shortestRenewal: TimeInterval = 20 * 60
    /// A token from further in the future is replaced: the clock was set back, and the service would refuse it.
    static let toleratedFuture: TimeInterval = 60

    private let entries = NIOLockedValueBox<[APNsCredentials: Entry]>([:])

    /// The token to use now.
    ///
    /// - Throws: `JOSEError` if the key can't sign.
    func token(for credentials: APNsCredentials, now: Date) throws -> String {
        // Signing takes well under a millisecond. Under the lock it happens once, where many pushes meet an old token at the same time.
        try entries.withLockedValue { entries in
            if let entry = entries[credentials], -Self.toleratedFuture..<Self.lifetime ~= now.timeIntervalSince(entry.issuedAt) {
                return entry.token
            }
            return try Self.renew(&entries, for: credentials, now: now, forcedAt: entries[credentials]?.forcedAt)
        }
    }

    /// Sees to it that there is another token than one that the service called too old.
    ///
    /// - Parameters:
    ///   - refused: The token that was refused.
    ///   - credentials: Whose token it was.
    ///   - now: The time.
    /// - Returns: Whether it was made now; false if another push got it made before. Nil if there will be no other token yet, because the one
    ///   that the service asked for last is too young to be replaced.
    /// - Throws: `JOSEError` if the key can't sign.
    func renewal(of refused: String, for credentials: APNsCredentials, now: Date) throws -> Bool? {
        try entries.withLockedValue { entries in
            if let entry = entries[credentials] {
                if entry.token != refused { return false }
                if let forcedAt = entry.forcedAt, abs(now.timeIntervalSince(forcedAt)) < Self.shortestRenewal { return nil }
            }
            _ = try Self.renew(&entries, for: credentials, now: now, forcedAt: now)
            return true
        }
    }

    private static func renew(
        _ entries: inout [APNsCredentials: Entry], for credentials: APNsCredentials, now: Date, forcedAt: Date?
    ) throws -> String {
        // Credentials that were replaced leave a token behind, which nobody asks for any more.
        entries = entries.filter { abs(now.timeIntervalSince($0.value.issuedAt)) < 2 * lifetime }
        let claims: JSONValue = ["iss": .string(credentials.teamID), "iat": .integer(now.numericDate)]
        let token = try credentials.signingKey.sign(claims)
        entries[credentials] = Entry(token: token, issuedAt: now, forcedAt: forcedAt)
        return token
    }
}
