import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Sandbox {
    /// The response to a request over the sandbox's port.
    struct Answer {
        var status: Int
        var headers: HTTPURLResponse
        var body: Data

        /// Returns the value of a header; `nil` if the response lacks it.
        func header(_ name: String) -> String? { headers.value(forHTTPHeaderField: name) }

        var text: String { String(decoding: body, as: UTF8.self) }
        /// The body as JSON; `null` if the body is not JSON.
        var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
        /// The error text of the control API; empty if the response contains none.
        var reason: String { json["error"]?.stringValue ?? "" }
    }

    /// Sends a request with the sandbox's own origin, over its port.
    func send(
        _ method: String, _ path: String, _ body: Data? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: origin.absoluteString + path)))
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await PlainHTTP.data(for: request)
        return Answer(status: response.statusCode, headers: response, body: data)
    }

    /// Calls the control API with a JSON body.
    func control(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> Answer {
        try await send(
            method, "/sandbox/" + path, body.map { Data($0.serialized()) },
            headers: body == nil ? [:] : ["Content-Type": "application/json"])
    }

    /// Calls the token endpoint.
    func token(_ form: [String: String]) async throws -> Answer {
        var parts = URLComponents()
        parts.queryItems = form.map { URLQueryItem(name: $0.key, value: $0.value) }
        return try await send(
            "POST", "/oauth2/default/v1/token", Data((parts.percentEncodedQuery ?? "").replacing("+", with: "%2B").utf8),
            headers: ["Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"])
    }

    /// Signs a user in to `password-app`, by default Jane.
    func passwordGrant(_ login: String = "jane.doe@example.com", _ password: String = "Correct-Horse-7") async throws -> Answer {
        try await token([
            "grant_type": "password", "client_id": "password-app", "username": login, "password": password,
            "scope": "openid offline_access",
        ])
    }
}
