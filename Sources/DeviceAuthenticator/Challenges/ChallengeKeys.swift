internal import AuthFoundation
internal import Foundation
internal import JOSE

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The keys that an org signs challenges with: read from the org, kept with the enrollments, found by `kid`.
///
/// A set is kept whole, so that a key that the org has withdrawn is gone with the next reading.
struct ChallengeKeys: Sendable {
    /// How long a set is good without asking the org again, in seconds.
    static let goodFor: TimeInterval = 24 * 3600
    /// How old a set may be before a pull or a change reads it again, in seconds.
    static let freshFor: TimeInterval = 3600
    /// The most keys of one issuer, and the most issuers of one org.
    static let maximumCount = 32

    let store: EnrollmentStore
    let transport: OrgTransport
    let clock: any OAuth2Clock

    /// The key that is known, without asking anybody.
    ///
    /// - Returns: nil if it is not known, or was read too long ago.
    func known(_ keyID: String, issuer: URL, organizationID: String) throws -> JSONWebKey? {
        guard let set = try store.challengeKeys(of: organizationID)?.issuers[issuer.absoluteString],
            age(of: set) < Self.goodFor
        else { return nil }
        return find(keyID, in: set.keys)
    }

    /// The key, read from the org if it is not known; once.
    ///
    /// - Throws: ``LocalFailure/notVerified`` if the org has no such key, or names none for the issuer, which the challenge itself has
    ///   named: the device-authenticator reference 5.4. What ``refresh(_:organizationID:)`` throws if the keys can't be read just now.
    func key(_ keyID: String, issuer: URL, organizationID: String) async throws -> JSONWebKey {
        // What can't be read is as good as not known: the org is asked.
        let known = try? await store.run { _ in try self.known(keyID, issuer: issuer, organizationID: organizationID) }
        if let key = known ?? nil { return key }
        let keys: [JSONValue]
        do {
            keys = try await refresh(issuer, organizationID: organizationID)
        } catch let error as DeviceAuthenticatorError where Self.isRefusal(error) {
            throw LocalFailure.notVerified
        }
        guard let key = find(keyID, in: keys) else { throw LocalFailure.notVerified }
        return key
    }

    /// Whether the org's answer says that there are no such keys, and not that it can't tell now.
    private static func isRefusal(_ error: DeviceAuthenticatorError) -> Bool {
        switch error {
        case .serverAPIError(let result, _): (result.response?.statusCode).map { $0 != 429 && $0 < 500 } ?? false
        case .internalError: true
        default: false
        }
    }

    /// Reads the set again if it is not fresh. Failing is no harm: the next challenge tries again.
    func refreshIfNeeded(_ issuer: URL, organizationID: String) async {
        let set = try? await store.run { try $0.challengeKeys(of: organizationID)?.issuers[issuer.absoluteString] }
        if let set = set ?? nil, age(of: set) < Self.freshFor { return }
        _ = try? await refresh(issuer, organizationID: organizationID)
    }

    /// Reads the set from the org (the device-authenticator reference 2.11).
    ///
    /// - Throws: ``DeviceAuthenticatorError/networkError(_:)``, ``DeviceAuthenticatorError/serverAPIError(_:_:)``,
    ///   ``DeviceAuthenticatorError/internalError(_:)``, `CancellationError`.
    @discardableResult
    func refresh(_ issuer: URL, organizationID: String) async throws -> [JSONValue] {
        let discovery = try await transport.json(OrgRequests.discovery(of: issuer))
        guard let uri = discovery["jwks_uri"]?.stringValue.flatMap({ URL(string: $0) }), LoopbackRule.isAcceptable(uri),
            uri.scheme?.lowercased() == "https" || issuer.scheme == "http"
        else {
            throw DeviceAuthenticatorError.internalError("The discovery document of \(issuer.absoluteString) names no usable jwks_uri.")
        }
        guard let published = try await transport.json(OrgRequests.keys(at: uri))["keys"]?.arrayValue else {
            throw DeviceAuthenticatorError.internalError("The key set of \(issuer.absoluteString) has no keys.")
        }
        // Only what can sign a challenge, and of that only the public form, is kept.
        let keys = published.compactMap { try? JSONWebKey($0) }.filter { $0.keyType == .rsa && $0.keyID != nil }
            .prefix(Self.maximumCount).compactMap { $0.publicKey?.json() }
        let set = ChallengeKeyRecord.KeySet(fetchedAt: clock.now, keys: keys)
        try await store.run { store in
            try store.updateChallengeKeys(of: organizationID) { record in
                record.issuers[issuer.absoluteString] = set
                while record.issuers.count > Self.maximumCount,
                    let oldest = record.issuers.min(by: { $0.value.fetchedAt < $1.value.fetchedAt })
                {
                    record.issuers[oldest.key] = nil
                }
            }
        }
        return keys
    }

    private func find(_ keyID: String, in keys: [JSONValue]) -> JSONWebKey? {
        keys.first { $0["kid"]?.stringValue == keyID }.flatMap { try? JSONWebKey($0) }
    }

    private func age(of set: ChallengeKeyRecord.KeySet) -> TimeInterval { clock.now.timeIntervalSince(set.fetchedAt) }
}
