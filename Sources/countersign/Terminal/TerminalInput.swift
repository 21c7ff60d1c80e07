import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads what a person types, or the lines of a standard input that is no terminal.
///
/// Each line is waited for on a thread of its own: a person may take all the time in the world. A wait ends when its task is cancelled, and
/// then the terminal shows again what is typed, and what was typed and not sent is forgotten. So is what a person typed before they were asked.
enum TerminalInput {
    /// The most bytes of a line.
    private static let longestLine = 64 << 10

    /// Whether there is a person to ask.
    static let isInteractive = isatty(STDIN_FILENO) == 1

    /// Asks, if there is a person, and reads a line.
    ///
    /// - Parameters:
    ///   - prompt: What to ask.
    ///   - isSecret: Whether what is typed is not to be seen.
    /// - Returns: The line without its end; nil at the end of the input.
    /// - Throws: `CancellationError` if the task was cancelled, which Ctrl-C does.
    static func line(_ prompt: TerminalText, isSecret: Bool = false) async throws -> String? {
        try await Interruption.cancels {
            let wait = Wait()
            let line = await withTaskCancellationHandler {
                await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
                    Thread.detachNewThread { continuation.resume(returning: wait.line(prompt, isSecret: isSecret)) }
                }
            } onCancel: {
                wait.end()
            }
            try Task.checkCancellation()
            return line
        }
    }

    /// One wait for a line.
    private final class Wait: Sendable {
        /// Written to in order to end the wait; -1 if the system had no more.
        private let endings: (read: Int32, write: Int32)

        init() {
            var descriptors: [Int32] = [-1, -1]
            endings = pipe(&descriptors) == 0 ? (descriptors[0], descriptors[1]) : (-1, -1)
        }

        deinit {
            for descriptor in [endings.read, endings.write] where descriptor >= 0 { close(descriptor) }
        }

        func end() {
            var byte: UInt8 = 0
            _ = write(endings.write, &byte, 1)
        }

        func line(_ prompt: TerminalText, isSecret: Bool) -> String? {
            guard TerminalInput.isInteractive else { return read() }
            var shown = termios()
            let hides = isSecret && tcgetattr(STDIN_FILENO, &shown) == 0
            if hides {
                // Before it is asked for: what is typed at once is hidden as well, and not lost. What was typed before is forgotten.
                var hidden = shown
                hidden.c_lflag &= ~tcflag_t(ECHO)
                tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
            } else {
                // What was typed before it was asked for answers something else.
                tcflush(STDIN_FILENO, TCIFLUSH)
            }
            Terminal.prompt(prompt)
            defer {
                if hides {
                    tcsetattr(STDIN_FILENO, TCSADRAIN, &shown)
                    Terminal.prompt("\n")
                }
            }
            return read()
        }

        /// Byte by byte: what comes after the line belongs to who reads next.
        private func read() -> String? {
            var line: [UInt8] = []
            while line.count < TerminalInput.longestLine {
                guard isReady() else {
                    tcflush(STDIN_FILENO, TCIFLUSH)
                    return nil
                }
                var byte: UInt8 = 0
                let count = systemRead(STDIN_FILENO, &byte)
                if count < 0, errno == EINTR { continue }
                guard count == 1 else { return line.isEmpty ? nil : Self.text(line) }
                guard byte != UInt8(ascii: "\n") else { return Self.text(line) }
                line.append(byte)
            }
            return Self.text(line)
        }

        private static func text(_ line: [UInt8]) -> String {
            String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...], as: UTF8.self)
        }

        /// Waits for something to read.
        ///
        /// - Returns: False if the wait was ended instead.
        private func isReady() -> Bool {
            var sources = [
                pollfd(fd: endings.read, events: Int16(POLLIN), revents: 0), pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            ]
            while poll(&sources, 2, -1) < 0, errno == EINTR {}
            return sources[0].revents == 0
        }
    }
}

private func systemRead(_ descriptor: Int32, _ byte: UnsafeMutablePointer<UInt8>) -> Int { read(descriptor, byte, 1) }
