import Benchmark
import Crypto
import CryptoExtras
import Foundation
import JOSE

/// Measures the full verification of an access token of about 900 bytes (signature, lifetime, issuer, audience, parsed claims) and, for
/// comparison, the raw signature check of the same message with a prepared key and a decoded signature.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.throughput, .wallClock, .cpuTotal], warmupIterations: 3, scalingFactor: .kilo,
        maxDuration: .seconds(3))

    for algorithm in [JWSAlgorithm.rs256, .es256] {
        let subject: Subject
        do { subject = try Subject(algorithm) } catch { preconditionFailure("\(error)") }

        Benchmark("\(algorithm.rawValue) raw check") { benchmark in
            for _ in benchmark.scaledIterations { blackHole(subject.checkRaw()) }
        }
        Benchmark("\(algorithm.rawValue) full verification") { benchmark in
            for _ in benchmark.scaledIterations { blackHole(try subject.verify()) }
        }
        Benchmark("\(algorithm.rawValue) remembered token") { benchmark in
            for _ in benchmark.scaledIterations { blackHole(try subject.verifyAgain()) }
        }
        // Both checks alternate, so that other load on the machine affects them equally. The unit is thousandths of the raw check's rate.
        Benchmark(
            "\(algorithm.rawValue) full verification as a share of the raw check",
            configuration: .init(metrics: [Subject.share], scalingFactor: .one, maxDuration: .seconds(5))
        ) { benchmark in
            for _ in benchmark.scaledIterations { benchmark.measurement(Subject.share, try subject.measureShare()) }
        }
    }
}

/// A token, its verifier, and the raw check of the same signature.
struct Subject: Sendable {
    static let share = BenchmarkMetric.custom("share of raw, per mille", polarity: .prefersLarger, useScalingFactor: false)

    let token: String
    let verifier: JWTVerifier
    let cache: VerifiedTokenCache
    let checkRaw: @Sendable () -> Bool
    let now = Date(timeIntervalSince1970: 1_700_000_000)

    init(_ algorithm: JWSAlgorithm) throws {
        let key = try SigningKey.generate(algorithm, keyID: "Zm9yIHRoZSBiZW5jaG1hcms-a0b1c2d3e4f5g6h7i8j")
        let other = try SigningKey.generate(algorithm, keyID: "Qm7pF2nL9sT4vX1zB6cH8jK3rY5wD0gE-a0b1c2d3e4")
        token = try key.sign(Self.claims(filledUpFor: algorithm))
        verifier = JWTVerifier(
            keys: JSONWebKeySet([other, key].compactMap(\.publicKey)), algorithms: [.rs256, .es256],
            issuer: "https://id.example.com/oauth2/default", audience: ["api://default"])
        cache = VerifiedTokenCache(verifier: verifier)
        let parsed = try JSONWebSignature(parsing: token)
        let message = Data(parsed.signingInput)
        let pem = key.publicKey?.pemRepresentation ?? ""
        switch algorithm {
        case .es256:
            let key = try P256.Signing.PublicKey(pemRepresentation: pem)
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: parsed.signature)
            checkRaw = { key.isValidSignature(signature, for: message) }
        default:
            let key = try _RSA.Signing.PublicKey(pemRepresentation: pem)
            let signature = _RSA.Signing.RSASignature(rawRepresentation: parsed.signature)
            checkRaw = { key.isValidSignature(signature, for: message, padding: .insecurePKCS1v1_5) }
        }
        precondition(checkRaw() && 850...1000 ~= token.utf8.count)
    }

    private static func claims(filledUpFor algorithm: JWSAlgorithm) -> JSONValue {
        [
            "ver": 1, "jti": "AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE", "iss": "https://id.example.com/oauth2/default",
            "aud": "api://default", "iat": 1_700_000_000, "exp": 1_700_003_600, "auth_time": 1_700_000_000,
            "cid": "0oabucvyc38HLL1ef0h7", "uid": "00uixa271s6x7qt8I0h7", "sub": "jane.doe@example.com", "name": "Jane Doe",
            "scp": ["openid", "profile", "email", "offline_access", "messages.read"],
            // An ECDSA signature is shorter, so more claims give both tokens about the same length.
            "groups": JSONValue(Array(repeating: "Everyone in Engineering", count: algorithm == .es256 ? 7 : 1)),
        ]
    }

    func verify() throws -> Double? { try verifier.verify(token, now: now).expiresAt }

    func verifyAgain() throws -> Double? { try cache.verify(token, now: now).expiresAt }

    /// Returns the rate of the full verification in thousandths of the raw check's rate, measured by the CPU time of this thread.
    func measureShare() throws -> Int {
        var raw = 0.0
        var full = 0.0
        for _ in 0..<10 {
            raw += Self.processorTime { for _ in 0..<20 { blackHole(checkRaw()) } }
            full += try Self.processorTime { for _ in 0..<20 { blackHole(try verify()) } }
        }
        return Int((raw / full * 1000).rounded())
    }

    private static func processorTime(of body: () throws -> Void) rethrows -> Double {
        var before = timespec()
        var after = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before)
        try body()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after)
        return Double(after.tv_sec - before.tv_sec) * 1e9 + Double(after.tv_nsec - before.tv_nsec)
    }
}
