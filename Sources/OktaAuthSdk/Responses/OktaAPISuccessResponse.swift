public import Foundation
public import JOSE

/// A response of the server: the state of the transaction (Documentation/Protocol/Authn.md §2.1).
/// It contains tokens and secrets, so its description and mirror show only the status. A member is `nil` if the response does not contain
/// it.
public struct OktaAPISuccessResponse: Codable, Sendable {
    /// The status; `nil` in a response without a status, such as the response to a cancellation.
    public let status: AuthStatus?
    /// The state token, which identifies the transaction in later requests.
    public let stateToken: String?
    /// The one-time token for a session; `nil` before a successful sign-in.
    public let sessionToken: String?
    /// The expiration time of the token in this response, as the server formats it.
    public let expirationDate: String?
    /// The `relayState` with which the app started the transaction. The value is untrusted.
    public let relayState: String?
    /// The token that starts a recovery; only for callers that the server trusts.
    public let recoveryToken: String?
    /// The purpose of the recovery.
    public let recoveryType: RecoveryType?
    /// The result of the last attempt with a factor.
    public let factorResult: FactorResult?
    /// The channel of the recovery message.
    public let factorType: FactorType?
    /// The embedded user, factors and policy.
    public let embedded: EmbeddedResponse?
    /// The links of the possible next steps.
    public let links: LinksResponse?
    /// The unmodified response body, for apps that read additional members; `nil` if the value was not received as a response.
    public var rawData: Data?

    private enum CodingKeys: String, CodingKey {
        case status, stateToken, sessionToken
        case expirationDate = "expiresAt"
        case relayState, recoveryToken, recoveryType, factorResult, factorType
        case embedded = "_embedded"
        case links = "_links"
    }

    static let empty = OktaAPISuccessResponse()

    private init() {
        (status, stateToken, sessionToken, expirationDate, relayState, recoveryToken) = (nil, nil, nil, nil, nil, nil)
        (recoveryType, factorResult, factorType, embedded, links, rawData) = (nil, nil, nil, nil, nil, nil)
    }
}

extension OktaAPISuccessResponse: Redacted {
    /// The status; no secret.
    public var description: String { "OktaAPISuccessResponse(\(status?.rawValue ?? "no status"))" }
}
