internal import ArgumentParser
internal import Foundation
internal import Wording

/// A program that shows screens on the terminal of this process until the user quits, and then restores the terminal.
///
/// ```swift
/// try await TerminalProgram(options).run { face.screen }
/// ```
///
/// The screen is created again whenever its `@Observable` state changes, and only the differences are drawn. A process without a terminal
/// can play a script: ``TerminalOptions/script``.
@MainActor
public struct TerminalProgram {
    /// The maximum wait for actions in progress at the end.
    private static let patience: Duration = .seconds(3)

    private let options: TerminalOptions
    private let wording: Wording

    /// Creates a program with the command-line options.
    public init(_ options: TerminalOptions) {
        self.options = options
        wording = Wording(bundle: .module, language: options.language)
    }

    /// Shows screens until the user quits with Ctrl-C, a signal arrives, or the script ends.
    ///
    /// - Parameters:
    ///   - onQuit: Ends the actions in progress. It is cancelled after three seconds.
    ///   - screen: Creates the screen from the state.
    /// - Throws: `ExitCode` after a signal, and for a script with unmet expectations; `ValidationError` if there is neither a terminal nor
    ///   a script.
    public func run(onQuit: @escaping @MainActor () async -> Void = {}, screen: @escaping @MainActor () -> Screen) async throws {
        if let file = options.script {
            let script = try Script(contentsOf: URL(filePath: file))
            let player = ScriptPlayer(size: options.scriptSize ?? .standard, wording: wording, screen: screen)
            let isMet = await player.play(script)
            await Self.end(onQuit)
            if !isMet { throw ExitCode.failure }
            return
        }
        guard let terminal = RawTerminal() else {
            throw ValidationError("This needs a terminal. Where there is none, --script plays a file of keys and expected texts.")
        }
        terminal.enter()
        let ending = await show(on: terminal, screen)
        await Self.end(onQuit)
        await terminal.leave()
        if let ending { throw ExitCode(128 + ending) }
    }

    private enum Event: Sendable {
        case key(Key)
        case changed, tick, resized
        /// The end of the program, by a signal; `nil` if the user quit or the input ended.
        case end(Int32?)
    }

    /// Shows screens until the program ends.
    ///
    /// - Returns: The signal that ended the program; `nil` if the user quit or the input ended.
    private func show(on terminal: RawTerminal, _ screen: @escaping @MainActor () -> Screen) async -> Int32? {
        let (events, send) = AsyncStream.makeStream(of: Event.self)
        let keyboard = Keyboard { key in send.yield(key.map(Event.key) ?? .end(nil)) }
        let signals = SignalSources { heard in
            switch heard {
            case .end(let number): send.yield(.end(number))
            case .resized: send.yield(.resized)
            }
        }
        defer { withExtendedLifetime((keyboard, signals)) {} }
        let stage = Stage(size: terminal.size, wording: wording, changed: { send.yield(.changed) }, makeScreen: screen)
        let timer = Timer { send.yield(.tick) }
        defer { timer.set(nil) }
        var painter = Painter(showsColours: ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty)
        var tick = 0
        var shownTick: Int? { options.still ? nil : tick }
        stage.update(tick: shownTick)
        terminal.write(painter.paint(stage.frame.canvas, cursor: stage.frame.cursor))
        for await event in events {
            switch event {
            case .end(let signal): return signal
            case .key(let key):
                switch stage.press(key, tick: shownTick) {
                case .quit: return nil
                case .repaint: painter.forget()
                case .act, .moved: break
                }
            case .changed: stage.update(tick: shownTick)
            case .tick:
                tick += 1
                stage.update(tick: shownTick)
            case .resized:
                stage.size = terminal.size
                painter.forget()
                stage.update(tick: shownTick)
            }
            timer.set(stage.frame.moves && !options.still ? .milliseconds(120) : stage.screen.redrawInterval)
            terminal.write(painter.paint(stage.frame.canvas, cursor: stage.frame.cursor))
        }
        return nil
    }

    private static func end(_ onQuit: @escaping @MainActor () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await onQuit() }
            // The wait is cancelled when `onQuit` has finished.
            group.addTask { try? await Task.sleep(for: patience) }
            await group.next()
            group.cancelAll()
        }
    }
}

/// A timer that calls a function repeatedly.
@MainActor
final class Timer {
    private let call: @Sendable () -> Void
    private var interval: Duration?
    private var task: Task<Void, Never>?

    init(_ call: @escaping @Sendable () -> Void) {
        self.call = call
    }

    /// Starts the timer with an interval; `nil` stops the timer.
    func set(_ interval: Duration?) {
        guard interval != self.interval else { return }
        self.interval = interval
        task?.cancel()
        task = interval.map { interval in
            Task { [call] in
                while (try? await Task.sleep(for: interval)) != nil { call() }
            }
        }
    }
}
