internal import AuthFoundation
internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Somebody who is told things by HTTP: takes every request on a port of this machine, one for each connection, keeps it, and answers as a
/// test says.
///
/// Its calls block a thread of its own. It closes when nobody holds it any more, or by ``close()``.
public final class PlainListener: Sendable {
    /// A request, as it came.
    public struct Request: Sendable {
        /// Method, path and version, and the fields, with their line ends.
        public let head: String
        /// The body.
        public let body: String
        /// All of it.
        public var text: String { head + "\r\n\r\n" + body }
    }

    /// The system has no port or no socket.
    public struct Failure: Error, Sendable {}

    /// Where it listens.
    public let port: Int
    private let descriptor: Int32
    private let requests: AsyncStream<Request>
    private let kept = Locked<[Request]>([])
    /// Whether the descriptor is this listener's: once it is closed, the system gives its number to somebody else.
    private let isOpen = Locked(true)

    /// What came until now, in the order in which it came; what was answered is among it.
    public var received: [Request] { kept.withLock { $0 } }

    /// Begins to listen.
    ///
    /// - Parameter answers: What it answers: the first to the first request and so on, and the last one from then on. An empty one ends the
    ///   connection without any.
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

    /// Ends it; later calls change nothing.
    public func close() {
        // The thread that waits there closes it: nobody else may have the number meanwhile.
        isOpen.withLock { if $0 { shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    /// An answer to a request.
    ///
    /// - Parameters:
    ///   - status: Its status.
    ///   - body: Its body, JSON if there is any.
    ///   - fields: Further fields, each with its line end.
    /// - Returns: What goes over the wire; the connection ends with it.
    public static func answer(_ status: Int, _ body: String = "", fields: String = "") -> String {
        let content = body.isEmpty ? "" : "Content-Type: application/json\r\n"
        // RFC 9112 section 6.1: an answer without content says nothing of its length.
        let length = status == 204 ? "" : "Content-Length: \(body.utf8.count)\r\n"
        return "HTTP/1.1 \(status) Status\r\n\(content)\(length)Connection: close\r\n\(fields)\r\n\(body)"
    }

    /// The next requests, in the order in which they came.
    ///
    /// - Parameter count: How many to wait for.
    /// - Returns: So many; fewer if it was closed, or the task was cancelled.
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
    private static let noSignal = Int32(MSG_NOSIGNAL)
    #else
    private static let noSignal: Int32 = 0
    #endif

    private static func read(_ connection: Int32) -> Request? {
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

    /// A whole request; nil as long as something is missing.
    private static func parse(_ bytes: [UInt8]) -> Request? {
        guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let length = head.components(separatedBy: "\r\n").lazy.map { $0.lowercased() }.first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) }
        guard bytes.count >= end.upperBound + (length ?? 0) else { return nil }
        return Request(head: head, body: String(decoding: bytes[end.upperBound...], as: UTF8.self))
    }
}
