internal import AuthFoundation
internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A server on this machine that attacks its clients: it sends arbitrary bytes while the client reads.
///
/// Each connection has its own thread and sends a limited number of bytes.
public final class HostileServer: Sendable {
    /// A response of the server.
    public struct Answer: Sendable {
        let head: [UInt8]
        let piece: [UInt8]
        let isDripping: Bool
        var isSilent = false
        /// The maximum number of bytes per connection.
        var limit = 512 << 20

        /// Sends bytes and closes the connection.
        public static func bytes(_ text: String) -> Answer { Answer(head: Array(text.utf8), piece: [], isDripping: false) }

        /// Sends nothing, until the client closes the connection.
        public static let silence = Answer(head: [], piece: [], isDripping: false, isSilent: true)

        /// Sends a head and then repeats the same piece, at most 512 MiB.
        public static func endless(_ head: String, _ piece: [UInt8] = [UInt8](repeating: 0x20, count: 65_536)) -> Answer {
            Answer(head: Array(head.utf8), piece: piece, isDripping: false)
        }

        /// Sends a head and then one byte at a time.
        public static func drip(_ head: String) -> Answer { Answer(head: Array(head.utf8), piece: [0x20], isDripping: true) }

        /// Sends a head with 4 MiB of compressed zeros, which expand to 660 MiB.
        public static func gzip(_ head: String) -> Answer {
            // The data is the header of a member (RFC 1952) and a final block with fixed codes (RFC 1951). The block begins with the
            // literal 0. Copies of 258 bytes at distance 1 follow, with 13 bits each, so that the pattern repeats after 13 bytes.
            var bits: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0]
            while bits.count < 11 + 13 * 8 * 64 { bits += [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0] }
            func bytes(_ bits: ArraySlice<UInt8>) -> [UInt8] {
                stride(from: bits.startIndex, to: bits.endIndex, by: 8).map { start in
                    (0..<8).reduce(UInt8(0)) { $0 | bits[start + $1] << UInt8($1) }
                }
            }
            // The data after the first 16 bits repeats, so that it consists of whole patterns.
            let beginning = bytes(bits[0..<16])
            let pattern = bytes(bits[16..<16 + 13 * 8])
            let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
            return Answer(
                head: Array(head.utf8) + header + beginning, piece: Array(repeatElement(pattern, count: 5_000).joined()), isDripping: false,
                limit: 4 << 20)
        }
    }

    /// The port on which the server listens.
    public let port: Int
    private let descriptor: Int32
    private let isOpen = Locked(true)
    private let state: Locked<(heads: [String], sent: Int, open: Int)>

    /// The requests that arrived, without their bodies.
    public var heads: [String] { state.withLock { $0.heads } }
    /// The number of bytes that the clients' systems received, on all connections.
    public var sent: Int { state.withLock { $0.sent } }
    /// The number of connections that the server still answers.
    public var openConnections: Int { state.withLock { $0.open } }

    /// Waits until the server answers no connection.
    ///
    /// - Throws: `CancellationError`, for example after the time limit of the test.
    public func closed() async throws {
        while openConnections > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Starts a server.
    ///
    /// - Parameter answer: Returns the response to a request with this head.
    public init(_ answer: @escaping @Sendable (_ head: String) -> Answer) throws {
        let socket = try ListeningSocket(backlog: 64)
        let descriptor = socket.descriptor
        self.descriptor = descriptor
        port = socket.port
        let state = Locked((heads: [String](), sent: 0, open: 0))
        self.state = state
        Thread.detachNewThread { [isOpen] in
            while case let connection = accept(descriptor, nil, nil), connection >= 0 {
                state.withLock { $0.open += 1 }
                Thread.detachNewThread {
                    Self.serve(connection, state, answer)
                    state.withLock { $0.open -= 1 }
                }
            }
            // Only this thread closes the descriptor. Otherwise the system could give its number to another server, whose connections this
            // thread would then accept.
            isOpen.withLock {
                $0 = false
                ListeningSocket.close(descriptor)
            }
        }
    }

    deinit { isOpen.withLock { if $0 { shutdown(descriptor, Int32(SHUT_RDWR)) } } }

    private static func serve(
        _ connection: Int32, _ state: Locked<(heads: [String], sent: Int, open: Int)>, _ answer: @Sendable (String) -> Answer
    ) {
        defer { ListeningSocket.close(connection) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        let head = String(decoding: buffer[..<count], as: UTF8.self).components(separatedBy: "\r\n\r\n")[0]
        state.withLock { $0.heads.append(head) }
        let answer = answer(head)
        guard send(answer.head, on: connection, state) else { return }
        guard !answer.piece.isEmpty else {
            // The rest of the request is read before the connection closes; otherwise the system resets it, and the answer may be lost.
            if !answer.isSilent { shutdown(connection, Int32(SHUT_WR)) }
            var limit = timeval(tv_sec: answer.isSilent ? 120 : 5, tv_usec: 0)
            setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            while recv(connection, &buffer, buffer.count, 0) > 0 {}
            return
        }
        var sent = 0
        while sent < answer.limit, send(answer.piece, on: connection, state) {
            sent += answer.piece.count
            // The server notices the peer's close while it sends nothing.
            if answer.isDripping { usleep(20_000) }
        }
    }

    /// Sends bytes and returns whether the peer still reads.
    private static func send(
        _ bytes: [UInt8], on connection: Int32, _ state: Locked<(heads: [String], sent: Int, open: Int)>
    ) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { sendSystem(connection, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            sent += count
            state.withLock { $0.sent += count }
        }
        return true
    }

    #if canImport(Glibc)
    private static func sendSystem(_ connection: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        Glibc.send(connection, bytes, count, Int32(MSG_NOSIGNAL))
    }
    #else
    private static func sendSystem(_ connection: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        Darwin.send(connection, bytes, count, 0)
    }
    #endif
}
