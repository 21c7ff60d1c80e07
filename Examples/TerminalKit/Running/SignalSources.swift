internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Receives the signals that end a program or report a change of its terminal.
final class SignalSources {
    enum Heard: Sendable {
        case end(Int32)
        case resized
    }

    private let sources: [any DispatchSourceSignal]

    /// - Parameter receive: Receives each signal, on a queue.
    init(_ receive: @escaping @Sendable (Heard) -> Void) {
        sources = [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT].map { number in
            // Otherwise the signal would end the process first. The other two have no default effect, and SIGCONT cannot be ignored.
            if number != SIGWINCH, number != SIGCONT { signal(number, SIG_IGN) }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { receive(number == SIGWINCH || number == SIGCONT ? .resized : .end(number)) }
            source.resume()
            return source
        }
    }
}
