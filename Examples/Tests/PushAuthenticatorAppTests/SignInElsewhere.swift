import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import OktaDirectAuth

/// A sign-in on another device that sends a push to the user's phones.
@MainActor
final class SignInElsewhere {
    /// The result of the sign-in.
    enum Outcome: Equatable {
        case tokens
        case tooLate
        /// The OAuth error code of the result.
        case refused(String)
    }

    /// The error for a response that contains neither tokens nor a request.
    struct UnknownStep: Error {}

    private let sandbox: Sandbox
    private let task: Task<Outcome, any Error>
    private var isOver = false

    /// Starts a sign-in with the password, which sends a push.
    ///
    /// - Parameter numbers: Receives the number of a number challenge; `nil` if the test does not need it.
    /// - Throws: An error if the password is refused.
    init(_ sandbox: Sandbox, of user: SandboxUser = .jane, numbers: AsyncStream<String>.Continuation? = nil) async throws {
        let flow = DirectAuthenticationFlow(
            client: OAuth2Client(sandbox.configuration(.directAuth), session: sandbox.transport, clock: sandbox.clock))
        _ = try await flow.start(user.login, with: .password(user.password ?? ""))
        self.sandbox = sandbox
        task = Task { try await Self.wait(flow, numbers) }
        Task {
            _ = await task.result
            isOver = true
        }
    }

    private static func wait(_ flow: DirectAuthenticationFlow, _ numbers: AsyncStream<String>.Continuation?) async throws -> Outcome {
        do {
            var status = try await flow.resume(with: .oob(channel: .push))
            if case .continuation(.transfer(_, let number)) = status {
                numbers?.yield(number)
                status = try await flow.resume(with: .transfer)
            }
            guard case .success = status else { throw UnknownStep() }
            return .tokens
        } catch DirectAuthenticationFlowError.pollingTimeoutExceeded {
            return .tooLate
        } catch let error as APIClientError {
            guard let code = error.serverError?.code else { throw error }
            return .refused(code.rawValue)
        }
    }

    /// Advances the clock, so that the client polls again, and returns the result.
    func outcome() async throws -> Outcome {
        _ = await sandbox.moveOn(by: 6) { isOver }
        return try await task.value
    }

    /// Cancels the sign-in.
    func cancel() { task.cancel() }
}
