// expects: risks causing data races
import AuthenticationServices

/// Sends a session of the main actor to another isolation.
@MainActor
final class NotSendable {
    final class State { var count = 0 }
    let state = State()

    func share() {
        let state = self.state
        Task.detached { state.count += 1 }
    }
}
