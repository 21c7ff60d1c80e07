internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A reader of keys with a thread of its own.
final class Keyboard: Sendable {
    /// The pause in milliseconds after which an Esc counts as a key.
    private static let escapeDelay: Int32 = 40

    /// The writing end of a pipe; -1 without a pipe. Closing it ends the thread.
    private let ending: Int32

    /// Starts reading.
    ///
    /// - Parameter receive: Called on the reading thread with each key, and with `nil` at the end of the input.
    init(_ receive: @escaping @Sendable (Key?) -> Void) {
        var descriptors: [Int32] = [-1, -1]
        // Without a pipe, the thread reads until the process ends.
        let hasPipe = pipe(&descriptors) == 0
        ending = hasPipe ? descriptors[1] : -1
        let end = descriptors[0]
        Thread.detachNewThread {
            Self.read(until: end, receive)
            if hasPipe { close(end) }
        }
    }

    deinit {
        if ending >= 0 { close(ending) }
    }

    private static func read(until end: Int32, _ receive: (Key?) -> Void) {
        var decoder = KeyDecoder()
        var bytes = [UInt8](repeating: 0, count: 256)
        while true {
            var sources = [
                pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0), pollfd(fd: end, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&sources, 2, decoder.isWaiting ? escapeDelay : -1)
            if ready < 0 {
                if errno == EINTR { continue }
                return receive(nil)
            }
            // The writing end of the pipe was closed.
            if sources[1].revents != 0 { return }
            guard ready > 0 else {
                decoder.flush().forEach { receive($0) }
                continue
            }
            let count = readBytes(STDIN_FILENO, &bytes, bytes.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return receive(nil) }
            decoder.keys(of: bytes[..<count]).forEach { receive($0) }
        }
    }
}

private func readBytes(_ descriptor: Int32, _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int { read(descriptor, bytes, count) }
