internal import AuthFoundation
internal import DeviceAuthenticator
internal import Foundation
internal import NIOConcurrencyHelpers
internal import OktaDirectAuth

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The sign-in of a phone's app, by which it may enroll the phone and change what the enrollment can do.
///
/// A real one, at the org server, as the person with their password. Its token is used for one thing, then revoked and forgotten.
struct PhoneSignIn: Sendable {
    /// The scope that permits to enroll and to change enrollments.
    private static let scope = "okta.myAccount.appAuthenticator.manage"

    let origin: URL
    let clientID: String
    let clock: SandboxClock
    let network: PhoneNetwork
    /// The authenticator app of a person, which confirms the sign-in of a phone that is not enrolled yet.
    let app: @Sendable (String) -> AuthenticatorApp?

    /// Signs the person in, does something with the token, and revokes it.
    ///
    /// - Parameters:
    ///   - user: The person.
    ///   - needsTwoFactors: Whether one factor is not enough, because there is another.
    ///   - approve: Answers the sign-in's own push on this phone, with the number that the sign-in shows; tells whether it did.
    ///   - use: What the token is for.
    /// - Throws: ``PhoneError``, or what the sign-in or the use throws.
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
        do {
            try await use(.bearer(token.accessToken))
        } catch {
            await discard(token, of: client)
            throw error
        }
        await discard(token, of: client)
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
            // Its request is not to stay on the phone.
            await flow.reset()
            throw error
        }
    }

    /// Confirms with a code: with the one that the app showed before, if that was not used, so that the present one is left for the person.
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

    /// Best effort: it ends by itself soon.
    private func discard(_ token: Token, of client: OAuth2Client) async {
        try? await client.revoke(token, type: .all)
    }
}

/// The network of a client whose polls are answered at once (`Prefer: wait=0`): the phone approves between two of them.
private struct UnheldPolls: URLSessionProtocol {
    let network: PhoneNetwork

    var configuration: URLSessionConfiguration { network.configuration }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        var request = request
        if request.value(forHTTPHeaderField: "Prefer") != nil { request.setValue("wait=0", forHTTPHeaderField: "Prefer") }
        return try await network.data(for: request)
    }
}

/// A clock on which to wait is to approve: the phone asks for what waits, finds its own sign-in there, and answers it.
///
/// So the sign-in takes no time, even while the sandbox's clock stands.
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

    /// What the sign-in shows.
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
        // Another device may be asked instead: then its owner needs the time. Not as a client of a skipping clock, which would run away.
        try await clock.sleep(for: .seconds(interval))
    }
}
