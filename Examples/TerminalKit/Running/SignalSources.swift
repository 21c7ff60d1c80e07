internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Hears the signals that end a program, or tell it that its terminal has changed.
final class SignalSources {
    enum Heard: Sendable {
        case end(Int32)
        case resized
    }

    private let sources: [any DispatchSourceSignal]

    /// - Parameter receive: Takes each signal; called on a queue.
    init(_ receive: @escaping @Sendable (Heard) -> Void) {
        sources = [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT].map { number in
            // Else it would end the process before it is heard; these two do nothing by themselves, and SIGCONT can't be ignored.
            if number != SIGWINCH, number != SIGCONT { signal(number, SIG_IGN) }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { receive(number == SIGWINCH || number == SIGCONT ? .resized : .end(number)) }
            source.resume()
            return source
        }
    }
}
