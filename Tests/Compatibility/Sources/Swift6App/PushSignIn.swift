import AuthFoundation
import Foundation
import OktaDirectAuth

/// A view model of an app in Swift 6 mode: on the main actor, with a task that it can cancel.
@MainActor
final class PushSignIn {
    enum Outcome: Sendable, Equatable {
        case token(Token)
        case denied, tooLate, superseded, cancelled
        case failed(String)
    }

    let flow: DirectAuthenticationFlow
    var number: String?
    private var task: Task<Outcome, Never>?

    init(flow: DirectAuthenticationFlow) { self.flow = flow }

    func signIn(_ user: String, password: String) async -> Outcome {
        let task = Task { await outcome(user, password) }
        self.task = task
        return await task.value
    }

    func cancel() { task?.cancel() }

    func startOver() async { await flow.reset() }

    private func outcome(_ user: String, _ password: String) async -> Outcome {
        do {
            var status = try await flow.start(user, with: .password(password))
            if case .mfaRequired(let context) = status, context.supportedChallengeTypes?.contains(.oobMFA) ?? true {
                status = try await flow.resume(with: .oob(channel: .push))
            }
            if case .continuation(.transfer(_, code: let code)) = status {
                number = code
                status = try await flow.resume(with: .transfer)
            }
            if case .success(let token) = status { return .token(token) }
            return .failed("\(status)")
        } catch is CancellationError {
            return .cancelled
        } catch DirectAuthenticationFlowError.pollingTimeoutExceeded {
            return .tooLate
        } catch DirectAuthenticationFlowError.inconsistentContextState {
            return .superseded
        } catch let error as APIClientError where error.serverError?.code == .accessDenied {
            return .denied
        } catch {
            return .failed(error.localizedDescription)
        }
    }
}
