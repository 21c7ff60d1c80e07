public import Foundation

/// A request that the sandbox's server got.
public struct LoggedRequest: Sendable, Equatable {
    /// When, by the sandbox's clock.
    public let time: Date
    /// `GET`, `POST`, …
    public let method: String
    /// The path, without the query.
    public let path: String
    /// The endpoint: the last part of the path.
    public let endpoint: Fault.Endpoint
    /// The parameters of form or query; the values of secrets are replaced by `(secret)`.
    public let parameters: [String: String]
    /// The headers by lower-case name, without `authorization` and `cookie`.
    public let headers: [String: String]
    /// The status of the answer; nil if the connection was broken instead.
    public let status: Int?
    /// The fault that it met.
    public let fault: Fault.Effect?

    /// The `grant_type` parameter.
    public var grantType: String? { parameters["grant_type"] }

    static let secretParameters: Set<String> = [
        "password", "client_secret", "client_assertion", "token", "refresh_token", "code", "code_verifier", "mfa_token", "oob_code", "otp",
        "binding_code", "subject_token", "actor_token", "device_code", "assertion", "access_token", "id_token_hint", "sessionToken",
    ]
}
