import Foundation
import JOSE
import ResourceServer
import Synchronization
import TestSupport

/// An issuer without a server. It signs tokens, and returns its metadata and keys as the verifier's fetcher.
final class TestIssuer: ResourceFetcher {
    static let url = "https://id.example.com/oauth2/default"
    static let now = Date(timeIntervalSince1970: 1_750_000_000)

    struct State {
        var published: [SigningKey]
        var requests: [URL] = []
        var failure: Int?
        var introspection: JSONValue = ["active": false]
        var introspectionEndpoint = TestIssuer.url + "/v1/introspect"
        var authorization: String?
        /// Replaced members of the metadata.
        var metadata: [String: JSONValue] = [:]
    }

    let state: Mutex<State>
    let key: SigningKey

    init() throws {
        key = try SigningKey.generate(.es256, keyID: "first")
        state = Mutex(State(published: [key]))
    }

    func publish(_ keys: [SigningKey]) {
        state.withLock { $0.published = keys }
    }

    func requests(to suffix: String) -> Int {
        state.withLock { $0.requests.count { $0.path.hasSuffix(suffix) } }
    }

    /// Returns a token with the claims of a valid one and these changes. A change to `nil` removes a claim. The type is the header's `typ`.
    /// A token of the type `at+jwt` has the claims that RFC 9068 requires.
    func token(
        changing changes: [String: JSONValue?] = [:], type: String? = nil, signedBy signer: SigningKey? = nil
    ) throws -> String {
        var claims: JSONValue = [
            "iss": .string(Self.url), "aud": "api://default", "cid": "app", "sub": "jane.doe@example.com", "uid": "00u1",
            "scp": ["openid", "messages.read"], "iat": .integer(Int64(Self.now.timeIntervalSince1970) - 10),
            "exp": .integer(Int64(Self.now.timeIntervalSince1970) + 3600),
        ]
        if type?.lowercased().hasSuffix("at+jwt") == true {
            claims["client_id"] = claims["cid"]
            claims["jti"] = "AT.1"
        }
        for (name, value) in changes { claims[name] = value }
        return try (signer ?? key).sign(claims, header: type.map { ["typ": .string($0)] } ?? [:])
    }

    func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        let (published, failure, introspection, introspectionEndpoint, metadata) = state.withLock {
            $0.requests.append(request.url)
            $0.authorization = request.authorization
            return ($0.published, $0.failure, $0.introspection, $0.introspectionEndpoint, $0.metadata)
        }
        if let failure { return FetchResponse(status: failure, body: []) }
        let answer: JSONValue
        switch request.url.lastPathComponent {
        case "openid-configuration":
            let usual: [String: JSONValue] = [
                "issuer": .string(Self.url), "jwks_uri": .string(Self.url + "/v1/keys"),
                "introspection_endpoint": .string(introspectionEndpoint),
            ]
            answer = .object(usual.merging(metadata) { $1 })
        case "keys": answer = JSONWebKeySet(published.compactMap(\.publicKey)).json()
        case "introspect": answer = introspection
        default: return FetchResponse(status: 404, body: [])
        }
        return FetchResponse(status: 200, body: answer.serialized())
    }
}

extension AccessTokenVerifier {
    convenience init(
        _ issuer: TestIssuer, time: ManualClock = ManualClock(TestIssuer.now), mode: Mode = .local, requiredScopes: [String] = [],
        proofs: ProofRules = ProofRules()
    ) {
        self.init(
            Configuration(issuer: TestIssuer.url, clientID: "app", requiredScopes: requiredScopes, mode: mode, proofs: proofs),
            fetcher: issuer,
            now: { time.now })
    }
}

/// Returns the verifier's reason for a refusal; `nil` if it accepted the token.
func refusal(_ body: () async throws -> AccessToken) async -> AccessTokenError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? AccessTokenError)?.code ?? AccessTokenError.Code(rawValue: "no AccessTokenError: \(error)")
    }
}
