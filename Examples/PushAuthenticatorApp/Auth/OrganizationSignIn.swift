internal import AuthFoundation
internal import DeviceAuthenticator
internal import Foundation
internal import OktaDirectAuth
internal import Wording

/// Signs a person in at their organization for one change. The token is in memory only, and revoked after its use.
actor OrganizationSignIn {
    private static let scope = "okta.myAccount.appAuthenticator.manage"

    private let authenticator: DeviceAuthenticatorConfig
    private let session: (any URLSessionProtocol)?
    private let clock: any OAuth2Clock
    /// Ends when the requests of all sign-ins that were given up are taken back.
    private var withdrawal: Task<Void, Never>?

    /// Signs in as that client; see ``AuthenticatorService/init(device:authenticator:session:clock:)``.
    init(authenticator: DeviceAuthenticatorConfig, session: (any URLSessionProtocol)?, clock: any OAuth2Clock) {
        self.authenticator = authenticator
        self.session = session
        self.clock = clock
    }

    /// Waits until no phone is asked any more for a sign-in that was given up.
    func settled() async { await withdrawal?.value }

    /// Signs in, and does with the token what it is for. A phone that has to confirm is told of by `waiting`.
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
        // Also after a cancel, which would end the request with this task. Best effort: the token ends by itself soon.
        await Task { try? await client.revoke(token, type: .all) }.value
        return try result.get()
    }

    private func token(_ form: SignInForm, by flow: DirectAuthenticationFlow, _ waiting: WaitingForApproval) async throws -> Token {
        do {
            var status = try await flow.start(form.username, with: .password(form.password))
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
            // A request that was given up is not to stay on the phone.
            await flow.reset()
            withdrawal = Task { [withdrawal] in
                await withdrawal?.value
                await flow.settled()
            }
            throw error
        }
    }
}

/// Why a sign-in did not come to its end.
enum SignInTrouble: LocalizedError {
    case unknownStep
    case noSuchAccount
    case noSuchRequest

    var errorDescription: String? {
        switch self {
        case .unknownStep: words("The organization asks for a step that this app can't take.")
        case .noSuchAccount: words("This account is not on this device any more.")
        case .noSuchRequest: words("This request does not wait any more.")
        }
    }
}
