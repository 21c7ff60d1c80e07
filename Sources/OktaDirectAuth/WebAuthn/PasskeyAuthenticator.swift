#if canImport(AuthenticationServices) && (os(iOS) || os(macOS) || os(tvOS) || os(visionOS))
public import AuthenticationServices
internal import Foundation
internal import JOSE

/// Signs the server's challenges with the user's passkeys and security keys, by Apple's sheet or by AutoFill (WebAuthn Level 3 section 7.2).
///
/// ```swift
/// let passkeys = PasskeyAuthenticator(anchor: window)
/// if case .continuation(.webAuthn(let context)) = try await flow.start("jane.doe@example.com", with: .webAuthn) {
///     let status = try await flow.resume(with: .webAuthn(response: passkeys.assertion(for: context.request)))
/// }
/// ```
///
/// The app needs the entitlement `com.apple.developer.associated-domains` with `webcredentials:` and the RP ID, and the domain's AASA file
/// must name the app. Only the main actor uses the type. It shows one request at a time.
@MainActor
public final class PasskeyAuthenticator: NSObject {
    /// Whether the sheet also offers security keys, on iOS and macOS. The default is `true`.
    public var acceptsSecurityKeys = true
    private let anchor: ASPresentationAnchor
    private var controller: ASAuthorizationController?
    private var waiting: CheckedContinuation<WebAuthn.AuthenticatorAssertionResponse, any Error>?

    /// Creates an authenticator.
    /// - Parameter anchor: The window on which the sheet appears.
    public init(anchor: ASPresentationAnchor) { self.anchor = anchor }

    /// Shows the sheet, and returns the signature of the passkey that the user chooses.
    /// - Parameter options: The options from the server (``DirectAuthenticationFlow/ContinuationType/webAuthn(_:)``).
    /// - Throws: ``PasskeyError``; `CancellationError` if the task was cancelled, which closes the sheet.
    public func assertion(for options: WebAuthn.CredentialRequestOptions) async throws -> WebAuthn.AuthenticatorAssertionResponse {
        let challenge = try Challenge(options)
        #if os(iOS) || os(macOS)
        let requests = [challenge.platformRequest] + (acceptsSecurityKeys ? [challenge.securityKeyRequest] : [])
        #else
        let requests = [challenge.platformRequest]
        #endif
        return try await signed(requests) { $0.performRequests() }
    }

    #if os(iOS) || os(visionOS)
    /// Offers the passkeys above the keyboard of a field with the content type `username`, and waits until the user chooses one. Start it
    /// when the sign-in screen appears, and cancel its task before another request.
    /// - Parameter options: The options from the server.
    /// - Throws: ``PasskeyError``; `CancellationError` if the task was cancelled.
    public func autoFillAssertion(
        for options: WebAuthn.CredentialRequestOptions
    ) async throws -> WebAuthn.AuthenticatorAssertionResponse {
        try await signed([Challenge(options).platformRequest]) { $0.performAutoFillAssistedRequests() }
    }
    #endif

    private func signed(
        _ requests: [ASAuthorizationRequest], start: (ASAuthorizationController) -> Void
    ) async throws -> WebAuthn.AuthenticatorAssertionResponse {
        guard controller == nil else { throw PasskeyError.busy }
        try Task.checkCancellation()
        let controller = ASAuthorizationController(authorizationRequests: requests)
        controller.delegate = self
        controller.presentationContextProvider = self
        self.controller = controller
        defer { self.controller = nil }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting = continuation
                start(controller)
            }
        } onCancel: {
            Task { @MainActor in
                // The system reports the cancellation to the delegate too; the first result counts.
                self.finish(.failure(CancellationError()))
                // On an older tvOS, only the user can close the sheet.
                if #available(tvOS 18.0, *) { self.controller?.cancel() }
            }
        }
    }

    private func finish(_ result: Result<WebAuthn.AuthenticatorAssertionResponse, any Error>) {
        waiting?.resume(with: result)
        waiting = nil
    }
}

/// The options of a request in the types of the system.
@MainActor
private struct Challenge {
    private let relyingParty: String
    private let challenge: Data
    private let allowed: [(id: Data, transports: [WebAuthn.AuthenticatorTransport])]
    private let verification: ASAuthorizationPublicKeyCredentialUserVerificationPreference

    init(_ options: WebAuthn.CredentialRequestOptions) throws(PasskeyError) {
        let publicKey = options.publicKey
        guard let relyingParty = publicKey.rpID else { throw .unusable("The server's options have no rpId.") }
        guard let challenge = try? Base64URL.decode(publicKey.challenge) else {
            throw .unusable("The challenge of the server's options is not base64url.")
        }
        self.relyingParty = relyingParty
        self.challenge = Data(challenge)
        allowed = (publicKey.allowCredentials ?? []).compactMap { descriptor in
            (try? Base64URL.decode(descriptor.id)).map { (Data($0), descriptor.transports ?? []) }
        }
        verification =
            switch publicKey.userVerification {
            case .required: .required
            case .discouraged: .discouraged
            default: .preferred
            }
    }

    var platformRequest: ASAuthorizationRequest {
        let provider = ASAuthorizationPlatformPublicKeyCredentialProvider(relyingPartyIdentifier: relyingParty)
        let request = provider.createCredentialAssertionRequest(challenge: challenge)
        request.allowedCredentials = allowed.map { ASAuthorizationPlatformPublicKeyCredentialDescriptor(credentialID: $0.id) }
        request.userVerificationPreference = verification
        return request
    }

    #if os(iOS) || os(macOS)
    var securityKeyRequest: ASAuthorizationRequest {
        let provider = ASAuthorizationSecurityKeyPublicKeyCredentialProvider(relyingPartyIdentifier: relyingParty)
        let request = provider.createCredentialAssertionRequest(challenge: challenge)
        request.allowedCredentials = allowed.map { credential in
            let known = credential.transports.compactMap(Self.transport)
            return ASAuthorizationSecurityKeyPublicKeyCredentialDescriptor(
                credentialID: credential.id, transports: known.isEmpty ? Transport.allSupported : known)
        }
        request.userVerificationPreference = verification
        return request
    }

    private typealias Transport = ASAuthorizationSecurityKeyPublicKeyCredentialDescriptor.Transport

    private static func transport(_ transport: WebAuthn.AuthenticatorTransport) -> Transport? {
        switch transport {
        case .usb: .usb
        case .nfc: .nfc
        case .ble: .bluetooth
        case .platform, .smartCard, .hybrid: nil
        }
    }
    #endif
}

extension PasskeyAuthenticator: ASAuthorizationControllerPresentationContextProviding {
    /// Returns the window of the initializer.
    public func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor { anchor }
}

extension PasskeyAuthenticator: ASAuthorizationControllerDelegate {
    /// Ends the request with the signature. The system calls it on the main thread.
    public nonisolated func authorizationController(
        controller: ASAuthorizationController, didCompleteWithAuthorization authorization: ASAuthorization
    ) {
        let result = Result { () throws(PasskeyError) in try WebAuthn.AuthenticatorAssertionResponse(authorization) }
        MainActor.assumeIsolated { finish(result.mapError { $0 as any Error }) }
    }

    /// Ends the request with an error. The system calls it on the main thread.
    public nonisolated func authorizationController(controller: ASAuthorizationController, didCompleteWithError error: any Error) {
        let code = (error as? ASAuthorizationError)?.code.rawValue ?? 0
        let text = error.localizedDescription
        MainActor.assumeIsolated { finish(.failure(PasskeyError(authorizationCode: code, text))) }
    }
}

extension WebAuthn.AuthenticatorAssertionResponse {
    fileprivate init(_ authorization: ASAuthorization) throws(PasskeyError) {
        guard let assertion = authorization.credential as? any ASAuthorizationPublicKeyCredentialAssertion else {
            throw .failed("The system returned another credential than an assertion.")
        }
        func text(_ data: Data?) -> String { Base64URL.encode(Array(data ?? Data())) }
        self.init(
            clientDataJSON: text(assertion.rawClientDataJSON), authenticatorData: text(assertion.rawAuthenticatorData),
            signature: text(assertion.signature), userHandle: (assertion.userID?.isEmpty ?? true) ? nil : text(assertion.userID))
    }
}
#endif
