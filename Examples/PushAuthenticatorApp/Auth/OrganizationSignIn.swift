internal import AuthFoundation
internal import CountersignUI
internal import DeviceAuthenticator
internal import Foundation
internal import OktaDirectAuth
internal import Wording

/// The sign-in of a user at the organization for one change. The token is kept in memory only, and is revoked after its use.
actor OrganizationSignIn {
    private static let scope = "okta.myAccount.appAuthenticator.manage"

    private let authenticator: DeviceAuthenticatorConfig
    private let session: (any URLSessionProtocol)?
    private let clock: any OAuth2Clock
    /// A task that finishes when the requests of all cancelled sign-ins are withdrawn; `nil` if no sign-in was cancelled.
    private var withdrawal: Task<Void, Never>?

    /// Creates a sign-in with this client; see ``AuthenticatorViewModel``.
    init(authenticator: DeviceAuthenticatorConfig, session: (any URLSessionProtocol)?, clock: any OAuth2Clock) {
        self.authenticator = authenticator
        self.session = session
        self.clock = clock
    }

    /// Waits until the requests of all cancelled sign-ins are withdrawn.
    func settled() async { await withdrawal?.value }

    /// Signs in, and passes the token to `use`, which makes the change. `waiting` is called if the user must approve on a phone.
    func token<Result: Sendable>(
        _ form: SignInForm, waiting: WaitingForApproval, for use: @Sendable (AuthToken) async throws -> Result
    ) async throws -> Result {
        let client = OAuth2Client(
            OAuth2Client.Configuration(
                issuerURL: authenticator.orgURL, clientId: authenticator.oidcClientId, scope: ["openid", Self.scope]),
            session: session, clock: clock)
        let token = try await token(form, by: DirectAuthenticationFlow(client: client), waiting)
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await use(.bearer(token.accessToken)))
        } catch {
            result = .failure(error)
        }
        // The revocation runs in a task of its own, because a cancellation would cancel a request in this task. A failure is ignored,
        // because the token expires soon.
        await Task { try? await client.revoke(token, type: .all) }.value
        return try result.get()
    }

    private func token(_ form: SignInForm, by flow: DirectAuthenticationFlow, _ waiting: WaitingForApproval) async throws -> Token {
        do {
            var status = try await flow.start(form.userName, with: .password(form.password))
            if case .mfaRequired = status {
                if form.code.isEmpty {
                    await waiting(nil)
                    status = try await flow.resume(with: .oob(channel: .push))
                } else {
                    status = try await flow.resume(with: .otp(code: form.code))
                }
            }
            if case .continuation(.transfer(_, let number)) = status {
                await waiting(number)
                status = try await flow.resume(with: .transfer)
            }
            guard case .success(let token) = status else { throw SignInTrouble.unknownStep }
            return token
        } catch {
            // The request of a cancelled sign-in must not stay on the phone.
            await flow.reset()
            withdrawal = Task { [withdrawal] in
                await withdrawal?.value
                await flow.settled()
            }
            throw error
        }
    }
}

/// The reason why a sign-in did not complete.
enum SignInTrouble: LocalizedError {
    case unknownStep
    case noSuchAccount

    var errorDescription: String? {
        switch self {
        case .unknownStep: words("The organization requires a step that this app does not support.")
        case .noSuchAccount: words("This account is no longer on this device.")
        }
    }
}
