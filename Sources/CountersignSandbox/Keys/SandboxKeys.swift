internal import JOSE
internal import NIOConcurrencyHelpers

/// The keys that a sandbox created for its server, kept for forging tokens.
final class SandboxKeys: Sendable {
    private struct State {
        var known: [String: SigningKey] = [:]
        var usedSandboxOnlyKey = false
    }

    private let state = NIOLockedValueBox(State())

    /// Creates a key for an algorithm. The first RSA key is the compiled-in key.
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

    /// Adds the compiled-in key, because a folder's store may contain it from an earlier run.
    func rememberSandboxOnlyKey() throws {
        try remember(SandboxOnlyKey.signingKey())
    }

    /// Returns the key with an ID; `nil` if another run created it.
    func key(_ id: String) -> SigningKey? { state.withLockedValue { $0.known[id] } }

    private func remember(_ key: SigningKey) throws {
        var jwk = key.privateJWK
        jwk.keyID = jwk.thumbprint
        let named = try SigningKey(jwk, algorithm: key.algorithm)
        state.withLockedValue { $0.known[jwk.thumbprint] = named }
    }
}
