public import Foundation
public import JOSE

/// The server's answer: a state of the transaction (authn reference, 2.1).
///
/// It holds tokens and secrets: printing it, or looking at it with a mirror, shows the status only.
public struct OktaAPISuccessResponse: Codable, Sendable {
    /// The state; nil in an answer that is none, such as that to a cancellation.
    public let status: AuthStatus?
    /// Names the transaction in each further request.
    public let stateToken: String?
    /// Is good for one session, with a success.
    public let sessionToken: String?
    /// When the token of this answer ends, as the server wrote it.
    public let expirationDate: String?
    /// What the app sent along at the beginning; untrusted.
    public let relayState: String?
    /// Begins a recovery; for callers that the server trusts.
    public let recoveryToken: String?
    /// What the recovery is for.
    public let recoveryType: RecoveryType?
    /// What came of the last attempt with a factor.
    public let factorResult: FactorResult?
    /// How the person is reached in a recovery.
    public let factorType: FactorType?
    /// The user, the factors, the policy.
    public let embedded: EmbeddedResponse?
    /// What may be done next.
    public let links: LinksResponse?
    /// The answer's body as it came, for apps that know more members of it; nil if this did not come as an answer.
    public internal(set) var rawData: Data?

    private enum CodingKeys: String, CodingKey {
        case status, stateToken, sessionToken
        case expirationDate = "expiresAt"
        case relayState, recoveryToken, recoveryType, factorResult, factorType
        case embedded = "_embedded"
        case links = "_links"
    }

    /// An answer that says nothing.
    static let empty = OktaAPISuccessResponse()

    private init() {
        (status, stateToken, sessionToken, expirationDate, relayState, recoveryToken) = (nil, nil, nil, nil, nil, nil)
        (recoveryType, factorResult, factorType, embedded, links, rawData) = (nil, nil, nil, nil, nil, nil)
    }
}

extension OktaAPISuccessResponse: Redacted {
    /// The status, and nothing that is secret.
    public var description: String { "OktaAPISuccessResponse(\(status?.rawValue ?? "no status"))" }
}
