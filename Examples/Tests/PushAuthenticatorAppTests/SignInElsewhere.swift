import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import OktaDirectAuth

/// A sign-in on another device, which asks the person's phones.
@MainActor
final class SignInElsewhere {
    /// How it ended.
    enum Outcome: Equatable {
        case tokens
        case tooLate
        /// In the server's word for it.
        case refused(String)
    }

    /// The server gave neither tokens nor a request.
    struct UnknownStep: Error {}

    private let sandbox: Sandbox
    private let task: Task<Outcome, any Error>
    private var isOver = false

    /// Gives the password; the phones are asked from then on.
    ///
    /// - Parameters:
    ///   - sandbox: Where.
    ///   - user: Whose it is.
    ///   - numbers: Where the number goes that it shows.
    /// - Throws: If the password is refused.
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

    /// Lets it ask again, which it does every five seconds, and waits for what it comes to.
    func outcome() async throws -> Outcome {
        _ = await sandbox.moveOn(by: 6) { isOver }
        return try await task.value
    }

    /// Gives it up.
    func cancel() { task.cancel() }
}
