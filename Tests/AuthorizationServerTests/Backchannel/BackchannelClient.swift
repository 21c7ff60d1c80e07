import Foundation
import JOSE
import Testing

/// A back end that asks users to confirm something by raw backchannel requests (Documentation/Protocol/Devices.md §7).
struct BackchannelClient: Sendable {
    /// A client that sends backchannel requests, with its authentication method.
    enum Client: Sendable {
        case desk, strictDesk, staffDesk, muteDesk, publicDesk, silentDesk, wrongSecret
    }

    let server: PushServer
    var client: Client
    var base: String

    init(_ server: PushServer, _ client: Client = .desk, base: String = DirectClient.custom) {
        (self.server, self.client, self.base) = (server, client, base)
    }

    func post(_ endpoint: String, _ parameters: [String: String]) async throws -> WireResponse {
        let credentials: [String: String]
        var headers: [(String, String)] = []
        switch client {
        case .desk:
            credentials = [:]
            headers = [Self.basic("desk", "help-desk-secret-0123")]
        case .wrongSecret:
            credentials = [:]
            headers = [Self.basic("desk", "wrong")]
        case .silentDesk: credentials = ["client_id": "desk"]
        case .publicDesk: credentials = ["client_id": "public-desk"]
        case .strictDesk: credentials = ["client_id": "strict-desk", "client_secret": "strict-desk-secret-01"]
        case .staffDesk: credentials = ["client_id": "staff-desk", "client_secret": "staff-desk-secret-012"]
        case .muteDesk: credentials = ["client_id": "mute-desk", "client_secret": "mute-desk-secret-0123"]
        }
        return try await server.wire.post(
            "\(base)/\(endpoint)", Form.encode(parameters.merging(credentials) { $1 }), headers: headers)
    }

    func authorize(_ changes: [String: String] = [:]) async throws -> WireResponse {
        try await post("bc/authorize", ["scope": "openid", "login_hint": PushOrganization.jane].merging(changes) { $1 })
    }

    func begin(_ changes: [String: String] = [:]) async throws -> String {
        let response = try await authorize(changes)
        return try #require(try response.json["auth_req_id"]?.stringValue, "\(response.body)")
    }

    func poll(_ request: String, _ changes: [String: String] = [:]) async throws -> WireResponse {
        try await post("token", ["grant_type": PushOrganization.ciba, "auth_req_id": request].merging(changes) { $1 })
    }

    private static func basic(_ id: String, _ secret: String) -> (String, String) {
        ("Authorization", "Basic " + Data("\(Form.escape(id)):\(Form.escape(secret))".utf8).base64EncodedString())
    }
}
