import Foundation

/// Reads lines that the user types, or lines of a non-interactive standard input. Each line is read on its own thread, because the wait has
/// no time limit. Cancelling the task ends the wait, restores the terminal's echo and discards an incomplete line. Input that was typed
/// before a prompt is also discarded.
enum TerminalInput {
    /// The maximum length of a line, in bytes.
    private static let longestLine = 64 << 10

    static let isInteractive = isatty(STDIN_FILENO) == 1

    /// Shows a prompt in a terminal, and reads a line. Returns the line without its line break; `nil` at the end of the input. Throws
    /// `CancellationError` if the task is cancelled, for example by Ctrl-C. `isSecret` hides the typed characters.
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

    private final class Wait: Sendable {
        /// A pipe whose write end ends the wait; -1 if the system could not create it.
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
                // The echo is turned off before the prompt, so that immediate input is hidden too. TCSAFLUSH discards earlier input.
                var hidden = shown
                hidden.c_lflag &= ~tcflag_t(ECHO)
                tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
            } else {
                // Discards input that was typed before the prompt.
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

        /// Reads a line byte by byte, so that input after the line stays available to the next reader. Returns `nil` at the end of the
        /// input or of the wait.
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

        /// Waits for input. Returns `false` if the wait was ended instead.
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
