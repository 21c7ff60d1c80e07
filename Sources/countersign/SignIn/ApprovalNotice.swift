import Foundation
import JOSE

/// Shows what a sign-in waits for.
struct ApprovalNotice: Sendable {
    private static let wheel = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

    /// Whether to write a JSON object instead, for scripts.
    var json = false
    /// Whether to show nothing.
    var isQuiet = false
    /// Whether to animate the line. Must be `false` if other output is written at the same time.
    var isMoving = Terminal.notesAreSeen

    /// Shows a notice while `work` waits for the phone. `number` is the number to pick there; `nil` if an approval is enough.
    func show<Result: Sendable>(number: String?, _ work: () async throws -> Result) async throws -> Result {
        if json, !isQuiet {
            var line: JSONValue = ["status": "waiting", "channel": "push"]
            line["number"] = number.map(JSONValue.string)
            Terminal.write(json: line)
            return try await work()
        }
        return try await show(text(number: number), work)
    }

    /// Shows a notice, without a full stop, while `work` waits.
    func show<Result: Sendable>(_ text: TerminalText, _ work: () async throws -> Result) async throws -> Result {
        guard !isQuiet else { return try await work() }
        guard isMoving else {
            Terminal.note("\(text).")
            return try await work()
        }
        let movement = Task {
            for tick in 0... {
                let time = Terminal.styledNote("\(tick / 4) s, Ctrl-C gives up", .dim)
                Terminal.rewriteNote("\(Self.wheel[tick % Self.wheel.count]) \(text) … (\(time))")
                do { try await TerminalClock.sleep(for: .milliseconds(250)) } catch { return }
            }
        }
        do {
            let result = try await work()
            await stop(movement, text: text)
            return result
        } catch {
            await stop(movement, text: text)
            throw error
        }
    }

    private func text(number: String?) -> TerminalText {
        guard let number else { return "Waiting for your approval on your phone" }
        return "Pick the number \(Terminal.styledNote("\(number)", .bold)) on your phone"
    }

    /// Replaces the animation with the plain text.
    private func stop(_ movement: Task<Void, Never>, text: TerminalText) async {
        movement.cancel()
        await movement.value
        Terminal.rewriteNote("\(text).\n")
    }
}
