internal import AuthFoundation
internal import DeviceAuthenticator
internal import Foundation
internal import NIOConcurrencyHelpers
internal import OktaDirectAuth

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The sign-in of a phone's app, required to enroll the phone and to change the enrollment. It is a real sign-in at the org server with the
/// user's password. The access token is used for one operation, then revoked and discarded.
struct PhoneSignIn: Sendable {
    /// The scope that permits enrollment and changes of enrollments.
    private static let scope = "okta.myAccount.appAuthenticator.manage"

    let origin: URL
    let clientID: String
    let clock: SandboxClock
    let network: PhoneNetwork
    /// Returns the authenticator app of a login; `nil` for none. The app confirms the sign-in of a phone that is not enrolled yet.
    let app: @Sendable (String) -> AuthenticatorApp?

    /// Signs the user in, passes the token to `use`, and revokes it. `approve` approves the sign-in's own push on this phone with the
    /// number that the sign-in shows; it returns `false` if the push has not arrived.
    func run(
        as user: SandboxUser, needsTwoFactors: Bool, approve: @escaping @Sendable (String?) async throws -> Bool,
        for use: (AuthToken) async throws -> Void
    ) async throws {
        guard let password = user.password else {
            throw PhoneError(.unknownPerson, "\(user.login) has no password, so no phone can be enrolled. Give them one.")
        }
        let waiting = ApprovingClock(clock: clock, approve: approve)
        let client = OAuth2Client(
            OAuth2Client.Configuration(issuerURL: origin, clientId: clientID, scope: ["openid", Self.scope]),
            session: UnheldPolls(network: network),
            clock: waiting)
        let token = try await token(of: user, password: password, needsTwoFactors: needsTwoFactors, by: client, waiting)
        let result = await Result(of: { try await use(.bearer(token.accessToken)) })
        try? await client.revoke(token, type: .all)
        try result.get()
    }

    private func token(
        of user: SandboxUser, password: String, needsTwoFactors: Bool, by client: OAuth2Client, _ waiting: ApprovingClock
    ) async throws -> Token {
        let flow = DirectAuthenticationFlow(client: client)
        do {
            var status = try await flow.start(
                user.login, with: .password(password),
                context: .init(acrValues: needsTwoFactors ? ["urn:okta:loa:2fa:any"] : nil))
            if case .mfaRequired(let context) = status {
                if !needsTwoFactors, context.supportedChallengeTypes?.contains(.otpMFA) == true, let app = app(user.login) {
                    status = try await confirmed(flow, withCodeOf: app)
                } else {
                    status = try await flow.resume(with: .oob(channel: .push))
                }
            }
            if case .continuation(.transfer(_, let code)) = status {
                waiting.number = code
                status = try await flow.resume(with: .transfer)
            }
            guard case .success(let token) = status else {
                throw PhoneError(
                    .signInIncomplete, "The sign-in of \(user.login) to \(clientID) asks for more than a password and a push can give.")
            }
            return token
        } catch {
            // Cancels the sign-in, so that its request disappears from the phone.
            await flow.reset()
            throw error
        }
    }

    /// Confirms with an unused code. Tries the previous code first, so that the user can still use the current code.
    private func confirmed(
        _ flow: DirectAuthenticationFlow, withCodeOf app: AuthenticatorApp
    ) async throws -> DirectAuthenticationFlow.Status {
        for steps in [-1, 0] {
            do {
                return try await flow.resume(with: .otp(code: app.code(after: steps)))
            } catch let error as APIClientError where error.serverError?.code == .invalidGrant {
                continue
            }
        }
        return try await flow.resume(with: .otp(code: app.code(after: 1)))
    }
}

/// A network whose polls return at once (`Prefer: wait=0`), because the phone approves between two polls.
private struct UnheldPolls: URLSessionProtocol {
    let network: PhoneNetwork

    var configuration: URLSessionConfiguration { network.configuration }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        var request = request
        if request.value(forHTTPHeaderField: "Prefer") != nil { request.setValue("wait=0", forHTTPHeaderField: "Prefer") }
        return try await network.data(for: request)
    }
}

/// A clock that, instead of waiting, fetches the pending requests and approves the phone's own sign-in. The sign-in takes no time, even
/// while the sandbox's clock is stopped.
private final class ApprovingClock: OAuth2Clock {
    private struct State {
        var number: String?
        var isDone = false
    }

    private let clock: SandboxClock
    private let approve: @Sendable (String?) async throws -> Bool
    private let state = NIOLockedValueBox(State())

    init(clock: SandboxClock, approve: @escaping @Sendable (String?) async throws -> Bool) {
        self.clock = clock
        self.approve = approve
    }

    /// The number that the sign-in shows; `nil` without a number.
    var number: String? {
        get { state.withLockedValue { $0.number } }
        set { state.withLockedValue { $0.number = newValue } }
    }

    var now: Date { clock.now }

    func sleep(for interval: TimeInterval) async throws {
        let (isDone, number) = state.withLockedValue { ($0.isDone, $0.number) }
        if !isDone, try await approve(number) {
            state.withLockedValue { $0.isDone = true }
            return
        }
        // The push may go to another device, whose user needs time. The overload for durations does not advance a skipping clock.
        try await clock.sleep(for: .seconds(interval))
    }
}

/// A phone's network connection, which tests can disable.
final class PhoneNetwork: URLSessionProtocol {
    private let session: any URLSessionProtocol
    private let offline = NIOLockedValueBox(false)

    init(_ session: any URLSessionProtocol) {
        self.session = session
    }

    var isOffline: Bool {
        get { offline.withLockedValue { $0 } }
        set { offline.withLockedValue { $0 = newValue } }
    }

    var configuration: URLSessionConfiguration { session.configuration }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        guard !isOffline else { throw URLError(.notConnectedToInternet) }
        return try await session.data(for: request)
    }
}
