internal import Foundation
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The terminal of this process in full-screen mode. The terminal's settings are restored at the end, also after a crash.
final class RawTerminal: Sendable {
    private static let entering = "\u{1B}[?1049h\u{1B}[?2004h\u{1B}[2J"

    /// The queue for output, because a terminal can be slow.
    private let output = DispatchQueue(label: "terminal")

    /// Creates the terminal of this process; `nil` if the process has no terminal for input and output.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
    }

    var size: TerminalSize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return .standard }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Enters full-screen mode: keys arrive one by one and are not echoed, and Ctrl-C is a key.
    func enter() {
        TerminalRestoration.prepare()
        var raw = TerminalRestoration.settings
        raw.c_iflag &= ~tcflag_t(BRKINT | ICRNL | INPCK | ISTRIP | IXON)
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN | ISIG)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
        write(Self.entering)
    }

    /// Restores the terminal after all pending output.
    func leave() async {
        await withCheckedContinuation { continuation in
            output.async {
                TerminalRestoration.restore()
                continuation.resume()
            }
        }
    }

    /// Writes a text without waiting for the terminal.
    func write(_ text: String) {
        output.async {
            // Errors are ignored, because a closed terminal shows nothing.
            try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        }
    }
}

/// The original settings of the terminal.
private enum TerminalRestoration {
    // `nonisolated(unsafe)` is safe because only `prepare` writes the settings, before it installs the handlers that read them.
    nonisolated(unsafe) static var settings = termios()
    /// The output that leaves the alternate screen, ends bracketed paste, and shows the cursor. It is static, because a signal handler must
    /// not allocate.
    private static let leaving: StaticString = "\u{1B}[0m\u{1B}[?2004l\u{1B}[?1049l\u{1B}[?25h"
    private static let isPrepared = Atomic(false)

    static func prepare() {
        guard !isPrepared.exchange(true, ordering: .acquiringAndReleasing) else { return }
        tcgetattr(STDIN_FILENO, &settings)
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            signal(number) { number in
                TerminalRestoration.restore()
                // The signal then has its default effect.
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    static func restore() {
        _ = writeBytes(STDOUT_FILENO, leaving.utf8Start, leaving.utf8CodeUnitCount)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int { write(descriptor, bytes, count) }
