import Foundation
import JOSE
import Testing

@Suite("VerifiedTokenCache")
struct VerifiedTokenCacheTests {
    let key: SigningKey
    let now = JWTVerifierTests.now

    init() throws { key = try SigningKey.generate(.es256, keyID: "k1") }

    private func token(_ number: Int, expiresIn seconds: Int64 = 3600) throws -> String {
        var claims = JWTVerifierTests.claims(with: "sub", .string("user\(number)"))
        claims["exp"] = .integer(1_700_000_000 + seconds)
        return try key.sign(claims)
    }

    @Test("The token cache returns the same claims for a cached token")
    func remembers() throws {
        let cache = VerifiedTokenCache(verifier: JWTVerifierTests.verifier(key))
        let token = try token(1)
        let first = try cache.verify(token, now: now)
        #expect(cache.count == 1)
        #expect(try cache.verify(token, now: now).json == first.json)
        #expect(cache.count == 1)
    }

    @Test("The token cache rejects a cached token after the token's expiry, and removes the token")
    func expires() throws {
        let cache = VerifiedTokenCache(verifier: JWTVerifierTests.verifier(key, leeway: 0))
        let token = try token(1, expiresIn: 10)
        #expect(try cache.verify(token, now: now + 9).subject == "user1")
        #expect(throws: JOSEError(.expired, "")) { try cache.verify(token, now: now + 10) }
        #expect(cache.count == 0)
    }

    @Test("The token cache rejects a cached token if the clock is before the token's issue time")
    func clockGoesBack() throws {
        let cache = VerifiedTokenCache(verifier: JWTVerifierTests.verifier(key))
        let token = try token(1)
        _ = try cache.verify(token, now: now)
        #expect(throws: JOSEError(.issuedInFuture, "")) { try cache.verify(token, now: now - 61) }
    }

    @Test("The token cache does not store a rejected token")
    func forgetsFailures() throws {
        let cache = VerifiedTokenCache(verifier: JWTVerifierTests.verifier(key))
        let other = try SigningKey.generate(.es256, keyID: "k1")
        for token in try [other.sign(JWTVerifierTests.claims), key.sign(JWTVerifierTests.claims(with: "aud", "other")), "a.b.c", ""] {
            #expect(throws: JOSEError.self) { try cache.verify(token, now: now) }
        }
        #expect(cache.count == 0)
    }

    @Test("A token that differs from a cached token in its payload or encoding is verified again and rejected")
    func wholeToken() throws {
        let cache = VerifiedTokenCache(verifier: JWTVerifierTests.verifier(key))
        let good = try token(1)
        _ = try cache.verify(good, now: now)
        let parts = good.split(separator: ".")
        let payload = Base64URL.encode(JWTVerifierTests.claims(with: "sub", "admin").serialized())
        #expect(throws: JOSEError(.badSignature, "")) { try cache.verify("\(parts[0]).\(payload).\(parts[2])", now: now) }
        #expect(throws: JOSEError(.malformed, "")) {
            try cache.verify(good.replacingOccurrences(of: "K", with: "\u{212A}") + " ", now: now)
        }
    }

    @Test("The token cache never exceeds its capacity, and keeps a token that is used often")
    func bounded() throws {
        let cache = VerifiedTokenCache(verifier: JWTVerifierTests.verifier(key), capacity: 8)
        let kept = try token(0)
        for number in 1...50 {
            _ = try cache.verify(kept, now: now)
            _ = try cache.verify(token(number), now: now)
            #expect(cache.count <= 8)
        }
        let count = cache.count
        _ = try cache.verify(kept, now: now)
        #expect(cache.count == count)
    }

    @Test("Replacing the verifier empties the token cache, so that a token of the old key is rejected")
    func replacement() throws {
        let cache = VerifiedTokenCache(verifier: JWTVerifierTests.verifier(key))
        let token = try token(1)
        _ = try cache.verify(token, now: now)
        cache.replaceVerifier(JWTVerifierTests.verifier(try SigningKey.generate(.es256, keyID: "k2")))
        #expect(cache.count == 0)
        #expect(throws: JOSEError(.unknownKey, "")) { try cache.verify(token, now: now) }
    }

    @Test("Many concurrent tasks can share one token cache, and each task gets the claims of its own token")
    func concurrency() async throws {
        let cache = VerifiedTokenCache(verifier: JWTVerifierTests.verifier(key), capacity: 16)
        let tokens = try (0..<24).map { try token($0) }
        let now = now
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for round in 0..<200 {
                group.addTask {
                    let number = round * 7 % 24
                    return try cache.verify(tokens[number], now: now).subject == "user\(number)"
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(cache.count <= 16)
    }
}
