import Foundation
import JOSE

/// Reports each completed step and its duration.
struct StepReporter {
    let json: Bool

    /// Runs a step and reports its result. It throws a ``CommandFailure`` that names the step, or `CancellationError`.
    /// - Parameters:
    ///   - name: The step in the past tense.
    ///   - detail: Returns the details to show; never a secret.
    func step<T>(_ name: String, _ body: () async throws -> T, telling detail: (T) -> String = { _ in "" }) async throws -> T {
        let start = ContinuousClock.now
        do {
            let result = try await body()
            tell(name, passed: true, after: start.duration(to: .now), detail: detail(result))
            return result
        } catch is CancellationError {
            // The user cancelled the demo; the step did not fail.
            throw CancellationError()
        } catch {
            tell(name, passed: false, after: start.duration(to: .now), detail: Outcome.explain(error))
            throw CommandFailure("The step “\(name)” failed: \(Outcome.explain(error))")
        }
    }

    private func tell(_ name: String, passed: Bool, after duration: Duration, detail: String) {
        let milliseconds = Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) * 1e-15
        if json {
            let line: JSONValue = [
                "step": .string(name), "passed": .bool(passed), "milliseconds": .double((milliseconds * 10).rounded() / 10),
                "detail": .string(detail),
            ]
            return Terminal.write(json: line)
        }
        let mark = passed ? Terminal.styled("✓", .green) : Terminal.styled("✗", .red)
        let time = Terminal.styled("\(milliseconds.formatted(.number.precision(.fractionLength(1)))) ms", .dim)
        let rest: TerminalText = detail.isEmpty ? "" : "\n    \(Terminal.styled("\(detail)", .dim))"
        Terminal.write("\(mark) \(name) (\(time))\(rest)")
    }
}
