public import Foundation

/// The status of a transaction. Each kind of status is a subclass. A property is `nil` if the response does not contain it.
/// The links of the response determine the next steps. A function whose link is missing fails with `OktaError.wrongStatus` and sends
/// nothing. The class is not `Sendable`: use it on the main queue. Closures are called on the main queue, at most once for each call and
/// never during the call. After the transaction is cancelled, its responses are ignored and their closures are not called.
open class OktaAuthStatus {
    /// The API object that sends the requests.
    public var restApi: OktaAPI

    /// The kind of status, which identifies the subclass.
    public var statusType: AuthStatus = .unknown("Unknown status")

    /// The server's response.
    public var model: OktaAPISuccessResponse

    /// The handler that creates the status of the next response.
    public var responseHandler: OktaAuthStatusResponseHandler

    /// The user who signs in; `nil` until the server returns the user.
    open var user: EmbeddedResponse.User? { model.embedded?.user }

    /// The links of the possible next steps.
    open var links: LinksResponse? { model.links }

    /// The result of the last attempt with a factor.
    open var factorResult: OktaAPISuccessResponse.FactorResult? { model.factorResult }

    /// The user's choice for this transaction: whether the server remembers this device, so that the next sign-in needs no second factor.
    /// Set it before the last request to the factor. It has an effect only if ``canRememberDevice`` is true; the server identifies the
    /// device by ``OktaAPI/deviceToken``. `nil` omits the parameter.
    public var rememberDevice: Bool? {
        get { transaction.rememberDevice }
        set { transaction.rememberDevice = newValue }
    }

    /// The user's choice for this transaction: whether apps start the push automatically at later sign-ins. `nil` omits the parameter.
    public var autoPush: Bool? {
        get { transaction.autoPush }
        set { transaction.autoPush = newValue }
    }

    /// Whether the organization's policy allows the server to remember this device.
    public var canRememberDevice: Bool {
        if case .rememberDevice(let policy) = model.embedded?.policy { policy.allowRememberDevice } else { false }
    }

    let transaction: Transaction

    /// Creates an instance for an organization.
    /// - Parameters:
    ///   - oktaDomain: The organization's URL: https, or http on a loopback host.
    ///   - responseHandler: The handler that creates the statuses. Later statuses inherit it.
    public init(oktaDomain: URL, responseHandler: OktaAuthStatusResponseHandler = OktaAuthStatusResponseHandler()) {
        restApi = OktaAPI(oktaDomain: oktaDomain)
        model = .empty
        transaction = Transaction()
        self.responseHandler = responseHandler
    }

    /// Creates an instance that sends its requests with an existing API object.
    package init(api: OktaAPI, responseHandler: OktaAuthStatusResponseHandler = OktaAuthStatusResponseHandler()) {
        restApi = api
        model = .empty
        transaction = Transaction()
        self.responseHandler = responseHandler
    }

    /// Creates the status of a response.
    /// - Parameter currentState: The previous status, whose ``restApi`` and ``responseHandler`` are inherited.
    /// - Throws: The base class throws nothing. Subclasses throw `OktaError.invalidResponse` if the response lacks a value that they need.
    public init(currentState: OktaAuthStatus, model: OktaAPISuccessResponse) throws {
        restApi = currentState.restApi
        responseHandler = currentState.responseHandler
        transaction = currentState.transaction
        self.model = model
        if let status = model.status { statusType = status }
    }

    /// Creates a copy of the base class, which does not retain the status's factors.
    init(standingInFor status: OktaAuthStatus) {
        restApi = status.restApi
        responseHandler = status.responseHandler
        transaction = status.transaction
        model = status.model
        statusType = status.statusType
    }

    /// Whether the transaction can return to the previous status.
    open func canReturn() -> Bool { model.links?.prev != nil }

    /// Whether the app can poll for the result.
    open func canPoll() -> Bool { false }

    /// Returns to the previous status.
    open func returnToPreviousStatus(
        onStatusChange: @escaping (_ newStatus: OktaAuthStatus) -> Void, onError: @escaping (_ error: OktaError) -> Void
    ) {
        follow(model.links?.prev, "prev", onStatusChange, onError)
    }

    /// Whether the transaction can be cancelled.
    open func canCancel() -> Bool { model.links?.cancel != nil }

    /// Cancels the transaction and revokes its state token.
    /// Responses that arrive during the cancellation are held back. They are dropped if the cancellation succeeds, and delivered if it
    /// fails.
    /// - Parameter onSuccess: Called when the transaction has been cancelled, or if no transaction has started.
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

    var passwordPolicy: EmbeddedResponse.Policy.Password? {
        if case .password(let policy) = model.embedded?.policy { policy } else { nil }
    }

    /// Creates a factor of this status.
    func attach(
        _ factor: EmbeddedResponse.Factor, verifyLink: LinksResponse.Link?, activationLink: LinksResponse.Link?
    ) -> OktaFactor {
        let factor = OktaFactor.createFactorWith(
            factor, stateToken: model.stateToken ?? "", verifyLink: verifyLink, activationLink: activationLink)
        factor.attach(to: self)
        return factor
    }

    /// Sends a request if its link exists.
    func follow(
        _ link: LinksResponse.Link?, _ relation: String, token: String? = nil,
        _ onStatusChange: @escaping (OktaAuthStatus) -> Void, _ onError: @escaping (OktaError) -> Void,
        _ start: (LinksResponse.Link, String, @escaping (OktaAPIRequest.Result) -> Void) -> OktaAPIRequest
    ) {
        guard let link else { return refuse(.missing(relation), onError) }
        guard let token = token ?? model.stateToken else { return refuse(.noStateToken, onError) }
        _ = start(link, token) { [self] in receive($0, token: token, onStatusChange, onError) }
    }

    /// Sends a request that contains only the state token, if the link exists.
    func follow(
        _ link: LinksResponse.Link?, _ relation: String, _ onStatusChange: @escaping (OktaAuthStatus) -> Void,
        _ onError: @escaping (OktaError) -> Void
    ) {
        follow(link, relation, onStatusChange, onError) { restApi.perform(link: $0, stateToken: $1, completion: $2) }
    }

    /// Passes a response to the response handler, unless the transaction was cancelled.
    func receive(
        _ result: OktaAPIRequest.Result, token: String?, _ onStatusChange: @escaping (OktaAuthStatus) -> Void,
        _ onError: @escaping (OktaError) -> Void
    ) {
        transaction.deliver(for: token) { [self] in
            // A custom handler may call back from any thread.
            responseHandler.handleServerResponse(
                result, currentStatus: self, onStatusChanged: { status in MainQueue.run { onStatusChange(status) } },
                onError: { error in MainQueue.run { onError(error) } })
        }
    }

    /// Returns the completion of a request that needs no state token.
    func receiver(
        _ onStatusChange: @escaping (OktaAuthStatus) -> Void, _ onError: @escaping (OktaError) -> Void
    ) -> (OktaAPIRequest.Result) -> Void {
        { [self] in receive($0, token: nil, onStatusChange, onError) }
    }

    func refuse(_ error: OktaError, _ onError: @escaping (OktaError) -> Void) {
        MainQueue.runLater { onError(error) }
    }
}

@available(*, unavailable)
extension OktaAuthStatus: Sendable {}

extension OktaAuthStatus {
    /// Returns to the previous status.
    /// - Throws: `OktaError`; `CancellationError` if the task or the transaction was cancelled.
    @MainActor
    public func returnToPreviousStatus() async throws -> OktaAuthStatus {
        try await MainQueue.value { returnToPreviousStatus(onStatusChange: $0, onError: $1) }
    }

    /// Cancels the transaction and revokes its state token. Other pending calls of the transaction throw `CancellationError`.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled. The transaction may then be cancelled or not.
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

extension Optional {
    /// Returns the value of a mandatory member of a response.
    /// - Throws: `OktaError.invalidResponse` with the reason if the member is missing.
    func required(_ reason: String) throws -> Wrapped {
        guard let self else { throw OktaError.invalidResponse(reason) }
        return self
    }
}

/// A misspelling of ``OktaAuthStatusPasswordReset`` in the SDK's guide.
@available(*, deprecated, renamed: "OktaAuthStatusPasswordReset", message: "Will be removed in 2.0.")
public typealias OktaAuthStatuPasswordReset = OktaAuthStatusPasswordReset

/// The name of ``OktaAuthStatusUnauthenticated`` in the SDK's guide.
@available(*, deprecated, renamed: "OktaAuthStatusUnauthenticated", message: "Will be removed in 2.0.")
public typealias OktaAuthUnauthenticated = OktaAuthStatusUnauthenticated
