internal import Foundation
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The terminal of this process, taken for a full-screen program and given back as it was: at the end, and also by a crash.
final class RawTerminal: Sendable {
    private static let entering = "\u{1B}[?1049h\u{1B}[?2004h\u{1B}[2J"

    /// On a thread of its own: a terminal may take its time.
    private let output = DispatchQueue(label: "terminal")

    /// Nil if this process has no terminal to read from and write to.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
    }

    var size: TerminalSize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return .standard }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Takes the terminal: keys come one by one and are not shown, Ctrl-C is a key.
    func enter() {
        TerminalRestoration.prepare()
        var raw = TerminalRestoration.settings
        raw.c_iflag &= ~tcflag_t(BRKINT | ICRNL | INPCK | ISTRIP | IXON)
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN | ISIG)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
        write(Self.entering)
    }

    /// Gives the terminal back, once everything is written.
    func leave() async {
        await withCheckedContinuation { continuation in
            output.async {
                TerminalRestoration.restore()
                continuation.resume()
            }
        }
    }

    /// Writes; returns at once.
    func write(_ text: String) {
        output.async {
            // Who closed it sees nothing.
            try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        }
    }
}

/// The original settings of the terminal.
private enum TerminalRestoration {
    // Safe: written by `prepare` only, before the first of the handlers below that read it is installed; a process takes its terminal once.
    nonisolated(unsafe) static var settings = termios()
    /// Leaves the other screen, ends the pasting mode, shows the cursor. Static, because a handler of signals may not allocate.
    private static let leaving: StaticString = "\u{1B}[0m\u{1B}[?2004l\u{1B}[?1049l\u{1B}[?25h"
    private static let isPrepared = Atomic(false)

    static func prepare() {
        guard !isPrepared.exchange(true, ordering: .acquiringAndReleasing) else { return }
        tcgetattr(STDIN_FILENO, &settings)
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            signal(number) { number in
                TerminalRestoration.restore()
                // What the crash would have done.
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
