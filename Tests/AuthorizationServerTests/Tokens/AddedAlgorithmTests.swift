import IdentityCore
import JOSE
import TestSupport
import Testing

/// Tests with an organization that adds a signing algorithm after clients have cached its key set.
@Suite("Added signing algorithms")
struct AddedAlgorithmTests {
    /// Returns the published key set, as a client caches it.
    private static func keys(_ server: PushServer) async throws -> JSONWebKeySet {
        try JSONWebKeySet(try await server.wire.get("/oauth2/default/v1/keys").json)
    }

    /// Signs Jane in, verifies the access token with a key set, and returns its algorithm.
    private static func algorithm(_ server: PushServer, verifiedWith keys: JSONWebKeySet) async throws -> JWSAlgorithm {
        let answer = try await DirectClient(server, id: "easy-app").password().json
        let token = try JSONWebSignature(parsing: try #require(answer["access_token"]?.stringValue))
        let key = try #require(keys.keys.first { $0.keyID == token.keyID }, "the key set does not have the key \(token.keyID ?? "")")
        let algorithm = try #require(key.algorithm)
        try token.verify(with: VerificationKey(key, algorithm: algorithm))
        return algorithm
    }

    @Test("A key of an added algorithm signs tokens only after it was published for as long as clients cache the key set")
    func added() async throws {
        try await PushServer.with { server in
            let cached = try await Self.keys(server)
            server.clock.advance(by: 86_400)
            var organization = PushOrganization()
            organization.accessTokenAlgorithm = .es256
            try await server.apply(organization)
            #expect(try await Self.algorithm(server, verifiedWith: cached) == .rs256)
            _ = try await server.engine.maintainKeys(RequestContext(now: server.clock.now, requestID: "keys"))
            #expect(try await Self.algorithm(server, verifiedWith: cached) == .rs256)
            let next = try await Self.keys(server)
            #expect(next.keys.map(\.algorithm) == [.rs256, .es256])
            server.clock.advance(by: 3_599)
            #expect(try await Self.algorithm(server, verifiedWith: cached) == .rs256)
            server.clock.advance(by: 1)
            #expect(try await Self.algorithm(server, verifiedWith: next) == .es256)
        }
    }

    @Test("In an organization without signing keys, the first key of each algorithm signs immediately")
    func fresh() async throws {
        var organization = PushOrganization()
        organization.accessTokenAlgorithm = .es256
        try await PushServer.with(organization) { server in
            let keys = try await Self.keys(server)
            #expect(try await Self.algorithm(server, verifiedWith: keys) == .es256)
        }
    }
}
