import Crypto
import Foundation
import JOSE

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension OAuth2Client {
    private static let sharedDefaultDPoPKeyStorage = Locked<(any DPoPKeyStorage)?>(nil)

    /// Where clients made from now on keep the keys that tokens are bound to: the Keychain on Apple's systems, encrypted files elsewhere.
    ///
    /// One for the whole app, because the clients of stored credentials are made from their tokens. Set it before the first client is made.
    public static var defaultDPoPKeyStorage: any DPoPKeyStorage {
        get {
            if let storage = sharedDefaultDPoPKeyStorage.withLock({ $0 }) { return storage }
            #if canImport(Security) && canImport(CryptoKit)
            return KeychainDPoPKeyStorage()
            #else
            return FileDPoPKeyStorage()
            #endif
        }
        set { sharedDefaultDPoPKeyStorage.withLock { $0 = newValue } }
    }

    /// What this client's key is called: the same for every client of that issuer with that identifier.
    private var dpopKeyName: String {
        Data(SHA256.hash(data: Data("\(configuration.issuerURL.absoluteString)\n\(configuration.clientId)".utf8))).base64URLEncoded
    }

    /// The thumbprint of the key that a code shall be bound to (RFC 9449, 10); nil if tokens are not bound.
    package func dpopThumbprint() throws -> String? {
        configuration.usesDPoP ? try dpopKey(boundTo: nil).thumbprint : nil
    }

    /// Deletes the key that this client's tokens are bound to, for good: tokens bound to it are of no more use on this device. The next
    /// sign-in makes another.
    ///
    /// - Throws: What the storage of keys throws.
    public func removeDPoPKey() throws {
        try dpopKeys.removeKey(named: dpopKeyName)
        state.withLock { $0.dpopKey = nil }
    }

    /// The key for a sign-in. One that can never be used again gives way to a new one: tokens bound to it are lost already.
    private func dpopKeyForSignIn(named name: String) throws -> DPoPKey {
        do {
            return try dpopKeys.keyMakingOne(named: name)
        } catch let error as DPoPError where error.isFinal {
            try dpopKeys.removeKey(named: name)
            return try dpopKeys.keyMakingOne(named: name)
        }
    }

    /// The key to prove with.
    ///
    /// - Parameter thumbprint: The one that it must be; nil for whichever there is, which is made if need be.
    /// - Returns: The key, which the client remembers.
    /// - Throws: ``DPoPError`` with ``DPoPError/Code/keyLost`` if it is not there any more; errors of the storage.
    private func dpopKey(boundTo thumbprint: String?) throws -> DPoPKey {
        if let known = state.withLock({ $0.dpopKey }), thumbprint == nil || thumbprint == known.thumbprint { return known }
        let name = dpopKeyName
        guard let key = try thumbprint == nil ? dpopKeyForSignIn(named: name) : dpopKeys.key(named: name),
            thumbprint == nil || thumbprint == key.thumbprint
        else { throw DPoPError.keyLost }
        state.withLock { $0.dpopKey = key }
        return key
    }

    /// Adds the proof that a request needs: requests for tokens have one, those with a bound access token have one with its hash, and
    /// revocations have one if there is a key.
    func prove(_ request: inout URLRequest, for asked: some OAuth2APIRequest) throws {
        if let token = asked.authorization as? Token {
            try authorize(&request, with: token)
        } else if configuration.usesDPoP {
            switch asked {
            case let refresh as RefreshRequest: try prove(&request, with: dpopKey(boundTo: refresh.dpopThumbprint))
            case is any OAuth2TokenRequest: try prove(&request, with: dpopKey(boundTo: nil))
            case is RevokeRequest:
                // A sign-out goes on without the key.
                if let key = try? dpopKeys.key(named: dpopKeyName) { try prove(&request, with: key) }
            default: break
            }
        }
    }

    /// Adds an access token to a request, with a proof if the token is bound to a key. Method and URL must be set before.
    ///
    /// - Throws: ``DPoPError`` with ``DPoPError/Code/keyLost`` if the key is not there any more; errors of reading. The request has no
    ///   authorization then.
    func authorize(_ request: inout URLRequest, with token: Token) throws {
        request.setValue(nil, forHTTPHeaderField: "Authorization")
        request.setValue(nil, forHTTPHeaderField: DPoPProof.header)
        if let thumbprint = token.context.dpopThumbprint, token.tokenType.lowercased() == "dpop" {
            try prove(&request, with: dpopKey(boundTo: thumbprint), accessToken: token.accessToken)
        }
        request.setValue(token.authorizationHeader, forHTTPHeaderField: "Authorization")
    }

    private func prove(_ request: inout URLRequest, with key: DPoPKey, accessToken: String? = nil) throws {
        guard let url = request.url else { throw APIClientError.invalidUrl }
        let proof = DPoPProof(
            method: request.httpMethod ?? "GET", url: url, issuedAt: now, id: randomness.identifier,
            nonce: DPoPNonce.origin(of: url).flatMap { origin in state.withLock { $0.dpopNonces[origin] } }, accessToken: accessToken)
        request.setValue(try key.proof(proof.claims), forHTTPHeaderField: DPoPProof.header)
    }

    /// Remembers the nonce that the server wants in the next proof (RFC 9449, 8.2).
    func learnNonce(from response: HTTPURLResponse) {
        guard configuration.usesDPoP, let nonce = response.header(DPoPNonce.header), DPoPNonce.isAcceptable(nonce),
            let origin = response.url.flatMap(DPoPNonce.origin)
        else { return }
        state.withLock { state in
            // Servers change theirs, clients meet few: what nobody has use for any more may go.
            if state.dpopNonces.count >= 100, state.dpopNonces[origin] == nil { state.dpopNonces = [:] }
            state.dpopNonces[origin] = nonce
        }
    }

    /// Sees to it that tokens which were to be bound are so (RFC 9449, 5): a server or whoever is in between must not turn that off.
    func checkBinding(of token: Token) throws {
        guard configuration.usesDPoP else { return }
        // `N_A` is no access token (RFC 8693, 2.2.1).
        guard ["dpop", "n_a"].contains(token.tokenType.lowercased()) else {
            throw DPoPError(
                .downgraded,
                "The server gave tokens of the type “\(token.tokenType)”, which are bound to no key. They were not taken. Check that the "
                    + "server supports DPoP for this client, or turn it off in the app's configuration.")
        }
    }
}
