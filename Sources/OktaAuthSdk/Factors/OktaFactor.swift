/// Takes the answers to the requests of factors.
public protocol OktaFactorResultProtocol: AnyObject {
    /// Takes an answer.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - onStatusChange: To be called with the new status, on the main queue.
    ///   - onError: To be called with what went wrong, on the main queue.
    func handleFactorServerResponse(
        response: OktaAPIRequest.Result, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void)
}

/// A factor, and what can be done with it: the links of the answer decide.
///
/// It works for as long as it is kept, also when the status that it came from is not. Not `Sendable`: use it on the main queue.
open class OktaFactor {
    /// Takes the answers: the status that the factor came from, which is kept while a request is on its way. After that status is gone,
    /// answers become statuses all the same.
    public weak var responseDelegate: (any OktaFactorResultProtocol)?

    /// Sends the requests; the status's.
    public var restApi: OktaAPI?

    /// What the server says of it.
    public var factor: EmbeddedResponse.Factor

    /// `OPTIONAL` or `REQUIRED`, where it is to be enrolled.
    public var enrollment: String? { factor.enrollment }

    /// `NOT_SETUP` or `ACTIVE`, where it is to be enrolled.
    public var status: String? { factor.status }

    /// Who provides it.
    public var provider: FactorProvider? { factor.provider }

    /// What tells it from others.
    public var profile: EmbeddedResponse.Factor.Profile? { factor.profile }

    /// What can be done with it.
    public var links: LinksResponse? { factor.links }

    /// The kind.
    public var type: FactorType { factor.factorType }

    let stateToken: String
    let verifyLink: LinksResponse.Link?
    let activationLink: LinksResponse.Link?
    /// Stands in for the status when that is gone.
    private var origin: OktaAuthStatus?

    /// Makes a factor of the class for its kind.
    ///
    /// - Parameters:
    ///   - factor: What the server says of it.
    ///   - stateToken: The transaction's token.
    ///   - verifyLink: Answers its challenge; nil if there is none.
    ///   - activationLink: Activates it; nil if it does not wait for that.
    /// - Returns: The factor; an ``OktaFactorOther`` for kinds that have no class of their own.
    public class func createFactorWith(
        _ factor: EmbeddedResponse.Factor, stateToken: String, verifyLink: LinksResponse.Link?, activationLink: LinksResponse.Link?
    ) -> OktaFactor {
        switch factor.factorType {
        case .call:
            OktaFactorCall(factor: factor, stateToken: stateToken, verifyLink: verifyLink, activationLink: activationLink)
        case .push:
            OktaFactorPush(factor: factor, stateToken: stateToken, verifyLink: verifyLink, activationLink: activationLink)
        case .question:
            OktaFactorQuestion(factor: factor, stateToken: stateToken, verifyLink: verifyLink, activationLink: activationLink)
        case .sms:
            OktaFactorSms(factor: factor, stateToken: stateToken, verifyLink: verifyLink, activationLink: activationLink)
        case .token:
            OktaFactorToken(factor: factor, stateToken: stateToken, verifyLink: verifyLink, activationLink: activationLink)
        case .TOTP:
            OktaFactorTotp(factor: factor, stateToken: stateToken, verifyLink: verifyLink, activationLink: activationLink)
        default:
            OktaFactorOther(factor: factor, stateToken: stateToken, verifyLink: verifyLink, activationLink: activationLink)
        }
    }

    /// Takes what the server says of a factor.
    ///
    /// - Parameters:
    ///   - factor: What the server says of it.
    ///   - stateToken: The transaction's token.
    ///   - verifyLink: Answers its challenge; nil if there is none.
    ///   - activationLink: Activates it; nil if it does not wait for that.
    public init(
        factor: EmbeddedResponse.Factor, stateToken: String, verifyLink: LinksResponse.Link?, activationLink: LinksResponse.Link?
    ) {
        self.factor = factor
        self.stateToken = stateToken
        self.verifyLink = verifyLink
        self.activationLink = activationLink
    }

    /// Whether its challenge can be answered.
    ///
    /// - Returns: Whether the answer has the link for it.
    public func canVerify() -> Bool { verifyLink != nil }

    /// Whether it can be picked.
    ///
    /// - Returns: Whether the factor has the link for it.
    public func canSelect() -> Bool { factor.links?.verify != nil }

    /// Whether it can be activated.
    ///
    /// - Returns: Whether the answer has the link for it.
    public func canActivate() -> Bool { activationLink != nil }

    /// Whether it can be enrolled.
    ///
    /// - Returns: Whether the factor has the link for it.
    public func canEnroll() -> Bool { factor.links?.enroll != nil }

    /// Answers the challenge.
    ///
    /// - Parameters:
    ///   - passCode: The code; nil for factors that have none.
    ///   - answerToSecurityQuestion: The answer to a question; nil for other factors.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
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
    ///
    /// - Parameters:
    ///   - passCode: The code; nil for factors that have none.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func activate(
        passCode: String?, onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        send(to: activationLink, "next", onStatusChange, onError) { [self] api, link, completion in
            api.verifyFactor(with: link, stateToken: stateToken, passCode: passCode, completion: completion)
        }
    }

    /// Enrols the factor with what its kind needs.
    ///
    /// - Parameters:
    ///   - questionId: The key of a question.
    ///   - answer: The answer to it.
    ///   - credentialId: The account or the serial number of a token.
    ///   - passCode: The current code of a token.
    ///   - phoneNumber: The number in E.164.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
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

    /// Picks the factor: a code or a push is sent, or its question asked.
    ///
    /// - Parameters:
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    public func select(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        select(passCode: nil, answer: nil, onStatusChange, onError)
    }

    // MARK: - For the kinds

    /// Belongs to a status from now on.
    func attach(to status: OktaAuthStatus) {
        responseDelegate = status as? any OktaFactorResultProtocol
        restApi = status.restApi
        origin = OktaAuthStatus(standingInFor: status)
    }

    /// What the person wishes.
    var wishes: (rememberDevice: Bool?, autoPush: Bool?) {
        (origin?.transaction.rememberDevice, type == .push ? origin?.transaction.autoPush : nil)
    }

    /// The body of an enrolment.
    func enrolment(profile: [String: String]) -> [String: Any] {
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

    /// Sends a request if there is a link for it, and hands the answer to the status, which is kept until then.
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
    ///
    /// - Parameters:
    ///   - passCode: The code; nil for factors that have none.
    ///   - answerToSecurityQuestion: The answer to a question; nil for other factors.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func verify(passCode: String? = nil, answerToSecurityQuestion: String? = nil) async throws -> OktaAuthStatus {
        try await MainQueue.value {
            verify(passCode: passCode, answerToSecurityQuestion: answerToSecurityQuestion, onStatusChange: $0, onError: $1)
        }
    }

    /// Activates the factor.
    ///
    /// - Parameter passCode: The code; nil for factors that have none.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func activate(passCode: String?) async throws -> OktaAuthStatus {
        try await MainQueue.value { activate(passCode: passCode, onStatusChange: $0, onError: $1) }
    }

    /// Enrols the factor with what its kind needs.
    ///
    /// - Parameters:
    ///   - questionId: The key of a question.
    ///   - answer: The answer to it.
    ///   - credentialId: The account or the serial number of a token.
    ///   - passCode: The current code of a token.
    ///   - phoneNumber: The number in E.164.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
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

    /// Picks the factor: a code or a push is sent, or its question asked.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func select() async throws -> OktaAuthStatus {
        try await MainQueue.value { select(onStatusChange: $0, onError: $1) }
    }
}

/// A factor of a kind that has no class of its own, such as e-mail or a security key.
open class OktaFactorOther: OktaFactor {
    /// Sends a body of the app's own.
    ///
    /// - Parameters:
    ///   - link: Where to.
    ///   - keyValuePayload: The members of the body; put the transaction's `stateToken` among them.
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
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
    /// Sends a body of the app's own.
    ///
    /// - Parameters:
    ///   - link: Where to.
    ///   - keyValuePayload: The members of the body; put the transaction's `stateToken` among them.
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func sendRequest(with link: LinksResponse.Link, keyValuePayload: [String: Any]) async throws -> OktaAuthStatus {
        try await MainQueue.value { sendRequest(with: link, keyValuePayload: keyValuePayload, onStatusChange: $0, onError: $1) }
    }
}

/// How a person is reached who forgot the password or whose account is locked.
public enum OktaRecoveryFactors: Hashable, Sendable {
    /// A link by e-mail; it is followed elsewhere.
    case email
    /// A code by text message.
    case sms
    /// A code by a phone call.
    case call

    /// The factor type of the same name.
    ///
    /// - Returns: The factor type.
    public func toFactorType() -> FactorType {
        switch self {
        case .email: .email
        case .sms: .sms
        case .call: .call
        }
    }
}
