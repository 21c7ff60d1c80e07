internal import Foundation
internal import JOSE

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The requests to an org (Documentation/Protocol/Devices.md §2.2).
enum OrgRequests {
    static let json = "application/json"
    static let versionedJSON = "application/json; okta-version=1.0.0"
    static let mergePatch = "application/merge-patch+json; okta-version=1.0.0"
    static let form = "application/x-www-form-urlencoded"

    /// Gets the org's id.
    static func organization(of org: URL) throws -> URLRequest {
        request("GET", try url(org, "/.well-known/okta-organization"), contentType: json)
    }

    /// Gets the authenticators of a client.
    static func configuration(of org: URL, clientID: String, token: AuthToken) throws -> URLRequest {
        let url = try url(org, "/.well-known/app-authenticator-configuration?oauthClientId=\(escaped(clientID))")
        return request("GET", url, accept: versionedJSON, token: token)
    }

    /// Enrolls the device.
    static func enroll(at endpoint: URL, body: JSONValue, token: AuthToken) -> URLRequest {
        request("POST", endpoint, contentType: json, accept: versionedJSON, token: token, body: body.serialized())
    }

    /// Changes an enrollment.
    static func update(_ enrollmentID: String, of org: URL, body: JSONValue, token: AuthToken) throws -> URLRequest {
        let url = try url(org, path(of: enrollmentID))
        return request("PATCH", url, contentType: mergePatch, accept: mergePatch, token: token, body: body.serialized())
    }

    /// Deletes an enrollment.
    static func delete(_ enrollmentID: String, of org: URL, token: AuthToken) throws -> URLRequest {
        request("DELETE", try url(org, path(of: enrollmentID)), accept: versionedJSON, token: token)
    }

    /// Gets the pending challenges.
    static func pending(at link: URL, token: AuthToken) -> URLRequest {
        request("GET", link, accept: versionedJSON, token: token)
    }

    /// Answers a challenge. The request has no access token; the signed answer is the only proof.
    static func verify(at uri: URL, answer: String) -> URLRequest {
        let body: JSONValue = ["method": "push", "challengeResponse": .string(answer)]
        return request("POST", uri, contentType: json, accept: versionedJSON, body: body.serialized())
    }

    /// Gets a maintenance token.
    static func maintenanceToken(of org: URL, clientID: String, scopes: [String], assertion: String) throws -> URLRequest {
        try tokenRequest(
            to: org,
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "client_id": clientID,
                "scope": scopes.joined(separator: " "), "assertion": assertion,
            ])
    }

    /// Exchanges the ticket of a sign-in page for an access token; an extension of this project.
    static func enrollmentToken(of org: URL, clientID: String, ticket: String) throws -> URLRequest {
        let grant = "urn:countersign:params:oauth:grant-type:enrollment-ticket"
        return try tokenRequest(to: org, ["grant_type": grant, "client_id": clientID, "ticket": ticket])
    }

    /// Gets the discovery document of an issuer.
    static func discovery(of issuer: URL) throws -> URLRequest {
        keys(at: try url(issuer, "/.well-known/openid-configuration"))
    }

    /// Gets an issuer's keys.
    static func keys(at uri: URL) -> URLRequest {
        var request = request("GET", uri)
        request.timeoutInterval = 5
        return request
    }

    /// Returns a token request. The fields keep their order, and a space is `%20` (Documentation/Protocol/Devices.md §2.10).
    private static func tokenRequest(to org: URL, _ fields: KeyValuePairs<String, String>) throws -> URLRequest {
        let body = fields.map { "\($0)=\(escaped($1))" }.joined(separator: "&")
        return request("POST", try url(org, "/oauth2/v1/token"), contentType: form, accept: json, body: Array(body.utf8))
    }

    private static func request(
        _ method: String, _ url: URL, contentType: String? = nil, accept: String? = nil, token: AuthToken? = nil, body: [UInt8]? = nil
    ) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue(contentType, forHTTPHeaderField: "Content-Type")
        request.setValue(accept, forHTTPHeaderField: "Accept")
        request.setValue(token?.authorization, forHTTPHeaderField: "Authorization")
        request.httpBody = body.map { Data($0) }
        return request
    }

    private static func path(of enrollmentID: String) -> String { "/idp/myaccount/app-authenticators/\(escaped(enrollmentID))" }

    /// Appends a path to a base URL. The base has no trailing slash; the path starts with a slash.
    private static func url(_ base: URL, _ path: String) throws -> URL {
        guard base.host() != nil, let url = URL(string: base.absoluteString + path) else {
            throw DeviceAuthenticatorError.genericError(
                "The org's URL \(base.absoluteString) names no host. Give one such as https://id.example.com.")
        }
        return url
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

/// The metadata of an authenticator (Documentation/Protocol/Devices.md §2.4). Unknown members are ignored.
struct AuthenticatorMetadata: Sendable {
    let authenticatorID: String
    let userVerification: UserVerificationPolicySetting
    let methods: [String]
    let enrollEndpoint: URL

    /// Reads the first element of the response.
    init(_ answer: JSONValue, organization: URL) throws {
        guard let first = answer.arrayValue?.first else { throw DeviceAuthenticatorError.genericError("Authenticator policy not found") }
        let reader = AnswerReader(answer: first, name: "authenticator metadata")
        authenticatorID = try reader.string("authenticatorId")
        userVerification = first["settings"]?["userVerification"]?.stringValue.map(UserVerificationPolicySetting.init(raw:)) ?? .preferred
        methods = (first["supportedMethods"]?.arrayValue ?? []).compactMap { $0["type"]?.stringValue }
        guard methods.contains("push") else { throw DeviceAuthenticatorError.noVerificationMethodsToEnroll }
        enrollEndpoint = try reader.url("appAuthenticatorEnrollEndpoint", of: organization)
    }
}

extension AuthenticatorMetadata: AuthenticatorPolicyProtocol {
    var userVerificationSetting: UserVerificationPolicySetting { userVerification }
}

/// The server's representation of an enrollment (Documentation/Protocol/Devices.md §2.5.3).
struct EnrollmentAnswer: Sendable {
    let id: String
    let authenticatorID: String
    let userID: String
    let userName: String?
    let deviceID: String
    let clientInstanceID: String
    let methodID: String
    let pendingLink: URL?
    let createdAt: Date?

    init(_ answer: JSONValue, organization: URL) throws {
        let reader = AnswerReader(answer: answer, name: "enrollment")
        id = try reader.string("id")
        authenticatorID = try reader.string("authenticatorId")
        userID = try reader.string("user", "id")
        userName = answer["user"]?["username"]?.stringValue
        deviceID = try reader.string("device", "id")
        clientInstanceID = try reader.string("device", "clientInstanceId")
        methodID = try reader.string("methods", "push", "id")
        let pending = answer["methods"]?["push"]?["links"]?["pending"]
        pendingLink = pending?["href"] == nil ? nil : try reader.url("methods", "push", "links", "pending", "href", of: organization)
        createdAt = answer["createdDate"]?.stringValue.flatMap(Self.date)
    }

    init(reading data: Data, organization: URL) throws {
        guard let json = try? JSONValue(parsing: data) else {
            throw DeviceAuthenticatorError.internalError("The server's enrollment is no JSON.")
        }
        try self.init(json, organization: organization)
    }

    /// Parses a date with or without fractional seconds.
    static func date(_ text: String) -> Date? {
        (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
    }
}

/// A reader of mandatory members. Its errors name the missing member.
private struct AnswerReader {
    let answer: JSONValue
    let name: String

    func string(_ path: String...) throws -> String { try string(at: path) }

    /// Returns a URL that must be at the org, because access tokens are sent to it.
    func url(_ path: String..., of organization: URL) throws -> URL {
        guard let url = URL(string: try string(at: path)), OrganizationURL.isTrusted(url, of: organization) else {
            throw DeviceAuthenticatorError.internalError(
                "The server's \(name) names a URL in \(path.joined(separator: ".")) that is not at the org, or not https. It was not used.")
        }
        return url
    }

    private func string(at path: [String]) throws -> String {
        guard let text = path.reduce(answer as JSONValue?, { $0?[$1] })?.stringValue, !text.isEmpty else {
            throw DeviceAuthenticatorError.internalError("The server's \(name) has no \(path.joined(separator: ".")).")
        }
        return text
    }
}
