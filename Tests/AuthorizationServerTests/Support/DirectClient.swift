import Crypto
import JOSE
import Testing

/// An app that signs users in directly, with raw requests (Documentation/Protocol/OAuth.md §2.4 to §2.6 and §6).
struct DirectClient: Sendable {
    static let custom = "/oauth2/default/v1"
    static let org = "/oauth2/v1"

    let server: PushServer
    var id = "direct-app"
    var base = DirectClient.custom
    /// Parameters of every request.
    var additional: [String: String] = [:]
    /// The client address that the request forwards; `nil` for none. The server must trust this machine as a proxy.
    var address: String?
    /// The client's token for the user's device (`X-Device-Token`); `nil` for none.
    var device: String?

    init(_ server: PushServer, id: String = "direct-app", base: String = DirectClient.custom, additional: [String: String] = [:]) {
        (self.server, self.id, self.base, self.additional) = (server, id, base, additional)
    }

    func post(_ endpoint: String, _ parameters: [String: String]) async throws -> WireResponse {
        let all = additional.merging(["client_id": id]) { $1 }.merging(parameters) { $1 }
        let headers = (address.map { [("X-Forwarded-For", $0)] } ?? []) + (device.map { [("X-Device-Token", $0)] } ?? [])
        return try await server.wire.post("\(base)/\(endpoint)", Form.encode(all), headers: headers)
    }

    /// Returns the same client at another address.
    func at(_ address: String) -> DirectClient {
        var client = self
        client.address = address
        return client
    }

    /// Returns the same client for a device of the user.
    func with(device: String) -> DirectClient {
        var client = self
        client.device = device
        return client
    }

    // MARK: - A second factor

    /// Sends the password, step 1 of Documentation/Protocol/OAuth.md §6.2.
    func password(_ extra: [String: String] = [:]) async throws -> WireResponse {
        try await post(
            "token",
            ["grant_type": "password", "username": PushOrganization.jane, "password": PushOrganization.janesPassword, "scope": "openid"]
                .merging(extra) { $1 })
    }

    func mfaToken(_ extra: [String: String] = [:]) async throws -> String {
        let response = try await password(extra)
        return try #require(try response.json["mfa_token"]?.stringValue, "\(response.body)")
    }

    /// Requests a challenge, step 2.
    func challenge(_ mfaToken: String, _ extra: [String: String] = [:]) async throws -> WireResponse {
        try await post(
            "challenge",
            ["mfa_token": mfaToken, "challenge_types_supported": PushOrganization.secondFactorOOB, "channel_hint": "push"]
                .merging(extra) { $1 })
    }

    /// Sends the password and requests a challenge, steps 1 and 2.
    func begin(_ extra: [String: String] = [:]) async throws -> Pending {
        let token = try await mfaToken(extra)
        let response = try await challenge(token)
        return Pending(mfaToken: token, oobCode: try #require(try response.json["oob_code"]?.stringValue, "\(response.body)"))
    }

    /// Polls the token endpoint, step 3.
    func poll(_ pending: Pending, _ extra: [String: String] = [:]) async throws -> WireResponse {
        try await post(
            "token",
            ["grant_type": PushOrganization.secondFactorOOB, "mfa_token": pending.mfaToken, "oob_code": pending.oobCode, "scope": "openid"]
                .merging(extra) { $1 })
    }

    struct Pending: Sendable {
        var mfaToken: String
        var oobCode: String
    }

    // MARK: - A first factor

    /// Requests a push, step 1 of Documentation/Protocol/OAuth.md §6.7.
    func primary(_ extra: [String: String] = [:], endpoint: String = "primary-authenticate") async throws -> WireResponse {
        try await post(
            endpoint,
            ["login_hint": PushOrganization.jane, "channel_hint": "push", "challenge_hint": PushOrganization.oob].merging(extra) { $1 })
    }

    func primaryCode(_ extra: [String: String] = [:], endpoint: String = "primary-authenticate") async throws -> String {
        let response = try await primary(extra, endpoint: endpoint)
        return try #require(try response.json["oob_code"]?.stringValue, "\(response.body)")
    }

    /// Polls the token endpoint, step 2.
    func pollPrimary(_ oobCode: String, _ extra: [String: String] = [:]) async throws -> WireResponse {
        try await post(
            "token", ["grant_type": PushOrganization.oob, "oob_code": oobCode, "scope": "openid"].merging(extra) { $1 })
    }

    func revoke(_ secret: String) async throws -> WireResponse { try await post("revoke", ["token": secret]) }
}

/// The tokens of a response, whose signatures are verified with the published keys.
struct IssuedTokens: Sendable {
    let body: [String: JSONValue]
    let idToken: JSONValue
    let accessToken: JSONValue

    init(_ response: WireResponse, keysFrom base: String, _ wire: WireClient) async throws {
        try #require(response.status == 200, "\(response.body)")
        body = try #require(try response.json.objectValue)
        let keys = try JSONWebKeySet(try await wire.get("\(base)/keys").json)
        let idToken = try #require(body["id_token"]?.stringValue)
        let accessToken = try #require(body["access_token"]?.stringValue)
        self.idToken = try Self.verified(idToken, keys)
        self.accessToken = try Self.verified(accessToken, keys)
        // `at_hash` is the left half of the hash, without padding (Documentation/Protocol/OAuth.md §3.6).
        let hash = Base64URL.encode(Array(SHA256.hash(data: Array(accessToken.utf8)).prefix(16)))
        #expect(self.idToken["at_hash"] == .string(hash))
    }

    private static func verified(_ token: String, _ keys: JSONWebKeySet) throws -> JSONValue {
        let parsed = try JSONWebSignature(parsing: token)
        let key = try #require(keys.keys.first { $0.keyID == parsed.keyID })
        try parsed.verify(with: VerificationKey(key, algorithm: .rs256))
        return try JSONValue(parsing: parsed.payload)
    }
}

/// Expects an OAuth error: its status, exactly two members, a description that can be shown, and every header that official clients need
/// (Documentation/Protocol/OAuth.md §2.1).
///
/// - Parameter isForUser: Whether the user must see the error at once. One rate-limit header is then missing, so that clients do not
///   wait silently.
func expectRefusal(
    _ response: WireResponse, _ status: Int, _ error: String, isForUser: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(response.status == status, "\(response.body)", sourceLocation: sourceLocation)
    let body = try #require(try response.json.objectValue, sourceLocation: sourceLocation)
    #expect(Set(body.keys) == ["error", "error_description"], sourceLocation: sourceLocation)
    #expect(body["error"] == .string(error), sourceLocation: sourceLocation)
    let description = try #require(body["error_description"]?.stringValue, sourceLocation: sourceLocation)
    #expect(description.contains(" ") && description.last == ".", "\(description)", sourceLocation: sourceLocation)
    expectProtocolHeaders(response, isForUser: isForUser, sourceLocation: sourceLocation)
}

/// Expects the headers of every back-channel response, spelled as clients look them up.
func expectProtocolHeaders(_ response: WireResponse, isForUser: Bool = false, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(response["Content-Type"] == "application/json", sourceLocation: sourceLocation)
    #expect(response["Cache-Control"] == "no-cache, no-store", sourceLocation: sourceLocation)
    #expect(response["Pragma"] == "no-cache", sourceLocation: sourceLocation)
    #expect(response["Date"] != nil, sourceLocation: sourceLocation)
    #expect(response["x-okta-request-id"]?.isEmpty == false, sourceLocation: sourceLocation)
    for name in ["x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"] {
        let isThere = !isForUser || name != "x-rate-limit-remaining"
        #expect((response[name].flatMap { Int($0) } != nil) == isThere, "\(name)", sourceLocation: sourceLocation)
    }
    if isForUser { #expect(response["Retry-After"].flatMap { Int($0) } ?? 0 > 0, sourceLocation: sourceLocation) }
}
