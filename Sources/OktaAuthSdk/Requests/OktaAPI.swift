package import AuthFoundation
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The requests of the protocol (authn reference, 4), one function for each.
///
/// Statuses and factors send theirs through it; an app uses it for what they have no function for, subclasses it, or gives it another way to
/// send (``httpRequestListener``). Not `Sendable`: use it on the main queue, where all its closures are called.
open class OktaAPI {
    /// Is called after the completion of each request.
    public var commonCompletion: ((OktaAPIRequest, OktaAPIRequest.Result) -> Void)?

    /// Sends the requests; nil for the session.
    public var httpRequestListener: (any OktaHTTPRequestListenerProtocol)?

    /// Names this device to the server, which remembers devices by it: the same value for good, made by ``makeDeviceToken()``.
    ///
    /// It goes along with each request, as the cookie `DT`; nil if there is none.
    public var deviceToken: String?

    /// The organization's URL. Below its path, up to a segment `oauth2`, are the paths of the protocol.
    public private(set) var oktaDomain: URL

    /// The session that was given, or else one without cookies or cache.
    public private(set) lazy var urlSession = givenSession ?? URLSession(configuration: EphemeralSession.shared.configuration)

    private let givenSession: URLSession?
    private let ownSession: any URLSessionProtocol

    /// What sends requests now.
    var transport: OktaAPIRequest.Transport {
        httpRequestListener.map { .listener($0) } ?? givenSession.map { .urlSession($0) } ?? .own(ownSession)
    }

    /// Takes an organization.
    ///
    /// - Parameters:
    ///   - oktaDomain: The organization's URL: https, or http on this machine.
    ///   - urlSession: What sends the requests; nil for a session that keeps no cookies, writes nothing, and carries credentials to no other
    ///     origin.
    public init(oktaDomain: URL, urlSession: URLSession? = nil) {
        self.oktaDomain = oktaDomain
        givenSession = urlSession
        ownSession = EphemeralSession.shared
        SDKVersion.register(.authn, version: SDKVersion.current)
    }

    /// Takes an organization that is reached through a transport of our own.
    package init(oktaDomain: URL, transport: any URLSessionProtocol) {
        self.oktaDomain = oktaDomain
        givenSession = nil
        ownSession = transport
        SDKVersion.register(.authn, version: SDKVersion.current)
    }

    // MARK: - The requests

    /// Begins a sign-in: `POST /api/v1/authn`.
    ///
    /// - Parameters:
    ///   - username: The name to sign in with.
    ///   - password: The password.
    ///   - audience: The application that is signed in to, where the server asks for it.
    ///   - relayState: Is sent back with each answer of the transaction; at most 2048 characters.
    ///   - multiOptionalFactorEnroll: Whether to be asked for further optional factors after each that was enrolled.
    ///   - warnBeforePasswordExpired: Whether to be told of a password that expires soon.
    ///   - token: An activation token, in the place of name and password.
    ///   - deviceToken: Names this device; nil for ``deviceToken``.
    ///   - deviceFingerprint: What the server may use to notice a new device.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
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
    ///
    /// - Parameters:
    ///   - stateToken: The transaction's token.
    ///   - oldPassword: The password so far.
    ///   - newPassword: The new password.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func changePassword(
        stateToken: String, oldPassword: String, newPassword: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let body = ["stateToken": stateToken, "oldPassword": oldPassword, "newPassword": newPassword]
        return run(request(to: .path("/api/v1/authn/credentials/change_password"), body, completion))
    }

    /// Changes a password.
    ///
    /// - Parameters:
    ///   - link: Where the server said to send it.
    ///   - stateToken: The transaction's token.
    ///   - oldPassword: The password so far.
    ///   - newPassword: The new password.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func changePassword(
        link: LinksResponse.Link, stateToken: String, oldPassword: String, newPassword: String,
        completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let body = ["stateToken": stateToken, "oldPassword": oldPassword, "newPassword": newPassword]
        return run(request(to: .link(link), body, completion))
    }

    /// Asks for the state of a transaction, which changes nothing: `POST /api/v1/authn`.
    ///
    /// - Parameters:
    ///   - stateToken: The transaction's token.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func getTransactionState(
        stateToken: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        return run(request(to: .path("/api/v1/authn"), ["stateToken": stateToken], completion))
    }

    /// Begins to unlock an account: `POST /api/v1/authn/recovery/unlock`.
    ///
    /// - Parameters:
    ///   - username: The name to sign in with.
    ///   - factor: How the person is reached.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func unlockAccount(
        username: String, factor: FactorType, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        return run(request(to: .path("/api/v1/authn/recovery/unlock"), ["username": username, "factorType": factor.rawValue], completion))
    }

    /// Begins to recover a forgotten password: `POST /api/v1/authn/recovery/password`.
    ///
    /// - Parameters:
    ///   - username: The name to sign in with.
    ///   - factor: How the person is reached.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func recoverPassword(
        username: String, factor: FactorType, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        return run(
            request(to: .path("/api/v1/authn/recovery/password"), ["username": username, "factorType": factor.rawValue], completion))
    }

    /// Goes on with a recovery.
    ///
    /// - Parameters:
    ///   - answer: The answer to the question.
    ///   - stateToken: The transaction's token.
    ///   - recoveryToken: The recovery token.
    ///   - link: Where the server said to send it.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func recoverWith(
        answer: String?, stateToken: String, recoveryToken: String?, link: LinksResponse.Link,
        completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        // The transaction of a recovery token begins with it.
        let body: [String: Any?] = [
            "stateToken": stateToken.isEmpty ? nil : stateToken, "answer": answer, "recoveryToken": recoveryToken,
        ]
        return run(request(to: .link(link), body, completion))
    }

    /// Sets a new password in a recovery.
    ///
    /// - Parameters:
    ///   - newPassword: The new password.
    ///   - stateToken: The transaction's token.
    ///   - link: Where the server said to send it.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func resetPassword(
        newPassword: String, stateToken: String, link: LinksResponse.Link, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        return run(request(to: .link(link), ["stateToken": stateToken, "newPassword": newPassword], completion))
    }

    /// Ends a transaction: `POST /api/v1/authn/cancel`.
    ///
    /// - Parameters:
    ///   - stateToken: The transaction's token.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func cancelTransaction(
        stateToken: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let request = request(to: .path("/api/v1/authn/cancel"), ["stateToken": stateToken], completion)
        request.takesEmptyAnswer = true
        return run(request)
    }

    /// Ends a transaction.
    ///
    /// - Parameters:
    ///   - link: Where the server said to send it.
    ///   - stateToken: The transaction's token.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func cancelTransaction(
        with link: LinksResponse.Link, stateToken: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let request = request(to: .link(link), ["stateToken": stateToken], completion)
        request.takesEmptyAnswer = true
        return run(request)
    }

    /// Follows a link that needs nothing but the transaction: back, skip, resend.
    ///
    /// - Parameters:
    ///   - link: Where the server said to send it.
    ///   - stateToken: The transaction's token.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func perform(
        link: LinksResponse.Link, stateToken: String, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        return run(request(to: .link(link), ["stateToken": stateToken], completion))
    }

    /// Picks, verifies or polls a factor: `POST /api/v1/authn/factors/{id}/verify`.
    ///
    /// - Parameters:
    ///   - factorId: The factor's id.
    ///   - stateToken: The transaction's token.
    ///   - answer: The answer to the question.
    ///   - passCode: The code.
    ///   - rememberDevice: Whether this device shall be remembered; nil says nothing.
    ///   - autoPush: Whether a push shall be sent without being asked for from now on; nil says nothing.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
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

    /// Picks, verifies or polls a factor.
    ///
    /// - Parameters:
    ///   - link: Where the server said to send it.
    ///   - stateToken: The transaction's token.
    ///   - answer: The answer to the question.
    ///   - passCode: The code.
    ///   - recoveryToken: The recovery token.
    ///   - rememberDevice: Whether this device shall be remembered; nil says nothing.
    ///   - autoPush: Whether a push shall be sent without being asked for from now on; nil says nothing.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
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

    /// Enrols a factor.
    ///
    /// - Parameters:
    ///   - factor: The factor, as the server describes it.
    ///   - link: Where the server said to send it.
    ///   - stateToken: The transaction's token.
    ///   - phoneNumber: The number in E.164; nil for the one that is known.
    ///   - questionId: The key of the question.
    ///   - answer: The answer to the question.
    ///   - credentialId: The account or the serial number.
    ///   - passCode: The code.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
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

    /// Has the link for the activation of a push factor delivered.
    ///
    /// - Parameters:
    ///   - link: Where the server said to send it.
    ///   - stateToken: The transaction's token.
    ///   - phoneNumber: The number in E.164; nil for the one that is known.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func sendActivationLink(
        link: LinksResponse.Link, stateToken: String, phoneNumber: String? = nil, completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let profile = phoneNumber.map { ["phoneNumber": $0] } ?? [:]
        let request = request(to: .link(link), ["stateToken": stateToken, "profile": profile], completion)
        request.takesEmptyAnswer = true
        return run(request)
    }

    /// Sends a body of the app's own to a link.
    ///
    /// - Parameters:
    ///   - link: Where the server said to send it.
    ///   - bodyParams: The members of the body's JSON object.
    ///   - method: The method of HTTP.
    ///   - completion: Is called once, on the main queue.
    /// - Returns: The request, which is on its way.
    @discardableResult
    open func sendApiRequest(
        with link: LinksResponse.Link, bodyParams: [String: Any]?, method: OktaAPIRequest.Method,
        completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        let request = request(to: .link(link), bodyParams ?? [:], completion)
        request.method = method
        return run(request)
    }
    /// Asks for the questions that a person may choose from.
    ///
    /// - Parameters:
    ///   - link: Where the server said they are.
    ///   - onCompletion: Is called with the questions, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    /// - Returns: The request, which is on its way.
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

    /// Sends a request of the app's own, such as that for the image of a code to scan.
    ///
    /// - Parameters:
    ///   - url: Where to.
    ///   - method: The method of HTTP.
    ///   - onCompletion: Is called with the body of a good answer, on the main queue.
    ///   - onError: Is called with what went wrong, on the main queue.
    /// - Returns: The request, which is on its way.
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
    /// The module OktaAuthSdk.
    static let authn: SDKVersion.Name = "okta-auth-swift"
}
