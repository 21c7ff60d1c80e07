internal import AuthFoundation
internal import Foundation
internal import JOSE

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The keys with which an org signs challenges: fetched from the org, stored with the enrollments, and looked up by `kid`. A key set is
/// replaced as a whole, so that a key that the org has withdrawn disappears with the next fetch.
struct ChallengeKeys: Sendable {
    /// The lifetime of a key set without a new fetch, in seconds.
    static let goodFor: TimeInterval = 24 * 3600
    /// The age in seconds from which an enrollment, a change or a pull fetches the key set again.
    static let freshFor: TimeInterval = 3600
    /// The maximum number of keys per issuer. It is also the maximum number of issuers per org.
    static let maximumCount = 32

    let store: EnrollmentStore
    let transport: OrgTransport
    let clock: any OAuth2Clock

    /// Returns a stored key without network access; `nil` if the key is unknown or its key set is too old.
    func known(_ keyID: String, issuer: URL, organizationID: String) throws -> JSONWebKey? {
        guard let set = try store.challengeKeys(of: organizationID)?.issuers[issuer.absoluteString],
            age(of: set) < Self.goodFor
        else { return nil }
        return find(keyID, in: set.keys)
    }

    /// Returns the key. If it is not stored, fetches the key set once.
    /// - Throws: ``LocalFailure/notVerified`` if the org has no such key, or no keys for the issuer that the challenge names
    ///   (Documentation/Protocol/Devices.md §5.4); the error of ``refresh(_:organizationID:)`` if the keys cannot be fetched now.
    func key(_ keyID: String, issuer: URL, organizationID: String) async throws -> JSONWebKey {
        // A stored set that cannot be read counts as unknown.
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

    /// Whether the error means that the keys do not exist; `false` if they only cannot be fetched now.
    private static func isRefusal(_ error: DeviceAuthenticatorError) -> Bool {
        switch error {
        case .serverAPIError(let result, _): (result.response?.statusCode).map { $0 != 429 && $0 < 500 } ?? false
        case .internalError: true
        default: false
        }
    }

    /// Fetches the set again if it is not fresh. Ignores errors, because the next challenge retries.
    func refreshIfNeeded(_ issuer: URL, organizationID: String) async {
        let set = try? await store.run { try $0.challengeKeys(of: organizationID)?.issuers[issuer.absoluteString] }
        if let set = set ?? nil, age(of: set) < Self.freshFor { return }
        _ = try? await refresh(issuer, organizationID: organizationID)
    }

    /// Fetches and stores the key set (Documentation/Protocol/Devices.md §2.11).
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
        // Stores only keys that can sign challenges, and only their public part.
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
