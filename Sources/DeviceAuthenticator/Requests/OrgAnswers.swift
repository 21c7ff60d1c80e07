internal import Foundation
internal import JOSE

/// The metadata of an authenticator (the device-authenticator reference 2.4). Unknown members are ignored.
struct AuthenticatorMetadata: Sendable {
    let authenticatorID: String
    let userVerification: UserVerificationPolicySetting
    let methods: [String]
    let enrollEndpoint: URL

    /// Reads the first element of the response.
    init(_ answer: JSONValue, organization: URL) throws {
        guard let first = answer.arrayValue?.first else { throw DeviceAuthenticatorError.genericError("Authenticator policy not found") }
        let reader = AnswerReader(first, name: "authenticator metadata")
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

/// The server's representation of an enrollment (the device-authenticator reference 2.5.3).
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
        let reader = AnswerReader(answer, name: "enrollment")
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

/// Reads mandatory members; errors name the missing one.
private struct AnswerReader {
    let answer: JSONValue
    let name: String

    init(_ answer: JSONValue, name: String) {
        self.answer = answer
        self.name = name
    }

    func string(_ path: String...) throws -> String { try string(at: path) }

    /// Returns a URL that must be at the org, because access tokens are sent there.
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
