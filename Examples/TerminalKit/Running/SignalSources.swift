internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The sources of the signals that end a program or report a change of its terminal.
final class SignalSources {
    enum Heard: Sendable {
        case end(Int32)
        case resized
    }

    private let sources: [any DispatchSourceSignal]

    /// Starts receiving signals.
    ///
    /// - Parameter receive: Called with each signal, and with ``Heard/resized`` once at the start, on a global queue.
    init(_ receive: @escaping @Sendable (Heard) -> Void) {
        sources = [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT].map { number in
            // Without SIG_IGN, the signal would end the process at once. SIGWINCH and SIGCONT do not end a process.
            if number != SIGWINCH, number != SIGCONT { signal(number, SIG_IGN) }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { receive(number == SIGWINCH || number == SIGCONT ? .resized : .end(number)) }
            // The system registers a source later, in the background, and reports no change of the size before that.
            if number == SIGWINCH { source.setRegistrationHandler { receive(.resized) } }
            source.resume()
            return source
        }
    }
}
