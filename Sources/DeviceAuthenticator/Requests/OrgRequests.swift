internal import Foundation
internal import JOSE

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Requests with their letters in the device-authenticator reference 2.2.
enum OrgRequests {
    static let json = "application/json"
    static let versionedJSON = "application/json; okta-version=1.0.0"
    static let mergePatch = "application/merge-patch+json; okta-version=1.0.0"
    static let form = "application/x-www-form-urlencoded"

    /// A: gets the org's id.
    static func organization(of org: URL) throws -> URLRequest {
        var request = try request("GET", org, "/.well-known/okta-organization")
        request.setValue(json, forHTTPHeaderField: "Content-Type")
        return request
    }

    /// B: gets the authenticators of a client.
    static func configuration(of org: URL, clientID: String, token: AuthToken) throws -> URLRequest {
        var request = try request("GET", org, "/.well-known/app-authenticator-configuration?oauthClientId=\(escaped(clientID))")
        request.setValue(versionedJSON, forHTTPHeaderField: "Accept")
        request.setValue(token.authorization, forHTTPHeaderField: "Authorization")
        return request
    }

    /// C: enrolls.
    static func enroll(at endpoint: URL, body: JSONValue, token: AuthToken) -> URLRequest {
        var request = URLRequest(url: endpoint)
        request.httpMethod = "POST"
        request.setValue(json, forHTTPHeaderField: "Content-Type")
        request.setValue(versionedJSON, forHTTPHeaderField: "Accept")
        request.setValue(token.authorization, forHTTPHeaderField: "Authorization")
        request.httpBody = Data(body.serialized())
        return request
    }

    /// D: changes an enrollment.
    static func update(_ enrollmentID: String, of org: URL, body: JSONValue, token: AuthToken) throws -> URLRequest {
        var request = try request("PATCH", org, path(of: enrollmentID))
        request.setValue(mergePatch, forHTTPHeaderField: "Content-Type")
        request.setValue(mergePatch, forHTTPHeaderField: "Accept")
        request.setValue(token.authorization, forHTTPHeaderField: "Authorization")
        request.httpBody = Data(body.serialized())
        return request
    }

    /// E: deletes an enrollment.
    static func delete(_ enrollmentID: String, of org: URL, token: AuthToken) throws -> URLRequest {
        var request = try request("DELETE", org, path(of: enrollmentID))
        request.setValue(versionedJSON, forHTTPHeaderField: "Accept")
        request.setValue(token.authorization, forHTTPHeaderField: "Authorization")
        return request
    }

    /// F: gets the pending challenges.
    static func pending(at link: URL, token: AuthToken) -> URLRequest {
        var request = URLRequest(url: link)
        request.setValue(versionedJSON, forHTTPHeaderField: "Accept")
        request.setValue(token.authorization, forHTTPHeaderField: "Authorization")
        return request
    }

    /// G: answers a challenge. The signed answer is the only proof.
    static func verify(at uri: URL, answer: String) -> URLRequest {
        var request = URLRequest(url: uri)
        request.httpMethod = "POST"
        request.setValue(json, forHTTPHeaderField: "Content-Type")
        request.setValue(versionedJSON, forHTTPHeaderField: "Accept")
        let body: JSONValue = ["method": "push", "challengeResponse": .string(answer)]
        request.httpBody = Data(body.serialized())
        return request
    }

    /// H: gets a maintenance token. The fields have a fixed order, and a space is `%20` (the device-authenticator reference 2.10).
    static func maintenanceToken(of org: URL, clientID: String, scopes: [String], assertion: String) throws -> URLRequest {
        var request = try request("POST", org, "/oauth2/v1/token")
        request.setValue(form, forHTTPHeaderField: "Content-Type")
        request.setValue(json, forHTTPHeaderField: "Accept")
        let fields = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("client_id", clientID),
            ("scope", scopes.joined(separator: " ")), ("assertion", assertion),
        ]
        request.httpBody = Data(fields.map { "\($0.0)=\(escaped($0.1))" }.joined(separator: "&").utf8)
        return request
    }

    /// Exchanges the ticket of a sign-in page for an access token; an extension of this project.
    static func enrollmentToken(of org: URL, clientID: String, ticket: String) throws -> URLRequest {
        var request = try request("POST", org, "/oauth2/v1/token")
        request.setValue(form, forHTTPHeaderField: "Content-Type")
        request.setValue(json, forHTTPHeaderField: "Accept")
        let fields = [
            ("grant_type", "urn:countersign:params:oauth:grant-type:enrollment-ticket"), ("client_id", clientID), ("ticket", ticket),
        ]
        request.httpBody = Data(fields.map { "\($0.0)=\(escaped($0.1))" }.joined(separator: "&").utf8)
        return request
    }

    /// I: gets the discovery document of an issuer.
    static func discovery(of issuer: URL) throws -> URLRequest {
        var request = try request("GET", issuer, "/.well-known/openid-configuration")
        request.timeoutInterval = 5
        return request
    }

    /// J: gets an issuer's keys.
    static func keys(at uri: URL) -> URLRequest {
        var request = URLRequest(url: uri)
        request.timeoutInterval = 5
        return request
    }

    private static func path(of enrollmentID: String) -> String { "/idp/myaccount/app-authenticators/\(escaped(enrollmentID))" }

    /// Creates a request. An org's URL has no trailing slash, and `path` starts with one.
    private static func request(_ method: String, _ base: URL, _ path: String) throws -> URLRequest {
        guard base.host() != nil, let url = URL(string: base.absoluteString + path) else {
            throw DeviceAuthenticatorError.genericError(
                "The org's URL \(base.absoluteString) names no host. Give one such as https://id.example.com.")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        return request
    }

    /// Percent-encodes all but the unreserved characters of RFC 3986.
    static func escaped(_ text: String) -> String {
        text.utf8.map { byte -> String in
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95, 126: String(UnicodeScalar(byte))
            default: String(format: "%%%02X", byte)
            }
        }
        .joined()
    }
}
