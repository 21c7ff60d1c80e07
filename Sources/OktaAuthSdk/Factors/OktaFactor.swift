/// A handler of the responses to the requests of factors.
public protocol OktaFactorResultProtocol: AnyObject {
    /// Handles a response.
    /// - Parameters:
    ///   - onStatusChange: Call it with the new status, on the main queue.
    ///   - onError: Call it with the error, on the main queue.
    func handleFactorServerResponse(
        response: OktaAPIRequest.Result, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void)
}

/// A factor and its operations. The links of the server's response determine which operations are available. A property is `nil` if the
/// response does not contain it.
/// A factor remains usable after its status has been released. It is not `Sendable`: use it on the main queue. All closures are called on
/// the main queue, at most once for each call.
open class OktaFactor {
    /// The status of this factor, which handles the responses and is retained during a request. After the status has been released,
    /// responses still create new statuses.
    public weak var responseDelegate: (any OktaFactorResultProtocol)?

    /// The API object of the status, which sends the requests; `nil` before the factor is attached to a status.
    public var restApi: OktaAPI?

    /// The server's description of the factor.
    public var factor: EmbeddedResponse.Factor

    /// `OPTIONAL` or `REQUIRED`; `nil` if the factor cannot be enrolled.
    public var enrollment: String? { factor.enrollment }

    /// `NOT_SETUP` or `ACTIVE`; `nil` if the factor cannot be enrolled.
    public var status: String? { factor.status }

    /// The provider of the factor.
    public var provider: FactorProvider? { factor.provider }

    /// The properties that identify the factor.
    public var profile: EmbeddedResponse.Factor.Profile? { factor.profile }

    /// The links of the available operations.
    public var links: LinksResponse? { factor.links }

    /// The type of the factor.
    public var type: FactorType { factor.factorType }

    let stateToken: String
    let verifyLink: LinksResponse.Link?
    let activationLink: LinksResponse.Link?
    /// A copy of the status. It handles the responses after the status has been released.
    private var origin: OktaAuthStatus?

    /// Creates a factor of the class for its type.
    /// - Parameters:
    ///   - factor: The server's description of the factor.
    ///   - verifyLink: The link that answers the challenge; `nil` without a challenge.
    ///   - activationLink: The link that activates the factor; `nil` without a pending activation.
    /// - Returns: The factor; an ``OktaFactorOther`` for types without their own class.
    public class func createFactorWith(
        _ factor: EmbeddedResponse.Factor, stateToken: String, verifyLink: LinksResponse.Link?, activationLink: LinksResponse.Link?
    ) -> OktaFactor {
        let make: (EmbeddedResponse.Factor, String, LinksResponse.Link?, LinksResponse.Link?) -> OktaFactor =
            switch factor.factorType {
            case .call: OktaFactorCall.init
            case .push: OktaFactorPush.init
            case .question: OktaFactorQuestion.init
            case .sms: OktaFactorSms.init
            case .token: OktaFactorToken.init
            case .TOTP: OktaFactorTotp.init
            default: OktaFactorOther.init
            }
        return make(factor, stateToken, verifyLink, activationLink)
    }

    /// Creates a factor.
    /// - Parameters:
    ///   - factor: The server's description of the factor.
    ///   - verifyLink: The link that answers the challenge; `nil` without a challenge.
    ///   - activationLink: The link that activates the factor; `nil` without a pending activation.
    public init(
        factor: EmbeddedResponse.Factor, stateToken: String, verifyLink: LinksResponse.Link?, activationLink: LinksResponse.Link?
    ) {
        self.factor = factor
        self.stateToken = stateToken
        self.verifyLink = verifyLink
        self.activationLink = activationLink
    }

    /// Whether the challenge can be answered.
    public func canVerify() -> Bool { verifyLink != nil }

    /// Whether the factor can be selected.
    public func canSelect() -> Bool { factor.links?.verify != nil }

    /// Whether the factor can be activated.
    public func canActivate() -> Bool { activationLink != nil }

    /// Whether the factor can be enrolled.
    public func canEnroll() -> Bool { factor.links?.enroll != nil }

    /// Answers the challenge.
    /// - Parameters:
    ///   - passCode: The code; `nil` for factors without a code.
    ///   - answerToSecurityQuestion: The answer to the security question; `nil` for other factors.
    public func verify(
        passCode: String?, answerToSecurityQuestion: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        send(to: verifyLink, "next", onStatusChange, onError) { [self] api, link, completion in
            api.verifyFactor(
                with: link, stateToken: stateToken, answer: answerToSecurityQuestion, passCode: passCode,
                rememberDevice: wishes.rememberDevice,
                autoPush: wishes.autoPush, completion: completion)
        }
    }

    /// Activates the factor.
    /// - Parameter passCode: The code; `nil` for factors without a code.
    public func activate(
        passCode: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        send(to: activationLink, "next", onStatusChange, onError) { [self] api, link, completion in
            api.verifyFactor(with: link, stateToken: stateToken, passCode: passCode, completion: completion)
        }
    }

    /// Enrolls the factor. Pass the values that its type needs.
    /// - Parameters:
    ///   - questionId: The key of the security question.
    ///   - answer: The answer to the security question.
    ///   - credentialId: The account or serial number of a token.
    ///   - passCode: The current code of a token.
    ///   - phoneNumber: The phone number in E.164 format.
    public func enroll(
        questionId: String?, answer: String?, credentialId: String?, passCode: String?, phoneNumber: String?,
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        send(to: factor.links?.enroll, "enroll", onStatusChange, onError) { [self] api, link, completion in
            api.enrollFactor(
                factor, with: link, stateToken: stateToken, phoneNumber: phoneNumber, questionId: questionId, answer: answer,
                credentialId: credentialId, passCode: passCode, completion: completion)
        }
    }

    /// Selects the factor. The server then sends a code or a push, or asks the security question.
    public func select(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        select(passCode: nil, answer: nil, onStatusChange, onError)
    }

    /// Attaches the factor to a status.
    func attach(to status: OktaAuthStatus) {
        responseDelegate = status as? any OktaFactorResultProtocol
        restApi = status.restApi
        origin = OktaAuthStatus(standingInFor: status)
    }

    /// The user's choices for the verification request.
    var wishes: (rememberDevice: Bool?, autoPush: Bool?) {
        (origin?.transaction.rememberDevice, type == .push ? origin?.transaction.autoPush : nil)
    }

    /// Returns the body of an enrollment request.
    func enrollment(profile: [String: String]) -> [String: Any] {
        let body: [String: Any?] = [
            "stateToken": stateToken, "factorType": type.rawValue, "provider": provider?.rawValue, "profile": profile,
        ]
        return body.compactMapValues { $0 }
    }

    func select(
        passCode: String?, answer: String?, _ onStatusChange: @escaping (OktaAuthStatus) -> Void,
        _ onError: @escaping (OktaError) -> Void
    ) {
        send(to: factor.links?.verify, "verify", onStatusChange, onError) { [self] api, link, completion in
            api.verifyFactor(
                with: link, stateToken: stateToken, answer: answer, passCode: passCode, rememberDevice: wishes.rememberDevice,
                autoPush: wishes.autoPush, completion: completion)
        }
    }

    /// Sends a request if its link exists, and passes the response to the status. The status is retained until the response arrives.
    func send(
        to link: LinksResponse.Link?, _ relation: String, _ onStatusChange: @escaping (OktaAuthStatus) -> Void,
        _ onError: @escaping (OktaError) -> Void,
        _ start: (OktaAPI, LinksResponse.Link, @escaping (OktaAPIRequest.Result) -> Void) -> OktaAPIRequest
    ) {
        guard let link else { return refuse(.missing(relation), onError) }
        guard let restApi else { return refuse(.detached, onError) }
        if let responseDelegate {
            _ = start(restApi, link) {
                responseDelegate.handleFactorServerResponse(response: $0, onStatusChange: onStatusChange, onError: onError)
            }
        } else if let origin {
            _ = start(restApi, link) { [stateToken] in origin.receive($0, token: stateToken, onStatusChange, onError) }
        } else {
            refuse(.detached, onError)
        }
    }

    func refuse(_ error: OktaError, _ onError: @escaping (OktaError) -> Void) {
        MainQueue.runLater { onError(error) }
    }
}

@available(*, unavailable)
extension OktaFactor: Sendable {}

extension OktaFactor {
    /// Answers the challenge.
    /// - Parameters:
    ///   - passCode: The code; `nil` for factors without a code.
    ///   - answerToSecurityQuestion: The answer to the security question; `nil` for other factors.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func verify(passCode: String? = nil, answerToSecurityQuestion: String? = nil) async throws -> OktaAuthStatus {
        try await MainQueue.value {
            verify(passCode: passCode, answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: $0, onError: $1)
        }
    }

    /// Activates the factor.
    /// - Parameter passCode: The code; `nil` for factors without a code.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func activate(passCode: String?) async throws -> OktaAuthStatus {
        try await MainQueue.value { activate(passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Enrolls the factor. Pass the values that its type needs.
    /// - Parameters:
    ///   - questionId: The key of the security question.
    ///   - answer: The answer to the security question.
    ///   - credentialId: The account or serial number of a token.
    ///   - passCode: The current code of a token.
    ///   - phoneNumber: The phone number in E.164 format.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func enroll(questionId: String?, answer: String?, credentialId: String?, passCode: String?, phoneNumber: String?) async throws
        -> OktaAuthStatus
    {
        try await MainQueue.value {
            enroll(
                questionId: questionId, answer: answer, credentialId: credentialId, passCode: passCode, phoneNumber: phoneNumber,
                onStatusChange: $0, onError: $1)
        }
    }

    /// Selects the factor. The server then sends a code or a push, or asks the security question.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func select() async throws -> OktaAuthStatus {
        try await MainQueue.value { select(onStatusChange: $0, onError: $1) }
    }
}

/// A factor of a type without its own class, such as email or a security key.
open class OktaFactorOther: OktaFactor {
    /// Sends a request with a custom body.
    /// - Parameter keyValuePayload: The members of the body. Include the `stateToken` of the transaction.
    public func sendRequest(
        with link: LinksResponse.Link, keyValuePayload: [String: Any], onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        send(to: link, "", onStatusChange, onError) { api, link, completion in
            api.sendApiRequest(with: link, bodyParams: keyValuePayload, method: .post, completion: completion)
        }
    }
}

extension OktaFactorOther {
    /// Sends a request with a custom body.
    /// - Parameter keyValuePayload: The members of the body. Include the `stateToken` of the transaction.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func sendRequest(with link: LinksResponse.Link, keyValuePayload: [String: Any]) async throws -> OktaAuthStatus {
        try await MainQueue.value { sendRequest(with: link, keyValuePayload: keyValuePayload, onStatusChange: $0, onError: $1) }
    }
}

/// The channel for the recovery of a password or the unlocking of an account.
public enum OktaRecoveryFactors: Hashable, Sendable {
    /// A link in an email, which the user opens outside the app.
    case email
    /// A code in a text message.
    case sms
    /// A code in a phone call.
    case call

    /// Returns the factor type with the same name.
    public func toFactorType() -> FactorType {
        switch self {
        case .email: .email
        case .sms: .sms
        case .call: .call
        }
    }
}
