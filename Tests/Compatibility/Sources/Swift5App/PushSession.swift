import AuthFoundation
import Foundation
import Observation
import OktaDirectAuth

/// Signs a user in with a password and a push, shows the number of a number challenge, and can cancel the wait.
@Observable
final class PushSession {
    enum Phase: Equatable {
        case signedOut
        case busy
        case waiting(number: String?)
        case signedIn(Token)
        case failed(String)
    }

    private(set) var phase: Phase = .signedOut
    @ObservationIgnored private let flow: DirectAuthenticationFlow
    @ObservationIgnored private var signIn: Task<Void, Never>?

    init(client: OAuth2Client) {
        flow = DirectAuthenticationFlow(client: client)
    }

    @MainActor
    func start(_ user: String, _ password: String) {
        signIn?.cancel()
        phase = .busy
        signIn = Task { await run(user, .password(password)) }
    }

    @MainActor
    func startWithPush(_ user: String) {
        signIn?.cancel()
        phase = .waiting(number: nil)
        signIn = Task { await run(user, .oob()) }
    }

    /// Cancels the task and the transaction: a later approval has no effect.
    @MainActor
    func cancel() {
        signIn?.cancel()
        phase = .signedOut
    }

    @MainActor
    private func run(_ user: String, _ factor: DirectAuthenticationFlow.PrimaryFactor) async {
        do {
            var status = try await flow.start(user, with: factor)
            if case .mfaRequired = status {
                phase = .waiting(number: nil)
                status = try await flow.resume(with: .oob(channel: .push))
            }
            if case let .continuation(.transfer(_, code: number)) = status {
                phase = .waiting(number: number)
                status = try await flow.resume(with: .transfer)
            }
            guard case let .success(token) = status else {
                phase = .failed("This app does not support the next step.")
                return
            }
            Credential.default = try Credential.store(token)
            phase = .signedIn(token)
        } catch is CancellationError {
            // The user cancelled.
        } catch {
            phase = .failed(error.localizedDescription)
        }
    }

    /// Starts the sign-in without a task, with a completion handler.
    func startWithCompletion(_ user: String, _ password: String, done: @escaping @Sendable (String) -> Void) {
        flow.start(user, with: .password(password)) { [flow] result in
            guard case .success(.mfaRequired) = result else { return done("no second factor") }
            flow.resume(with: .oob(channel: .push)) { result in
                switch result {
                case .success(.success(let token)): done(token.accessToken)
                case .success: done("more")
                case .failure(.pollingTimeoutExceeded): done("too late")
                case .failure(.server(let error)): done(error.code.rawValue)
                case .failure(let error): done(error.localizedDescription)
                }
            }
        }
    }
}
