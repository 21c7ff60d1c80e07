package import AuthFoundation
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The requests of the protocol (Documentation/Protocol/Authn.md §4). Each function sends its request at once and returns it.
/// Statuses and factors send their requests through this class. Apps use it for other requests, subclass it or replace its transport
/// (``httpRequestListener``). The class is not `Sendable`: use it on the main queue. Closures are called on the main queue, at most once
/// for each request.
open class OktaAPI {
    /// A closure that is called after the completion of each request. A successful request whose response is not a status does not call it:
    /// a session, the security questions, ``sendHttpRequest(with:method:onCompletion:onError:)``.
    public var commonCompletion: ((OktaAPIRequest, OktaAPIRequest.Result) -> Void)?

    /// A transport that sends the requests instead of the session; `nil` for the session.
    public var httpRequestListener: (any OktaHTTPRequestListenerProtocol)?

    /// The ID by which the server remembers this device; `nil` for none. Create it once with ``makeDeviceToken()`` and store it.
    /// Each request to the organization contains it as the cookie `DT`.
    public var deviceToken: String?

    /// The organization's URL. The paths of the protocol are appended to its path, which is cut before a segment `oauth2`.
    public private(set) var oktaDomain: URL

    /// The session from the initializer, or else a session without cookies and cache.
    public private(set) lazy var urlSession = givenSession ?? URLSession(configuration: EphemeralSession.shared.configuration)

    private let givenSession: URLSession?
    private let ownSession: any URLSessionProtocol

    /// The current transport of requests.
    var transport: OktaAPIRequest.Transport {
        httpRequestListener.map { .listener($0) } ?? givenSession.map { .urlSession($0) } ?? .own(ownSession)
    }

    /// Creates an instance for an organization.
    /// - Parameters:
    ///   - oktaDomain: The organization's URL: https, or http on a loopback host.
    ///   - urlSession: The session that sends the requests; `nil` for the default session. The default session keeps no cookies, writes
    ///     nothing to disk and sends credentials to no other origin.
    public init(oktaDomain: URL, urlSession: URLSession? = nil) {
        self.oktaDomain = oktaDomain
        givenSession = urlSession
        ownSession = EphemeralSession.shared
        SDKVersion.register(.authn, version: SDKVersion.current)
    }

    /// Creates an instance that sends its requests through the given transport.
    package init(oktaDomain: URL, transport: any URLSessionProtocol) {
        self.oktaDomain = oktaDomain
        givenSession = nil
        ownSession = transport
        SDKVersion.register(.authn, version: SDKVersion.current)
    }

    /// Starts a sign-in: `POST /api/v1/authn`.
    /// - Parameters:
    ///   - audience: The application to sign in to, if the server requires it.
    ///   - relayState: A value that the server returns with each response of the transaction; at most 2048 characters.
    ///   - multiOptionalFactorEnroll: Whether the server offers further optional factors after each enrollment.
    ///   - warnBeforePasswordExpired: Whether the server returns `PASSWORD_WARN` if the password expires soon.
    ///   - token: An activation token, instead of username and password.
    ///   - deviceToken: The ID of this device; `nil` uses the property ``deviceToken``.
    ///   - deviceFingerprint: A value by which the server can detect a new device.
    @discardableResult
    open func primaryAuthentication(
        username: String?, password: String?, audience: String? = nil, relayState: String? = nil, multiOptionalFactorEnroll: Bool = true,
        warnBeforePasswordExpired: Bool = true, token: String? = nil, deviceToken: String? = nil, deviceFingerprint: String? = nil,
        completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let body: [String: Any?] = [
            "username": username, "password": password, "audience": audience, "relayState": relayState, "token": token,
            "options": ["multiOptionalFactorEnroll": multiOptionalFactorEnroll, "warnBeforePasswordExpired": warnBeforePasswordExpired],
        ]
        let request = request(to: .path("/api/v1/authn"), body, completion)
        var headers = request.additionalHeaders ?? [:]
        headers["X-Device-Fingerprint"] = deviceFingerprint
        if let deviceToken { headers["Cookie"] = "DT=\(deviceToken)" }
        request.additionalHeaders = headers
        return run(request)
    }

    /// Changes a password: `POST /api/v1/authn/credentials/change_password`.
    @discardableResult
    open func changePassword(
        stateToken: String, oldPassword: String, newPassword: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let body = ["stateToken": stateToken, "oldPassword": oldPassword, "newPassword": newPassword]
        return run(request(to: .path("/api/v1/authn/credentials/change_password"), body, completion))
    }

    /// Changes a password.
    @discardableResult
    open func changePassword(
        link: LinksResponse.Link, stateToken: String, oldPassword: String, newPassword: String,
        completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let body = ["stateToken": stateToken, "oldPassword": oldPassword, "newPassword": newPassword]
        return run(request(to: .link(link), body, completion))
    }

    /// Fetches the state of a transaction without changing it: `POST /api/v1/authn`.
    @discardableResult
    open func getTransactionState(
        stateToken: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        return run(request(to: .path("/api/v1/authn"), ["stateToken": stateToken], completion))
    }

    /// Starts to unlock an account: `POST /api/v1/authn/recovery/unlock`.
    /// - Parameter factor: The channel of the recovery message.
    @discardableResult
    open func unlockAccount(
        username: String, factor: FactorType, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        return run(request(to: .path("/api/v1/authn/recovery/unlock"), ["username": username, "factorType": factor.rawValue], completion))
    }

    /// Starts to recover a forgotten password: `POST /api/v1/authn/recovery/password`.
    /// - Parameter factor: The channel of the recovery message.
    @discardableResult
    open func recoverPassword(
        username: String, factor: FactorType, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        return run(
            request(to: .path("/api/v1/authn/recovery/password"), ["username": username, "factorType": factor.rawValue], completion))
    }

    /// Continues a recovery with an answer or a recovery token.
    @discardableResult
    open func recoverWith(
        answer: String?, stateToken: String, recoveryToken: String?, link: LinksResponse.Link,
        completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        // With a recovery token, the transaction starts without a state token.
        let body: [String: Any?] = [
            "stateToken": stateToken.isEmpty ? nil : stateToken, "answer": answer, "recoveryToken": recoveryToken,
        ]
        return run(request(to: .link(link), body, completion))
    }

    /// Sets a new password in a recovery.
    @discardableResult
    open func resetPassword(
        newPassword: String, stateToken: String, link: LinksResponse.Link, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        return run(request(to: .link(link), ["stateToken": stateToken, "newPassword": newPassword], completion))
    }

    /// Cancels a transaction: `POST /api/v1/authn/cancel`.
    @discardableResult
    open func cancelTransaction(
        stateToken: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let request = request(to: .path("/api/v1/authn/cancel"), ["stateToken": stateToken], completion)
        request.takesEmptyAnswer = true
        return run(request)
    }

    /// Cancels a transaction.
    @discardableResult
    open func cancelTransaction(
        with link: LinksResponse.Link, stateToken: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let request = request(to: .link(link), ["stateToken": stateToken], completion)
        request.takesEmptyAnswer = true
        return run(request)
    }

    /// Follows a link that needs only the state token: back, skip or resend.
    @discardableResult
    open func perform(
        link: LinksResponse.Link, stateToken: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        return run(request(to: .link(link), ["stateToken": stateToken], completion))
    }

    /// Selects, verifies or polls a factor: `POST /api/v1/authn/factors/{id}/verify`.
    /// - Parameters:
    ///   - rememberDevice: Whether the server remembers this device; `nil` omits the parameter.
    ///   - autoPush: Whether apps start the push automatically at later sign-ins; `nil` omits the parameter.
    @discardableResult
    open func verifyFactor(
        factorId: String, stateToken: String, answer: String? = nil, passCode: String? = nil, rememberDevice: Bool? = nil,
        autoPush: Bool? = nil, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let body: [String: Any?] = ["stateToken": stateToken, "answer": answer, "passCode": passCode]
        let id = factorId.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let request = request(to: .path("/api/v1/authn/factors/\(id)/verify"), body, completion)
        request.urlParams = Self.wishes(rememberDevice, autoPush)
        return run(request)
    }

    /// Selects, verifies or polls a factor.
    /// - Parameters:
    ///   - rememberDevice: Whether the server remembers this device; `nil` omits the parameter.
    ///   - autoPush: Whether apps start the push automatically at later sign-ins; `nil` omits the parameter.
    @discardableResult
    open func verifyFactor(
        with link: LinksResponse.Link, stateToken: String, answer: String? = nil, passCode: String? = nil, recoveryToken: String? = nil,
        rememberDevice: Bool? = nil, autoPush: Bool? = nil, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let body: [String: Any?] = ["stateToken": stateToken, "answer": answer, "passCode": passCode, "recoveryToken": recoveryToken]
        let request = request(to: .link(link), body, completion)
        request.urlParams = Self.wishes(rememberDevice, autoPush)
        return run(request)
    }

    /// Enrolls a factor.
    /// - Parameters:
    ///   - factor: The server's description of the factor.
    ///   - phoneNumber: The phone number in E.164 format; `nil` for the verified number of the account, or for other factors.
    ///   - questionId: The key of the security question.
    ///   - credentialId: The account or serial number of the token.
    @discardableResult
    open func enrollFactor(
        _ factor: EmbeddedResponse.Factor, with link: LinksResponse.Link, stateToken: String, phoneNumber: String?, questionId: String?,
        answer: String?, credentialId: String?, passCode: String?, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        var profile: [String: String] = [:]
        if let questionId, let answer { (profile["question"], profile["answer"]) = (questionId, answer) }
        profile["phoneNumber"] = phoneNumber
        profile["credentialId"] = credentialId
        let body: [String: Any?] = [
            "stateToken": stateToken, "factorType": factor.factorType.rawValue, "provider": factor.provider?.rawValue, "profile": profile,
            "passCode": passCode,
        ]
        return run(request(to: .link(link), body, completion))
    }

    /// Sends the activation link of a push factor to the user.
    /// - Parameter phoneNumber: The phone number in E.164 format, for a text message; `nil` for an email.
    @discardableResult
    open func sendActivationLink(
        link: LinksResponse.Link, stateToken: String, phoneNumber: String? = nil, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let profile = phoneNumber.map { ["phoneNumber": $0] } ?? [:]
        let request = request(to: .link(link), ["stateToken": stateToken, "profile": profile], completion)
        request.takesEmptyAnswer = true
        return run(request)
    }

    /// Sends a custom request body to a link.
    /// - Parameter bodyParams: The members of the JSON object in the body.
    @discardableResult
    open func sendApiRequest(
        with link: LinksResponse.Link, bodyParams: [String: Any]?, method: OktaAPIRequest.Method,
        completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let request = request(to: .link(link), bodyParams ?? [:], completion)
        request.method = method
        return run(request)
    }
    /// Fetches the security questions from which the user can choose.
    @discardableResult
    open func downloadSecurityQuestions(
        with link: LinksResponse.Link, onCompletion: (([SecurityQuestion]) -> Void)? = nil, onError: ((OktaError) -> Void)? = nil
    ) -> OktaAPIRequest {
        let request = dataRequest(to: .link(link), { onError?($0) }) { request, data in
            do {
                onCompletion?(try JSONDecoder().decode([SecurityQuestion].self, from: data))
            } catch {
                onError?(.responseSerializationError(error, data))
            }
        }
        request.method = .get
        return run(request)
    }

    /// Sends a custom request, such as the request for the image of a QR code.
    /// - Parameter onCompletion: Called with the body of a successful response.
    @discardableResult
    open func sendHttpRequest(
        with url: URL, method: OktaAPIRequest.Method, onCompletion: @escaping ((Data) -> Void), onError: @escaping ((OktaError) -> Void)
    ) -> OktaAPIRequest {
        let request = dataRequest(to: .url(url), onError) { _, data in onCompletion(data) }
        request.method = method
        return run(request)
    }
}

@available(*, unavailable)
extension OktaAPI: Sendable {}

extension SDKVersion.Name {
    /// The name of the module OktaAuthSdk in the user agent.
    static let authn: SDKVersion.Name = "okta-auth-swift"
}

/// Functions that Okta's SDK does not have.
extension OktaAPI {
    /// Creates an ID for this device, for ``deviceToken``. Create an ID once for each installation and store it, preferably in the
    /// Keychain.
    /// - Returns: 16 random bytes as 32 hexadecimal digits.
    public static func makeDeviceToken() -> String {
        Randomness.system.bytes(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Starts a recovery with a token from an email: `POST /api/v1/authn/recovery/token`.
    /// - Parameter recoveryToken: The token. It can be used once.
    @discardableResult
    public func verifyRecoveryToken(_ recoveryToken: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil) -> OktaAPIRequest {
        run(request(to: .path("/api/v1/authn/recovery/token"), ["recoveryToken": recoveryToken], completion))
    }

    /// Changes or resets a password, and optionally ends the user's other sessions.
    /// - Parameters:
    ///   - oldPassword: The current password; `nil` in a recovery.
    ///   - revokeSessions: Whether to end the other sessions of the user.
    @discardableResult
    public func setPassword(
        link: LinksResponse.Link, stateToken: String, oldPassword: String? = nil, newPassword: String, revokeSessions: Bool,
        completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let body: [String: Any?] = [
            "stateToken": stateToken, "oldPassword": oldPassword, "newPassword": newPassword, "revokeSessions": revokeSessions,
        ]
        return run(request(to: .link(link), body, completion))
    }

    /// Sends a request of this class and waits for its response.
    /// Cancelling the task ends the wait but not the request.
    ///
    /// ```swift
    /// let answer = try await api.response { $0.getTransactionState(stateToken: token, completion: $1) }
    /// ```
    /// - Parameter start: Calls a function of this class with the given completion.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func response(
        of start: (OktaAPI, _ completion: @escaping (OktaAPIRequest.Result) -> Void) -> OktaAPIRequest
    ) async throws -> OktaAPISuccessResponse {
        try await MainQueue.value { onValue, onError in
            _ = start(self) { result in
                switch result {
                case .success(let response): onValue(response)
                case .error(let error): onError(error)
                }
            }
        }
    }

    /// Fetches the content of a URL, such as the image of a QR code.
    /// Cancelling the task ends the wait but not the request.
    /// - Throws: `OktaError`; `CancellationError` if the task was cancelled.
    @MainActor
    public func data(from url: URL) async throws -> Data {
        try await MainQueue.value { sendHttpRequest(with: url, method: .get, onCompletion: $0, onError: $1) }
    }
}
