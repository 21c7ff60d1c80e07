import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client whose tokens are bound to a DPoP key, and a scripted server that records the requests.
struct BoundClient {
    let session = ScriptedIssuer()
    let clock = ManualClock(sleeps: .skipped)
    let keys: any DPoPKeyStorage
    let client: OAuth2Client

    init(keys: any DPoPKeyStorage = MemoryDPoPKeyStorage()) throws {
        self.keys = keys
        client = try Self.client(session, clock, keys)
    }

    /// Returns a new client of the same app, as after a restart.
    func restarted(keys: (any DPoPKeyStorage)? = nil) throws -> OAuth2Client { try Self.client(session, clock, keys ?? self.keys) }

    private static func client(_ session: ScriptedIssuer, _ clock: ManualClock, _ keys: any DPoPKeyStorage) throws -> OAuth2Client {
        var configuration = try OAuth2Client.Configuration.fixture
        configuration.usesDPoP = true
        return OAuth2Client(configuration, session: session, clock: clock, dpopKeys: keys)
    }

    static func tokens(_ access: String = "access-1", refresh: String = "refresh-1", type: String = "DPoP", nonce: String? = nil)
        -> ScriptedIssuer.Reply
    {
        .json(
            #"{"token_type":"\#(type)","access_token":"\#(access)","refresh_token":"\#(refresh)","expires_in":3600}"#,
            headers: nonce.map { ["DPoP-Nonce": $0] } ?? [:])
    }

    static func nonceWanted(_ nonce: String, status: Int = 400) -> ScriptedIssuer.Reply {
        status == 400
            ? .json(#"{"error":"use_dpop_nonce"}"#, status: 400, headers: ["DPoP-Nonce": nonce])
            : .json(
                "", status: 401, headers: ["DPoP-Nonce": nonce, "WWW-Authenticate": #"DPoP error="use_dpop_nonce", algs="ES256""#])
    }

    func signIn(_ client: OAuth2Client? = nil) async throws -> Token {
        let client = client ?? self.client
        let request = IssuerFixture.PasswordRequest(
            openIdConfiguration: try await client.openIdConfiguration(), clientConfiguration: client.configuration,
            tokenValidatorContext: NullIDTokenValidatorContext())
        return try await client.exchange(token: request).result
    }

    func proofs(_ path: String) throws -> [ReadProof] {
        try session.requests(path).compactMap { request in
            try request.value(forHTTPHeaderField: "DPoP").map { try ReadProof($0) }
        }
    }
}

@Suite("DPoP-bound tokens")
struct BoundTokenTests {
    private let bound: BoundClient
    private var session: ScriptedIssuer { bound.session }

    init() throws {
        bound = try BoundClient()
        session.on("/v1/keys") { _, _ in .json(#"{"keys":[]}"#) }
    }

    private func replies(_ path: String, _ replies: ScriptedIssuer.Reply...) {
        session.on(path) { _, count in replies[min(count, replies.count - 1)] }
    }

    @Test("A DPoP token request has a proof with the request's method, URL and time, and the token stores the key's thumbprint")
    func tokenRequest() async throws {
        replies("/v1/token", BoundClient.tokens())
        let token = try await bound.signIn()
        let proof = try #require(try bound.proofs("/v1/token").first)
        #expect(proof.type == "dpop+jwt" && proof.algorithm == "ES256" && proof.headerMembers == ["typ", "alg", "jwk"])
        #expect(proof.keyMembers == ["kty", "crv", "x", "y"])
        #expect(proof.method == "POST" && proof.target == "\(ScriptedIssuer.base)/v1/token")
        #expect(proof.issuedAt == Int(bound.clock.now.timeIntervalSince1970) && proof.id.count == 22)
        #expect(proof.claimNames == ["htm", "htu", "iat", "jti"])
        #expect(token.tokenType == "DPoP" && token.authorizationHeader == "DPoP access-1")
        #expect(token.context.dpopThumbprint == proof.thumbprint)
        let stored = try JSONDecoder().decode(Token.self, from: JSONEncoder().encode(token))
        #expect(stored == token && stored.context.dpopThumbprint == proof.thumbprint && stored.context.configuration.usesDPoP)
    }

    @Test("If another sign-in replaces the client's DPoP key meanwhile, the token is bound to the key that its own request proved")
    func replacedKey() async throws {
        session.on("/v1/token") { [bound] _, _ in
            try bound.client.removeDPoPKey()
            _ = try bound.client.dpopThumbprint()
            return BoundClient.tokens()
        }
        let token = try await bound.signIn()
        let proof = try #require(try bound.proofs("/v1/token").first)
        #expect(try bound.client.dpopThumbprint() != proof.thumbprint)
        #expect(token.context.dpopThumbprint == proof.thumbprint)
    }

    @Test("If DPoP is off, the client sends no proof, and the encoded configuration has no DPoP member")
    func off() async throws {
        let configuration = try OAuth2Client.Configuration.fixture
        let client = OAuth2Client(configuration, session: session, clock: bound.clock, dpopKeys: bound.keys)
        replies("/v1/token", .tokens("access-1"))
        let token = try await bound.signIn(client)
        #expect(session.requests("/v1/token").first?.value(forHTTPHeaderField: "DPoP") == nil && token.context.dpopThumbprint == nil)
        let text = String(decoding: try JSONEncoder().encode(configuration), as: UTF8.self)
        #expect(!text.contains("bindsTokens"))
        var changed = configuration
        changed.usesDPoP = true
        #expect(changed != configuration)
        changed.usesDPoP = false
        #expect(changed == configuration)
    }

    @Test("If the server requires a DPoP nonce, the client repeats the request with the nonce and uses the newest nonce in later requests")
    func nonce() async throws {
        replies(
            "/v1/token", BoundClient.nonceWanted("n-1"), BoundClient.tokens(), BoundClient.tokens("access-2", nonce: "n-2"),
            BoundClient.tokens("access-3"))
        let token = try await bound.signIn()
        _ = try await bound.client.refresh(token)
        _ = try await bound.client.refresh(token)
        let proofs = try bound.proofs("/v1/token")
        #expect(proofs.map(\.nonce) == [nil, "n-1", "n-1", "n-2"])
        #expect(Set(proofs.map(\.id)).count == 4 && Set(proofs.map(\.thumbprint)).count == 1)
        let forms = session.forms("/v1/token")
        #expect(forms[0] == forms[1] && token.accessToken == "access-1")
    }

    @Test("If the server requires a new DPoP nonce for every request, the client sends only two requests")
    func endlessNonce() async throws {
        session.on("/v1/token") { _, count in BoundClient.nonceWanted("n-\(count)") }
        let error = await #expect(throws: APIClientError.self) { try await bound.signIn() }
        #expect(error?.serverError?.code == .other(code: "use_dpop_nonce") && session.requests("/v1/token").count == 2)
    }

    @Test("The client does not retry if the error is not use_dpop_nonce, or if the nonce is invalid")
    func otherRefusals() async throws {
        var refusal = ScriptedIssuer.Reply.invalidGrant
        refusal.headers["DPoP-Nonce"] = "n-1"
        let unreadable = BoundClient.nonceWanted("a \"quoted\" nonce")
        for reply in [refusal, unreadable] {
            let count = session.requests("/v1/token").count
            session.on("/v1/token") { _, _ in reply }
            await #expect(throws: APIClientError.self) { try await bound.signIn() }
            #expect(session.requests("/v1/token").count == count + 1)
        }
    }

    @Test("The client sends a DPoP nonce only to the origin that issued the nonce")
    func origins() async throws {
        replies("/v1/token", BoundClient.tokens(nonce: "n-1"))
        let token = try await bound.signIn()
        let credential = try await Credential(token: token, oauth2: bound.client)
        for (text, nonce) in [
            ("https://id.example.com/me", "n-1"), ("https://id.example.com:443/me", "n-1"), ("https://ID.example.com/me", "n-1"),
            ("https://id.example.com:8443/me", nil), ("https://api.example.com/me", nil), ("http://id.example.com/me", nil),
        ] {
            var request = URLRequest(url: try url(text))
            credential.authorize(request: &request)
            #expect(try ReadProof(request.value(forHTTPHeaderField: "DPoP")).nonce == nonce, "\(text)")
        }
    }

    @Test("A client that uses DPoP rejects unbound tokens at sign-in and at refresh", arguments: ["Bearer", "bearer", "mac"])
    func downgrade(type: String) async throws {
        replies("/v1/token", BoundClient.tokens(type: type), BoundClient.tokens(), BoundClient.tokens("access-2", type: type))
        await #expect(throws: DPoPError.self) { try await bound.signIn() }
        let token = try await bound.signIn()
        let error = await #expect(throws: DPoPError.self) { try await bound.client.refresh(token) }
        #expect(error?.code == .downgraded)
    }

    @Test("A token refresh uses the DPoP key of the sign-in, even after a restart")
    func refresh() async throws {
        replies("/v1/token", BoundClient.tokens(), BoundClient.tokens("access-2", refresh: "refresh-2"))
        let token = try await bound.signIn()
        let newer = try await bound.restarted().refresh(token)
        let proofs = try bound.proofs("/v1/token")
        #expect(proofs.count == 2 && proofs[0].thumbprint == proofs[1].thumbprint && proofs[0].id != proofs[1].id)
        #expect(newer.accessToken == "access-2" && newer.context.dpopThumbprint == proofs[0].thumbprint)
    }

    @Test("A lost DPoP key requires a new sign-in, and the client sends no request without the key", arguments: [false, true])
    func keyLost(hasAnother: Bool) async throws {
        replies("/v1/token", BoundClient.tokens())
        let token = try await bound.signIn()
        let device = MemoryDPoPKeyStorage()
        let restored = try bound.restarted(keys: device)
        // Another user of the same app has signed in on this device before.
        if hasAnother { _ = try await bound.signIn(restored) }
        let count = session.requests("/v1/token").count
        let credential = try await Credential(token: token, oauth2: restored)
        let error = await #expect(throws: DPoPError.self) { try await credential.refresh() }
        #expect(error?.code == .keyLost && error?.userText == .signedOut)
        guard case .ended(let ending) = credential.sessionState else { throw InvalidFixture() }
        #expect(ending.code == .other(code: "invalid_dpop_proof"))
        let request = URLRequest(url: try url("https://api.example.com/me"))
        await #expect(throws: DPoPError.self) { try await credential.authorizing(request) }
        var quiet = request
        quiet.setValue("Bearer stale", forHTTPHeaderField: "Authorization")
        credential.authorize(request: &quiet)
        #expect(quiet.value(forHTTPHeaderField: "Authorization") == nil && quiet.value(forHTTPHeaderField: "DPoP") == nil)
        await #expect(throws: DPoPError.self) { try await restored.userInfo(token: token) }
        #expect(session.requests("/v1/token").count == count && session.requests("/v1/userinfo").isEmpty)
        // The same client signs in again.
        _ = try await bound.signIn(restored)
    }

    @Test(
        "An unusable DPoP key is replaced at the next sign-in, and a refresh of the earlier token reports the lost key",
        arguments: [false, true])
    func replacedKey(isRemoved: Bool) async throws {
        replies("/v1/token", BoundClient.tokens())
        let token = try await bound.signIn()
        let keys = RestoredKeyStorage()
        let restored = try bound.restarted(keys: keys)
        await #expect(throws: DPoPError.self) { try await restored.refresh(token) }
        if isRemoved { try restored.removeDPoPKey() }
        let newer = try await bound.signIn(restored)
        #expect(newer.context.dpopThumbprint != token.context.dpopThumbprint && newer.context.dpopThumbprint != nil)
        let error = await #expect(throws: DPoPError.self) { try await restored.refresh(token) }
        #expect(error?.code == .keyLost)
        // A usable key is not replaced.
        let again = try await bound.signIn(try bound.restarted(keys: keys))
        #expect(again.context.dpopThumbprint == newer.context.dpopThumbprint)
        try restored.removeDPoPKey()
        #expect(try await bound.signIn(restored).context.dpopThumbprint != newer.context.dpopThumbprint)
    }

    @Test("The client of a stored credential uses the DPoP key of the sign-in for refresh and revocation")
    func storedCredential() async throws {
        // The test replaces the default key storage. All other tests pass a key storage to the client.
        OAuth2Client.defaultDPoPKeyStorage = MemoryDPoPKeyStorage()
        replies("/v1/token", BoundClient.tokens(), BoundClient.tokens("access-2", refresh: "refresh-2"))
        replies("/v1/revoke", .empty)
        let client = OAuth2Client(bound.client.configuration, session: session, clock: bound.clock)
        let token = try await bound.signIn(client)
        try await Credential.withStorage(MemoryTokenStorage(), session: session, clock: bound.clock) {
            let credential = try Credential.store(token)
            #expect(credential.oauth2 !== client)
            try await credential.refresh()
            #expect(credential.token.accessToken == "access-2")
            try await credential.revoke()
        }
        let thumbprints = try (bound.proofs("/v1/token") + bound.proofs("/v1/revoke")).map(\.thumbprint)
        #expect(thumbprints.count >= 3 && Set(thumbprints) == [token.context.dpopThumbprint])
    }

    @Test("If an app enables DPoP after sign-in, the next refresh binds the unbound tokens to a DPoP key")
    func bindingRefresh() async throws {
        let unbound = OAuth2Client(try .fixture, session: session, clock: bound.clock)
        replies(
            "/v1/token", .tokens("access-1", refresh: "refresh-1"), BoundClient.tokens("access-2", refresh: "refresh-2"),
            BoundClient.tokens("access-3"))
        let token = try await bound.signIn(unbound)
        let newer = try await bound.client.refresh(token)
        let thumbprint = try #require(try bound.proofs("/v1/token").last?.thumbprint)
        #expect(newer.context.dpopThumbprint == thumbprint && newer.context.configuration.usesDPoP && newer.id == token.id)
        _ = try await bound.restarted().refresh(newer)
        #expect(try bound.proofs("/v1/token").last?.thumbprint == thumbprint)
    }

    @Test("A resource request has the scheme DPoP, and a proof with the access token's hash and with the URL without query and fragment")
    func resource() async throws {
        replies("/v1/token", BoundClient.tokens())
        let credential = try await Credential(token: bound.signIn(), oauth2: bound.client)
        for (sent, target) in [
            ("https://api.example.com/a/b%20c?x=1&y=2#f", "https://api.example.com/a/b%20c"),
            ("https://api.example.com?x=1", "https://api.example.com/"),
        ] {
            var request = URLRequest(url: try url(sent))
            request.httpMethod = "DELETE"
            await credential.authorize(&request)
            #expect(request.value(forHTTPHeaderField: "Authorization") == "DPoP access-1")
            let proof = try ReadProof(request.value(forHTTPHeaderField: "DPoP"))
            #expect(proof.method == "DELETE" && proof.target == target && proof.accessTokenHash == ReadProof.hash("access-1"))
            #expect(proof.thumbprint == credential.token.context.dpopThumbprint)
        }
    }

    @Test(
        "If a resource server requires a DPoP nonce, reauthorizing returns the request with a new proof that has the nonce, but only once")
    func resourceNonce() async throws {
        replies("/v1/token", BoundClient.tokens())
        let credential = try await Credential(token: bound.signIn(), oauth2: bound.client)
        let api = try url("https://api.example.com/me")
        func answer(_ status: Int, _ headers: [String: String]) throws -> HTTPURLResponse {
            try #require(HTTPURLResponse(url: api, statusCode: status, httpVersion: nil, headerFields: headers))
        }
        let request = try await credential.authorizing(URLRequest(url: api))
        let refusal = try answer(401, ["DPoP-Nonce": "r-1", "WWW-Authenticate": #"DPoP error="use_dpop_nonce""#])
        let again = try #require(try credential.reauthorizing(request, after: refusal))
        #expect(try ReadProof(again.value(forHTTPHeaderField: "DPoP")).nonce == "r-1")
        #expect(try credential.reauthorizing(again, after: refusal) == nil)
        #expect(try credential.reauthorizing(again, after: answer(200, ["DPoP-Nonce": "r-2"])) == nil)
        #expect(try ReadProof(await credential.authorizing(request).value(forHTTPHeaderField: "DPoP")).nonce == "r-2")
        let invalid = try answer(401, ["DPoP-Nonce": "r-3", "WWW-Authenticate": #"DPoP error="invalid_token""#])
        #expect(try credential.reauthorizing(again, after: invalid) == nil)
    }

    @Test("A UserInfo request has a DPoP proof, and is repeated with a nonce if the server requires a nonce")
    func userInfo() async throws {
        replies("/v1/token", BoundClient.tokens())
        let token = try await bound.signIn()
        replies("/v1/userinfo", BoundClient.nonceWanted("u-1", status: 401), .json(#"{"sub":"00u1","name":"Jane"}"#))
        #expect(try await bound.client.userInfo(token: token).name == "Jane")
        let proofs = try bound.proofs("/v1/userinfo")
        #expect(proofs.map(\.nonce) == [nil, "u-1"] && proofs.allSatisfy { $0.accessTokenHash == ReadProof.hash("access-1") })
        #expect(proofs.allSatisfy { $0.method == "GET" && $0.target == "\(ScriptedIssuer.base)/v1/userinfo" })
    }

    @Test("A revocation request has a DPoP proof, but is sent without a proof if the key is lost")
    func revocation() async throws {
        replies("/v1/token", BoundClient.tokens())
        let token = try await bound.signIn()
        replies("/v1/revoke", .empty)
        try await bound.client.revoke(token, type: .refreshToken)
        let proof = try #require(try bound.proofs("/v1/revoke").first)
        #expect(proof.thumbprint == token.context.dpopThumbprint && proof.accessTokenHash == nil)
        try await bound.restarted(keys: MemoryDPoPKeyStorage()).revoke(token, type: .refreshToken)
        #expect(session.requests("/v1/revoke").last?.value(forHTTPHeaderField: "DPoP") == nil)
    }
}

/// A key store in which one key came from a backup and cannot be used on this device.
private final class RestoredKeyStorage: DPoPKeyStorage {
    private let keys = MemoryDPoPKeyStorage()
    private let isLost = Locked(true)

    func key(named name: String) throws -> DPoPKey? {
        if isLost.withLock({ $0 }) { throw DPoPError.keyLost }
        return try keys.key(named: name)
    }

    func keyMakingOne(named name: String) throws -> DPoPKey {
        if let known = try key(named: name) { return known }
        return try keys.keyMakingOne(named: name)
    }

    func removeKey(named name: String) throws {
        isLost.withLock { $0 = false }
        try keys.removeKey(named: name)
    }
}
