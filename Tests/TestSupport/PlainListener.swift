internal import AuthFoundation
internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An HTTP server on this machine that records each request, one per connection, and sends the responses that a test sets.
///
/// It has its own thread for blocking calls. It closes by ``close()``, or when its last reference is released.
public final class PlainListener: Sendable {
    /// A request as received.
    public struct Request: Sendable {
        /// The request line and the header fields, with their line ends.
        public let head: String
        /// The body.
        public let body: String
        /// The head, an empty line and the body.
        public var text: String { head + "\r\n\r\n" + body }
    }

    /// An error: the system has no free port or socket.
    public struct Failure: Error, Sendable {}

    /// The port on which the server listens.
    public let port: Int
    private let descriptor: Int32
    private let requests: AsyncStream<Request>
    private let kept = Locked<[Request]>([])
    /// Whether the descriptor is open. After the close, the system can reuse its number for another file.
    private let isOpen = Locked(true)

    /// All requests so far, in the order of their arrival, answered or not.
    public var received: [Request] { kept.withLock { $0 } }

    /// Starts to listen.
    ///
    /// - Parameter answers: The responses to the requests, in order. The last response repeats. An empty text closes the connection without
    ///   a response.
    /// - Throws: ``Failure``.
    public init(answering answers: [String] = [PlainListener.answer(204)]) throws {
        let socket = try ListeningSocket(backlog: 16)
        let descriptor = socket.descriptor
        self.descriptor = descriptor
        port = socket.port
        let (requests, entrance) = AsyncStream.makeStream(of: Request.self)
        self.requests = requests
        Thread.detachNewThread { [kept, isOpen] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { break }
                if let request = Self.read(connection) {
                    let count = kept.withLock { kept in
                        kept.append(request)
                        return kept.count
                    }
                    let answer = Array(answers[min(count, answers.count) - 1].utf8)
                    _ = send(connection, answer, answer.count, Self.noSignal)
                    entrance.yield(request)
                }
                ListeningSocket.close(connection)
            }
            isOpen.withLock {
                $0 = false
                ListeningSocket.close(descriptor)
            }
            entrance.finish()
        }
    }

    deinit { close() }

    /// Closes the listener. Later calls have no effect.
    public func close() {
        // The accepting thread closes the descriptor, so that the system does not reuse its number while that thread still waits on it.
        isOpen.withLock { if $0 { shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    /// Returns the bytes of a response after which the connection closes.
    ///
    /// - Parameters:
    ///   - body: A JSON body, or an empty string.
    ///   - fields: Further header fields, each with its line end.
    public static func answer(_ status: Int, _ body: String = "", fields: String = "") -> String {
        let content = body.isEmpty ? "" : "Content-Type: application/json\r\n"
        // A 204 response has no Content-Length (RFC 9110 §8.6).
        let length = status == 204 ? "" : "Content-Length: \(body.utf8.count)\r\n"
        return "HTTP/1.1 \(status) Status\r\n\(content)\(length)Connection: close\r\n\(fields)\r\n\(body)"
    }

    /// Waits for the next requests and returns them in the order of their arrival.
    ///
    /// - Returns: This number of requests; fewer if the listener was closed or the task was cancelled.
    public func next(_ count: Int) async -> [Request] {
        var taken: [Request] = []
        guard count > 0 else { return taken }
        for await request in requests {
            taken.append(request)
            if taken.count == count { break }
        }
        return taken
    }

    #if canImport(Glibc)
    static let noSignal = Int32(MSG_NOSIGNAL)
    #else
    static let noSignal: Int32 = 0
    #endif

    static func read(_ connection: Int32) -> Request? {
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            if let request = parse(bytes) { return request }
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            bytes += chunk[..<count]
        }
    }

    /// Returns the request, or nil if the bytes are incomplete.
    private static func parse(_ bytes: [UInt8]) -> Request? {
        guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let length = head.components(separatedBy: "\r\n").lazy.map { $0.lowercased() }.first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) }
        guard bytes.count >= end.upperBound + (length ?? 0) else { return nil }
        return Request(head: head, body: String(decoding: bytes[end.upperBound...], as: UTF8.self))
    }
}
