import Foundation
import JOSE

/// Tells a person what their sign-in waits for.
struct ApprovalNotice: Sendable {
    private static let wheel = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

    /// Whether to write a JSON object for scripts instead.
    var json = false
    /// Whether to say nothing at all.
    var isQuiet = false
    /// Whether the line shows that time goes by; not if somebody else writes at the same time.
    var isMoving = Terminal.notesAreSeen

    /// Shows what is waited for as long as it is.
    ///
    /// - Parameters:
    ///   - number: The number to pick on the phone; nil if an approval suffices.
    ///   - work: Waits for the phone.
    /// - Returns: What the work gave.
    /// - Throws: What the work threw.
    func show<Result: Sendable>(number: String?, _ work: () async throws -> Result) async throws -> Result {
        if json, !isQuiet {
            var line: JSONValue = ["status": "waiting", "channel": "push"]
            line["number"] = number.map(JSONValue.string)
            Terminal.write(json: line)
            return try await work()
        }
        return try await show(text(number: number), work)
    }

    /// Shows what is waited for as long as it is.
    ///
    /// - Parameters:
    ///   - text: What is waited for, without a full stop.
    ///   - work: The wait.
    /// - Returns: What the work gave.
    /// - Throws: What the work threw.
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

    /// Leaves the line without what moved.
    private func stop(_ movement: Task<Void, Never>, text: TerminalText) async {
        movement.cancel()
        await movement.value
        Terminal.rewriteNote("\(text).\n")
    }
}
