internal import JOSE
internal import NIOConcurrencyHelpers

/// The keys that a sandbox made for its server, kept so that tokens can be forged with them.
final class SandboxKeys: Sendable {
    private struct State {
        var known: [String: SigningKey] = [:]
        var usedSandboxOnlyKey = false
    }

    private let state = NIOLockedValueBox(State())

    /// A key for an algorithm: the first RSA key is the one that is compiled in, later ones are made.
    func make(_ algorithm: JWSAlgorithm) throws -> SigningKey {
        let isFirst = state.withLockedValue { state in
            guard algorithm == .rs256, !state.usedSandboxOnlyKey else { return false }
            state.usedSandboxOnlyKey = true
            return true
        }
        let key = isFirst ? try SandboxOnlyKey.signingKey() : try SigningKey.generate(algorithm)
        try remember(key)
        return key
    }

    /// Makes the compiled-in key the next RSA key again.
    func startOver() {
        state.withLockedValue { $0.usedSandboxOnlyKey = false }
    }

    /// The compiled-in key may be in a folder's store from an earlier run.
    func rememberSandboxOnlyKey() throws {
        try remember(SandboxOnlyKey.signingKey())
    }

    /// The key with an id; nil if another run made it.
    func key(_ id: String) -> SigningKey? { state.withLockedValue { $0.known[id] } }

    private func remember(_ key: SigningKey) throws {
        var jwk = key.privateJWK
        jwk.keyID = jwk.thumbprint
        let named = try SigningKey(jwk, algorithm: key.algorithm)
        state.withLockedValue { $0.known[jwk.thumbprint] = named }
    }
}
