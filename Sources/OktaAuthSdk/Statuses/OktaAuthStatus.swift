public import Foundation

/// A state of a transaction; its subclasses are the states that there are.
///
/// What can be done next is decided by the links of the server's answer: a function whose link is missing calls back with
/// `OktaError.wrongStatus` and sends nothing. Not `Sendable`: use it on the main queue, where all its closures are called, once for each call
/// and never within it. After a transaction was cancelled, answers to it are dropped and their closures not called.
open class OktaAuthStatus {
    /// Sends the requests.
    public var restApi: OktaAPI

    /// Which state this is: the class to take it as.
    public var statusType: AuthStatus = .unknown("Unknown status")

    /// The server's answer.
    public var model: OktaAPISuccessResponse

    /// Makes the next status of the next answer.
    public var responseHandler: OktaAuthStatusResponseHandler

    /// Who signs in; nil before the server says.
    open var user: EmbeddedResponse.User? { model.embedded?.user }

    /// What can be done next.
    open var links: LinksResponse? { model.links }

    /// What came of the last attempt with a factor.
    open var factorResult: OktaAPISuccessResponse.FactorResult? { model.factorResult }

    /// Whether this device shall be remembered, so that next time no second factor is asked for: the person's wish, for this transaction.
    ///
    /// Set it before the last request to the factor; the server takes it if ``canRememberDevice`` says so, and knows the device by
    /// ``OktaAPI/deviceToken``. nil says nothing.
    public var rememberDevice: Bool? {
        get { transaction.rememberDevice }
        set { transaction.rememberDevice = newValue }
    }

    /// Whether pushes shall be sent without being asked for from now on: the person's wish, for this transaction. nil says nothing.
    public var autoPush: Bool? {
        get { transaction.autoPush }
        set { transaction.autoPush = newValue }
    }

    /// Whether the organization lets the person choose that this device is remembered.
    public var canRememberDevice: Bool {
        if case .rememberDevice(let policy) = model.embedded?.policy { policy.allowRememberDevice } else { false }
    }

    let transaction: Transaction

    /// Takes an organization.
    ///
    /// - Parameters:
    ///   - oktaDomain: The organization's URL: https, or http on this machine.
    ///   - responseHandler: Makes the statuses; each later one inherits it.
    public init(oktaDomain: URL, responseHandler: OktaAuthStatusResponseHandler = OktaAuthStatusResponseHandler()) {
        restApi = OktaAPI(oktaDomain: oktaDomain)
        model = .empty
        transaction = Transaction()
        self.responseHandler = responseHandler
    }

    /// Takes an organization that is reached through a transport of our own.
    package init(api: OktaAPI, responseHandler: OktaAuthStatusResponseHandler = OktaAuthStatusResponseHandler()) {
        restApi = api
        model = .empty
        transaction = Transaction()
        self.responseHandler = responseHandler
    }

    /// Takes the place of another status after an answer.
    ///
    /// - Parameters:
    ///   - currentState: The status so far, whose ``restApi`` and ``responseHandler`` it inherits.
    ///   - model: The answer.
    /// - Throws: What a subclass throws if the answer lacks something.
    public init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        restApi = currentState.restApi
        responseHandler = currentState.responseHandler
        transaction = currentState.transaction
        self.model = model
        if let status = model.status { statusType = status }
    }

    /// A copy that is of no subclass, and keeps none of its factors alive.
    init(standingInFor status: OktaAuthStatus) {
        restApi = status.restApi
        responseHandler = status.responseHandler
        transaction = status.transaction
        model = status.model
        statusType = status.statusType
    }

    /// Whether it can go back to the status before.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canReturn() -> Bool { model.links?.prev != nil }

    /// Whether the result can be asked for again and again.
    ///
    /// - Returns: False for statuses that wait for nothing.
    open func canPoll() -> Bool { false }

    /// Goes back to the status before.
    ///
    /// - Parameters:
    ///   - onStatusChange: Is called with the new status, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func returnToPreviousStatus(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.prev, "prev", onStatusChange, onError) { link, token, completion in
            restApi.perform(link: link, stateToken: token, completion: completion)
        }
    }

    /// Whether the transaction can be cancelled.
    ///
    /// - Returns: Whether the answer has the link for it.
    open func canCancel() -> Bool { model.links?.cancel != nil }

    /// Cancels the transaction; its state token is revoked.
    ///
    /// From this call on, answers to the transaction wait. When it is cancelled they are dropped; if it could not be, they come then.
    ///
    /// - Parameters:
    ///   - onSuccess: Is called when the transaction is cancelled, on the main queue; at once if there is none.
    ///   - onError: Is called with what went wrong, on the main queue.
    open func cancel(onSuccess: (() -> Void)? = nil, onError: ((_ error: OktaError) -> Void)? = nil) {
        guard statusType != .unauthenticated else { return MainQueue.runLater { onSuccess?() } }
        guard let link = model.links?.cancel else { return refuse(.missing("cancel")) { onError?($0) } }
        guard let stateToken = model.stateToken else { return refuse(.noStateToken) { onError?($0) } }
        transaction.beginCancelling(stateToken)
        restApi.cancelTransaction(with: link, stateToken: stateToken) { [transaction] result in
            switch result {
            case .success:
                transaction.endCancelling(stateToken, isDone: true)
                onSuccess?()
            case .error(let error):
                transaction.endCancelling(stateToken, isDone: false)
                onError?(error)
            }
        }
    }

    // MARK: - For the subclasses

    var passwordPolicy: EmbeddedResponse.Policy.Password? {
        if case .password(let policy) = model.embedded?.policy { policy } else { nil }
    }

    /// A factor of this status.
    func attach(
        _ factor: EmbeddedResponse.Factor, verifyLink: LinksResponse.Link?, activationLink: LinksResponse.Link?
    ) -> OktaFactor {
        let factor = OktaFactor.createFactorWith(
            factor, stateToken: model.stateToken ?? "", verifyLink: verifyLink, activationLink: activationLink)
        factor.attach(to: self)
        return factor
    }

    /// Sends a request if there is a link for it.
    func follow(
        _ link: LinksResponse.Link?, _ relation: String, token: String? = nil,
        _ onStatusChange: @escaping (OktaAuthStatus) -> Void, _ onError: @escaping (OktaError) -> Void,
        _ start: (LinksResponse.Link, String, @escaping (OktaAPIRequest.Result) -> Void) -> OktaAPIRequest
    ) {
        guard let link else { return refuse(.missing(relation), onError) }
        guard let token = token ?? model.stateToken else { return refuse(.noStateToken, onError) }
        _ = start(link, token) { [self] in receive($0, token: token, onStatusChange, onError) }
    }

    /// Makes the next status of an answer, unless the transaction was cancelled.
    func receive(
        _ result: OktaAPIRequest.Result, token: String?, _ onStatusChange: @escaping (OktaAuthStatus) -> Void,
        _ onError: @escaping (OktaError) -> Void
    ) {
        transaction.deliver(for: token) { [self] in
            // An app's own handler may call back from anywhere.
            responseHandler.handleServerResponse(
                result, currentStatus: self, onStatusChanged: { status in MainQueue.run { onStatusChange(status) } },
                onError: { error in MainQueue.run { onError(error) } })
        }
    }

    func refuse(_ error: OktaError, _ onError: @escaping (OktaError) -> Void) {
        MainQueue.runLater { onError(error) }
    }
}

@available(*, unavailable)
extension OktaAuthStatus: Sendable {}

extension OktaAuthStatus {
    /// Goes back to the status before.
    ///
    /// - Returns: The new status.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, or the transaction meanwhile.
    @MainActor
    public func returnToPreviousStatus() async throws -> OktaAuthStatus {
        try await MainQueue.value { returnToPreviousStatus(onStatusChange: $0, onError: $1) }
    }

    /// Cancels the transaction; its state token is revoked. Who waits for an answer to it gets `CancellationError`.
    ///
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled, which leaves open what became of the transaction.
    @MainActor
    public func cancelTransaction() async throws {
        try await MainQueue.value { onValue, onError in cancel(onSuccess: { onValue(()) }, onError: onError) }
    }
}

extension OktaError {
    static func missing(_ relation: String) -> OktaError { .wrongStatus("the answer has no link “\(relation)”") }
    static let noStateToken = OktaError.invalidResponse("it has no state token")
    static let detached = OktaError.internalError("the factor belongs to no status")
}

/// The guide's spelling of ``OktaAuthStatusPasswordReset``.
@available(*, deprecated, renamed: "OktaAuthStatusPasswordReset", message: "Will be removed in 2.0.")
public typealias OktaAuthStatuPasswordReset = OktaAuthStatusPasswordReset

/// The guide's spelling of ``OktaAuthStatusUnauthenticated``.
@available(*, deprecated, renamed: "OktaAuthStatusUnauthenticated", message: "Will be removed in 2.0.")
public typealias OktaAuthUnauthenticated = OktaAuthStatusUnauthenticated
