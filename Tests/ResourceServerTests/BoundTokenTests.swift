import Foundation
import JOSE
import Synchronization
import TestSupport
import Testing

@testable import ResourceServer

@Suite("DPoP-bound access tokens (RFC 9449 section 7)")
struct BoundTokenTests {
    private static let origin = "https://api.example.com"
    private static let path = "/api/messages"
    private static let algorithms = #"algs="RS256 RS384 RS512 ES256 ES384 ES512""#

    let issuer: TestIssuer
    let time = ManualClock(TestIssuer.now)
    let maker: ProofMaker
    let thief: ProofMaker

    init() throws {
        issuer = try TestIssuer()
        maker = try ProofMaker()
        thief = try ProofMaker()
    }

    private func boundToken() throws -> String { try issuer.token(changing: ["cnf": ["jkt": .string(maker.thumbprint)]]) }

    private func verifier(_ rules: ProofRules = ProofRules(), mode: AccessTokenVerifier.Mode = .local) -> AccessTokenVerifier {
        AccessTokenVerifier(issuer, time: time, mode: mode, proofs: rules)
    }

    private func proof(
        _ token: String, by other: ProofMaker? = nil, method: String = "GET", url: String = origin + path, nonce: String? = nil,
        changing claims: [String: JSONValue?] = [:]
    ) throws -> RequestProof {
        let text = try (other ?? maker).proof(method, url, at: time.now, nonce: nonce, accessToken: token, changing: claims)
        return RequestProof(values: [text], method: "GET", url: Self.origin + Self.path)
    }

    // MARK: - The verifier

    @Test("A DPoP-bound access token is accepted with a proof by its key, in local mode and in introspection mode")
    func accepted() async throws {
        let token = try boundToken()
        let verified = try await verifier().verify(token, proof: try proof(token))
        #expect(verified.keyThumbprint == maker.thumbprint)
        var claims = try JSONWebSignature(parsing: token).unverifiedClaims().json
        claims["active"] = true
        issuer.state.withLock { [claims] in $0.introspection = claims }
        let asking = verifier(mode: .introspection(.init(id: "api", secret: "secret")))
        #expect(try await asking.verify(token, proof: try proof(token)).keyThumbprint == maker.thumbprint)
        #expect(await refusal { try await asking.verify(token) } == .keyNotProved)
    }

    @Test("A bound access token is rejected as a bearer token, whatever the token is bound to")
    func downgrade() async throws {
        let verifier = verifier()
        for binding in [["jkt": .string(maker.thumbprint)], ["x5t#S256": "abc"], [:], "key"] as [JSONValue] {
            let token = try issuer.token(changing: ["cnf": binding])
            #expect(await refusal { try await verifier.verify(token) } == .keyNotProved)
            #expect(await refusal { try verifier.verifyNow(token) } == .keyNotProved)
        }
    }

    @Test("If a proof is sent with an access token that is not DPoP-bound, the access token is rejected")
    func notBound() async throws {
        let verifier = verifier()
        for binding in [nil, ["x5t#S256": "abc"]] as [JSONValue?] {
            let token = try issuer.token(changing: ["cnf": binding])
            let proof = try proof(token)
            #expect(await refusal { try await verifier.verify(token, proof: proof) } == .notBound)
        }
    }

    @Test("A DPoP-bound access token is rejected if the proof is missing, repeated, or for another key, request, token or time")
    func badProofs() async throws {
        let verifier = verifier()
        let token = try boundToken()
        let other = try boundToken()
        var twice = try proof(token)
        twice.values += twice.values
        var none = twice
        none.values = []
        let now = Int64(time.now.timeIntervalSince1970)
        let cases: [(RequestProof, AccessTokenError.Code)] = [
            (try proof(token, by: thief), .keyNotProved), (twice, .badProof), (none, .badProof),
            (try proof(token, method: "POST"), .badProof), (try proof(token, url: Self.origin + "/secure"), .badProof),
            (try proof(token, url: "https://other.example.com" + Self.path), .badProof),
            (try proof(token, changing: ["ath": nil]), .badProof),
            (try proof(token, changing: ["ath": .string(DPoPProof.hash(ofAccessToken: other + "x"))]), .badProof),
            (try proof(token, changing: ["iat": .integer(now - 301)]), .badProof),
            (try proof(token, changing: ["iat": .integer(now + 6)]), .badProof),
            (RequestProof(values: ["a.b.c"], method: "GET", url: Self.origin + Self.path), .badProof),
        ]
        for (proof, code) in cases {
            #expect(await refusal { try await verifier.verify(token, proof: proof) } == code)
        }
    }

    @Test("An expired DPoP-bound access token is rejected as expired, even with a valid proof")
    func tokenFirst() async throws {
        let expired = try issuer.token(changing: ["cnf": ["jkt": .string(maker.thumbprint)], "exp": 1_000])
        let verifier = verifier()
        let proof = try proof(expired)
        #expect(await refusal { try await verifier.verify(expired, proof: proof) } == .expired)
        // A proof belongs to one token, so the token becomes valid before the same proof is sent again.
        let start = Int64(time.now.timeIntervalSince1970) + 200
        let early = try issuer.token(changing: ["cnf": ["jkt": .string(maker.thumbprint)], "nbf": .integer(start)])
        let kept = try self.proof(early)
        #expect(await refusal { try await verifier.verify(early, proof: kept) } == .notYetValid)
        time.advance(by: 200)
        #expect(await refusal { try await verifier.verify(early, proof: kept) } == nil)
        #expect(await refusal { try await verifier.verify(early, proof: kept) } == .badProof)
    }

    @Test("The resource server accepts a DPoP proof only once, even for concurrent requests")
    func replay() async throws {
        let verifier = verifier()
        try await verifier.prepare()
        let token = try boundToken()
        let proof = try proof(token)
        let codes = await withTaskGroup(of: AccessTokenError.Code?.self) { group in
            for _ in 0..<8 { group.addTask { await refusal { try await verifier.verify(token, proof: proof) } } }
            return await group.reduce(into: [AccessTokenError.Code?]()) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1)
        #expect(codes.count { $0 == .badProof } == 7)
        time.advance(by: 300)
        #expect(await refusal { try await verifier.verify(token, proof: proof) } == .badProof)
    }

    @Test("If nonces are required, a proof without a valid nonce is rejected, and all instances with the same secret accept the nonce")
    func nonces() async throws {
        let nonces = DPoPNonces(secret: [UInt8](repeating: 1, count: 32))
        let verifiers = [verifier(ProofRules(nonces: nonces)), verifier(ProofRules(nonces: nonces))]
        let token = try boundToken()
        let without = try proof(token)
        let error = await #expect(throws: AccessTokenError.self) { try await verifiers[0].verify(token, proof: without) }
        #expect(error?.code == .nonceNeeded)
        let nonce = try #require(error?.nonce)
        for verifier in verifiers {
            let good = try proof(token, nonce: nonce)
            #expect(await refusal { try await verifier.verify(token, proof: good) } == nil)
            let foreign = try proof(token, nonce: "invented")
            #expect(await refusal { try await verifier.verify(token, proof: foreign) } == .nonceNeeded)
        }
    }

    @Test("A DPoP-bound access token without the required scope is rejected with insufficientScope")
    func scope() async throws {
        let token = try boundToken()
        let verifier = verifier()
        let proof = try proof(token)
        #expect(await refusal { try await verifier.verify(token, proof: proof, scopes: ["messages.write"]) } == .insufficientScope)
    }

    // MARK: - Remembered proofs

    @Test("The replay cache stores used proofs until their expiry, and accepts no new proof while the cache is full")
    func bounded() {
        let cache = ProofReplayCache(capacity: 3)
        func name(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }
        for number in 0..<3 {
            #expect(cache.use(name(UInt8(number)), of: "\(number)", until: 1_300 + Double(number) * 100, now: 1_000) == .fresh)
        }
        #expect(cache.use(name(0), of: "0", until: 1_300, now: 1_300) == .used)
        #expect(cache.use(name(3), of: "3", until: 1_600, now: 1_300) == .full)
        #expect(cache.use(name(3), of: "3", until: 1_600, now: 1_316) == .fresh)
        #expect(cache.count == 3)
        // A proof that was removed does not become valid again if the clock is set back.
        #expect(cache.use(name(0), of: "0", until: 1_300, now: 1_000) == .used)
        #expect(cache.use(name(1), of: "1", until: 1_400, now: 1_390) == .used)
        #expect(cache.use(name(4), of: "4", until: 9_100, now: 9_000) == .fresh)
        #expect(cache.count == 1)
    }

    @Test("One key can use at most a sixteenth of the replay cache, so that other keys can still store proofs")
    func shares() {
        let cache = ProofReplayCache(capacity: 32)
        func name(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }
        for number in 0..<2 { #expect(cache.use(name(UInt8(number)), of: "greedy", until: 1_300, now: 1_000) == .fresh) }
        for number in 2..<40 { #expect(cache.use(name(UInt8(number)), of: "greedy", until: 1_300, now: 1_000) == .full) }
        #expect(cache.use(name(40), of: "other", until: 1_300, now: 1_000) == .fresh)
        #expect(cache.use(name(0), of: "greedy", until: 1_300, now: 1_000) == .used)
        #expect(cache.use(name(41), of: "greedy", until: 1_700, now: 1_400) == .fresh && cache.count == 1)
    }

    @Test("If the replay cache is full, the messages API responds with 503 and Retry-After")
    func full() async throws {
        try await RunningMessages.with(verifier(ProofRules(origin: Self.origin, capacity: 1)), time: time) { ask, _ in
            let token = try boundToken()
            for status in [200, 503] {
                let answer = try await ask(
                    Self.path, ["Authorization": "DPoP \(token)", "DPoP": try proof(token).values[0]], "GET")
                #expect(answer.status == status)
                #expect((answer.header("Retry-After") == nil) == (status == 200))
            }
        }
    }

    // MARK: - Over HTTP

    @Test("The messages API accepts a proof for its configured origin, whatever the Host header is, and accepts bearer tokens")
    func messages() async throws {
        try await RunningMessages.with(verifier(ProofRules(origin: Self.origin + "/")), time: time) { ask, _ in
            let token = try boundToken()
            let answer = try await ask(
                Self.path + "?page=1", ["Authorization": "dpop \(token)", "DPoP": try proof(token).values[0]], "GET")
            #expect(answer.status == 200)
            let bearer = try await ask(Self.path, ["Authorization": "Bearer \(issuer.token())"], "GET")
            #expect(bearer.status == 200)
        }
    }

    @Test("The messages API responds to a rejected proof with 401 and a DPoP challenge that gives the reason")
    func challenges() async throws {
        try await RunningMessages.with(verifier(ProofRules(origin: Self.origin)), time: time) { ask, port in
            let token = try boundToken()
            let used = try proof(token).values[0]
            _ = try await ask(Self.path, ["Authorization": "DPoP \(token)", "DPoP": used], "GET")
            let byHost = try maker.proof("GET", "http://127.0.0.1:\(port)\(Self.path)", at: time.now, accessToken: token)
            let cases: [(String, String?, String, String)] = [
                ("Bearer", nil, "invalid_token", "The access token is bound to a key: send it with the scheme DPoP and a proof."),
                ("DPoP", nil, "invalid_dpop_proof", "The request needs a proof in the header DPoP."),
                ("DPoP", used, "invalid_dpop_proof", "The proof was used before. Make a new one for each request."),
                ("DPoP", byHost, "invalid_dpop_proof", "The proof is for another URL (htu)."),
                (
                    "DPoP", try proof(token, by: thief).values[0], "invalid_token",
                    "The access token is bound to another key than the one that made the proof."
                ),
            ]
            for (scheme, proof, error, description) in cases {
                var headers = ["Authorization": "\(scheme) \(token)"]
                headers["DPoP"] = proof
                let answer = try await ask(Self.path, headers, "GET")
                #expect(answer.status == 401)
                #expect(
                    answer.header("WWW-Authenticate")
                        == #"DPoP realm="api://default", error="\#(error)", error_description="\#(description)", \#(Self.algorithms)"#)
                #expect(answer.json == ["error": .string(error), "error_description": .string(description)])
            }
            let none = try await ask(Self.path, [:], "GET")
            #expect(none.header("WWW-Authenticate") == #"Bearer realm="api://default", DPoP realm="api://default", \#(Self.algorithms)"#)
        }
    }

    @Test("The messages API sends a DPoP nonce in a header that web pages of other origins can read")
    func nonceHeader() async throws {
        let nonces = DPoPNonces(secret: [UInt8](repeating: 1, count: 32))
        try await RunningMessages.with(verifier(ProofRules(origin: Self.origin, nonces: nonces)), time: time) { ask, _ in
            let token = try boundToken()
            let headers = ["Authorization": "DPoP \(token)", "DPoP": try proof(token).values[0], "Origin": "https://app.test"]
            let answer = try await ask(Self.path, headers, "GET")
            #expect(answer.status == 401)
            #expect(answer.header("WWW-Authenticate")?.contains(#"error="use_dpop_nonce""#) == true)
            let nonce = try #require(answer.header("DPoP-Nonce"))
            #expect(nonce == nonces.current(at: time.now.timeIntervalSince1970))
            #expect(answer.header("Access-Control-Expose-Headers")?.contains("DPoP-Nonce") == true)
            let again = try await ask(
                Self.path, ["Authorization": "DPoP \(token)", "DPoP": try proof(token, nonce: nonce).values[0]], "GET")
            #expect(again.status == 200)
            let preflight = try await ask(Self.path, ["Origin": "https://app.test", "Access-Control-Request-Method": "GET"], "OPTIONS")
            #expect(preflight.header("Access-Control-Allow-Headers")?.lowercased().contains("dpop") == true)
        }
    }

    @Test("An API without a configured origin accepts proofs for loopback only")
    func loopback() async throws {
        try await RunningMessages.with(verifier(), time: time) { ask, port in
            let token = try boundToken()
            for (host, isGood) in [
                ("127.0.0.1:\(port)", true), ("localhost:\(port)", true), ("api.example.com", false), ("localhost.example.com", false),
                ("127.0.0.1:\(port)@example.com", false),
            ] {
                let proof = try maker.proof("GET", "http://\(host)\(Self.path)", at: time.now, accessToken: token)
                let headers = ["Authorization": "DPoP \(token)", "DPoP": proof, "Host": host]
                let answer = try await ask(Self.path, headers, "GET")
                #expect((answer.status == 200) == isGood, "\(host): \(answer.status)")
            }
        }
    }
}
