internal import Foundation
internal import Wording

/// A player of scripts. It plays a script on screens without a terminal, and prints the screens as text.
@MainActor
final class ScriptPlayer {
    /// The default of the maximum wait of a step, in seconds.
    static let usualLimit = 10
    /// The update interval of a screen that shows the time.
    private static let pause: Duration = .milliseconds(100)

    private enum Event: Sendable {
        case changed, tick
        case timeUp(Int)
    }

    private let stage: Stage
    private let send: AsyncStream<Event>.Continuation
    private let events: AsyncStream<Event>
    private let print: (String) -> Void
    private var limit = Duration.seconds(usualLimit)
    private var waits = 0
    private var hasQuit = false

    /// Creates a player.
    ///
    /// - Parameters:
    ///   - size: The size of the screen.
    ///   - wording: The language of the hints.
    ///   - print: Called with each line; by default writes the line to the standard output.
    ///   - screen: Creates the screen.
    init(
        size: TerminalSize, wording: Wording, print: @escaping (String) -> Void = ScriptPlayer.write,
        screen: @escaping @MainActor () -> Screen
    ) {
        let (events, send) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        self.send = send
        self.print = print
        stage = Stage(size: size, wording: wording, changed: { send.yield(.changed) }, makeScreen: screen)
    }

    /// Writes a line to the standard output.
    nonisolated static func write(_ line: String) {
        // Errors are ignored, because the output may be closed.
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Plays a script to its end, or until a key quits.
    ///
    /// - Returns: Whether all steps succeeded.
    func play(_ script: Script) async -> Bool {
        let timer = Timer { [send] in send.yield(.tick) }
        timer.set(Self.pause)
        defer { timer.set(nil) }
        for (line, step) in script.steps where !hasQuit {
            guard await play(step) else {
                show()
                print("--- line \(line): \(Self.failure(of: step)) within \(limit.components.seconds) s.")
                return false
            }
        }
        return true
    }

    private func play(_ step: Script.Step) async -> Bool {
        switch step {
        case .type(let text):
            for character in text { press(.character(character)) }
            return true
        case .keys(let keys):
            for key in keys { press(key) }
            return true
        case .field(let label): return await wait { $0.focus(field: label) }
        case .press(let label): return await wait { $0.press(labelled: label) }
        case .expect(let text):
            guard await wait(until: { $0.frame.canvas.text.contains(text) }) else { return false }
            show()
            return true
        case .gone(let text): return await wait { !$0.frame.canvas.text.contains(text) }
        case .within(let seconds):
            limit = .seconds(seconds)
            return true
        case .show:
            stage.update(tick: nil)
            show()
            return true
        }
    }

    private static func failure(of step: Script.Step) -> String {
        switch step {
        case .field(let label): "there was no field “\(label)”"
        case .press(let label): "there was nothing to press called “\(label)”"
        case .expect(let text): "“\(text)” did not appear"
        case .gone(let text): "“\(text)” did not go away"
        case .type, .keys, .within, .show: "this could not be done"
        }
    }

    private func press(_ key: Key) {
        guard !hasQuit else { return }
        if case .quit = stage.press(key, tick: nil) { hasQuit = true }
        // Each key applies to the screen after the previous key.
        stage.update(tick: nil)
    }

    private func show() {
        print("--- \(PrintableText.line(stage.screen.title))")
        print(stage.frame.canvas.text)
    }

    /// Waits until the screen satisfies a condition. Returns `false` at the time limit.
    private func wait(until condition: (Stage) -> Bool) async -> Bool {
        waits += 1
        let deadline = Task { [waits, send, limit] in
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            send.yield(.timeUp(waits))
        }
        defer { deadline.cancel() }
        stage.update(tick: nil)
        var events = events.makeAsyncIterator()
        while !condition(stage) {
            if case .timeUp(waits)? = await events.next(isolation: #isolation) { return false }
            stage.update(tick: nil)
        }
        stage.update(tick: nil)
        return true
    }
}
