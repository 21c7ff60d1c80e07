import Crypto
import Foundation
import JOSE

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension OAuth2Client {
    private static let sharedDefaultDPoPKeyStorage = Locked<(any DPoPKeyStorage)?>(nil)

    /// The key storage for clients that are created later: by default the Keychain on Apple platforms, encrypted files elsewhere. It
    /// applies to the whole app, because the clients of stored credentials are created from their tokens. Set it before creating the first
    /// client.
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

    /// The name of this client's key. Clients with the same issuer and identifier share it.
    private var dpopKeyName: String {
        Data(SHA256.hash(data: Data("\(configuration.issuerURL.absoluteString)\n\(configuration.clientId)".utf8))).base64URLEncoded
    }

    /// Returns the thumbprint of the key to which an authorization code is bound (RFC 9449 §10), or `nil` if tokens are not bound.
    package func dpopThumbprint() throws -> String? {
        configuration.usesDPoP ? try dpopKey(boundTo: nil).thumbprint : nil
    }

    /// Deletes the key to which this client's tokens are bound. These tokens become unusable. The next sign-in creates a new key.
    /// - Throws: The errors of the key storage.
    public func removeDPoPKey() throws {
        try dpopKeys.removeKey(named: dpopKeyName)
        state.withLock { $0.dpopKey = nil }
    }

    /// Returns the key for a sign-in. A key that can never be used again is replaced, because tokens bound to it are already lost.
    private func dpopKeyForSignIn(named name: String) throws -> DPoPKey {
        do {
            return try dpopKeys.keyMakingOne(named: name)
        } catch let error as DPoPError where error.isFinal {
            try dpopKeys.removeKey(named: name)
            return try dpopKeys.keyMakingOne(named: name)
        }
    }

    /// Returns the key with this thumbprint. If `thumbprint` is `nil`, returns the stored key or creates one.
    /// - Throws: ``DPoPError`` with ``DPoPError/Code/keyLost`` if the key is missing; storage errors.
    private func dpopKey(boundTo thumbprint: String?) throws -> DPoPKey {
        if let thumbprint, let known = state.withLock({ $0.dpopKey }), known.thumbprint == thumbprint { return known }
        let key: DPoPKey
        if let thumbprint {
            guard let stored = try dpopKeys.key(named: dpopKeyName, boundTo: thumbprint) else { throw DPoPError.keyLost }
            key = stored
        } else {
            // A sign-in uses the stored key and not the one in memory. Another process may have deleted the stored key, and the new session
            // would lose its key at the next start of the app.
            key = try dpopKeyForSignIn(named: dpopKeyName)
        }
        state.withLock { $0.dpopKey = key }
        return key
    }

    /// Adds the DPoP proof that a request needs:
    /// - A request with a bound access token has a proof with the token's hash.
    /// - If the configuration binds tokens, a token request has a proof. A revocation has a proof if the key exists.
    func prove(_ request: inout URLRequest, for asked: some OAuth2APIRequest) throws {
        if let token = asked.authorization as? Token {
            try authorize(&request, with: token)
        } else if configuration.usesDPoP {
            switch asked {
            case let refresh as RefreshRequest: try prove(&request, with: dpopKey(boundTo: refresh.dpopThumbprint))
            case is any OAuth2TokenRequest: try prove(&request, with: dpopKey(boundTo: nil))
            case is RevokeRequest:
                // A revocation is sent even without the key.
                if let key = try? dpopKeys.key(named: dpopKeyName) { try prove(&request, with: key) }
            default: break
            }
        }
    }

    /// Adds an access token to a request, with a proof if the token is bound to a key. The request must already have its method and URL.
    /// - Throws: ``DPoPError`` with ``DPoPError/Code/keyLost`` if the key is missing; read errors. After an error, the request has no
    ///   authorization.
    func authorize(_ request: inout URLRequest, with token: Token) throws {
        request.setValue(nil, forHTTPHeaderField: "Authorization")
        request.setValue(nil, forHTTPHeaderField: DPoPNonce.proofHeader)
        if let thumbprint = token.context.dpopThumbprint, token.tokenType.lowercased() == "dpop" {
            try prove(&request, with: dpopKey(boundTo: thumbprint), accessToken: token.accessToken)
        }
        request.setValue(token.authorizationHeader, forHTTPHeaderField: "Authorization")
    }

    private func prove(_ request: inout URLRequest, with key: DPoPKey, accessToken: String? = nil) throws {
        guard let url = request.url else { throw APIClientError.invalidUrl }
        let proof = try DPoPProof.make(
            method: request.httpMethod ?? "GET", uri: Self.target(of: url), issuedAt: now.numericDate, jwtID: randomness.identifier,
            nonce: url.origin.flatMap { origin in state.withLock { $0.dpopNonces[origin] } }, accessToken: accessToken,
            publicKey: key.publicMembers, sign: key.sign)
        request.setValue(proof, forHTTPHeaderField: DPoPNonce.proofHeader)
    }

    /// Returns the URL without query, fragment and user information. An empty path becomes `/`.
    private static func target(of url: URL) -> String {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url.absoluteString }
        components.query = nil
        components.fragment = nil
        components.user = nil
        components.password = nil
        if components.percentEncodedPath.isEmpty { components.percentEncodedPath = "/" }
        return components.string ?? url.absoluteString
    }

    /// Stores the nonce that the server requires in the next proof (RFC 9449 §8.2).
    func learnNonce(from response: HTTPURLResponse) {
        guard configuration.usesDPoP, let nonce = response.header(DPoPNonce.header), DPoPNonce.isAcceptable(nonce),
            let origin = response.url?.origin
        else { return }
        state.withLock { state in
            // Clients contact few servers, and servers replace their nonces. Discarding all nonces is harmless.
            if state.dpopNonces.count >= 100, state.dpopNonces[origin] == nil { state.dpopNonces = [:] }
            state.dpopNonces[origin] = nonce
        }
    }

    /// Rejects tokens that are not bound although the configuration requires it (RFC 9449 §5). Prevents a downgrade by the server or an
    /// attacker.
    func checkBinding(of token: Token) throws {
        guard configuration.usesDPoP else { return }
        // `N_A` marks a token that is not an access token (RFC 8693 §2.2.1).
        guard ["dpop", "n_a"].contains(token.tokenType.lowercased()) else {
            throw DPoPError(
                .downgraded,
                "The server gave tokens of the type “\(token.tokenType)”, which are bound to no key. They were not taken. Check that the "
                    + "server supports DPoP for this client, or turn it off in the app's configuration.")
        }
    }
}
