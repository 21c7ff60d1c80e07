internal import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers

/// The current provider tokens, one for each set of credentials (device-authenticator reference 9.2). The service refuses tokens older than
/// an hour, and providers that create tokens more often than every 20 minutes. Safe from any thread or task.
final class ProviderTokens: Sendable {
    private struct Entry {
        let token: String
        let issuedAt: Date
        /// The last time that a token was replaced because the service called it expired.
        let forcedAt: Date?
    }

    /// The age at which a token is replaced, in seconds: well before the hour at which the service refuses it.
    static let lifetime: TimeInterval = 50 * 60
    /// The minimum time between renewals that the service demands, in seconds. If the service refuses the new token too, the clocks differ,
    /// and another token would not help.
    static let shortestRenewal: TimeInterval = 20 * 60
    /// The maximum time that a token may be issued in the future, in seconds. After the clock was set back, the service would refuse such a
    /// token.
    static let toleratedFuture: TimeInterval = 60

    private let entries = NIOLockedValueBox<[APNsCredentials: Entry]>([:])

    /// Returns the current token; throws `JOSEError` if the key cannot sign.
    func token(for credentials: APNsCredentials, now: Date) throws -> String {
        // Signing takes well under a millisecond. Under the lock, concurrent pushes with an old token sign only once.
        try entries.withLockedValue { entries in
            if let entry = entries[credentials], -Self.toleratedFuture..<Self.lifetime ~= now.timeIntervalSince(entry.issuedAt) {
                return entry.token
            }
            return try Self.renew(&entries, for: credentials, now: now, forcedAt: entries[credentials]?.forcedAt)
        }
    }

    /// Replaces a token that the service called expired. Returns `true` if this call created the new token, and `false` if another push
    /// did. Returns `nil` if the last such renewal was less than ``shortestRenewal`` ago. Throws `JOSEError` if the key cannot sign.
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
        // Remove tokens of credentials that are no longer used.
        entries = entries.filter { abs(now.timeIntervalSince($0.value.issuedAt)) < 2 * lifetime }
        let claims: JSONValue = ["iss": .string(credentials.teamID), "iat": .integer(now.numericDate)]
        let token = try credentials.signingKey.sign(claims)
        entries[credentials] = Entry(token: token, issuedAt: now, forcedAt: forcedAt)
        return token
    }
}
