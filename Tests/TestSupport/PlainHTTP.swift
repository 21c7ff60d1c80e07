public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An HTTP client with one connection per request, for tests that call a server over the network.
///
/// It does not use `URLSession`, which on Linux sometimes loses a request when many connections open and close. Each call blocks its own
/// thread.
public enum PlainHTTP: Sendable {
    /// An error that describes why there is no response.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// Sends an `http` request and returns the response's body and head after the server has closed the connection.
    ///
    /// - Throws: ``Failure``.
    public static func data(for request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        guard let url = request.url, url.scheme == "http", let host = url.host(), let text = text(of: request, url: url, host: host) else {
            throw Failure(description: "not a plain request: \(request)")
        }
        let port = url.port ?? 80
        let answer: [UInt8] = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try exchange(text, host: host.trimmingCharacters(in: ["[", "]"]), port: port) })
            }
        }
        return try parse(answer, url: url, hasBody: request.httpMethod != "HEAD")
    }

    #if canImport(Glibc)
    private static let noSignal = Int32(MSG_NOSIGNAL)
    #else
    private static let noSignal: Int32 = 0
    #endif

    private static func text(of request: URLRequest, url: URL, host: String) -> [UInt8]? {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        let target = path + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        var fields = ["host": "\(host)\(url.port.map { ":\($0)" } ?? "")"]
        let body = Array(request.httpBody ?? Data())
        if !body.isEmpty { fields["content-length"] = String(body.count) }
        for (name, value) in request.allHTTPHeaderFields ?? [:] { fields[name.lowercased()] = value }
        fields["connection"] = "close"
        let head = fields.map { "\($0): \($1)\r\n" }.joined()
        return Array("\(request.httpMethod ?? "GET") \(target) HTTP/1.1\r\n\(head)\r\n".utf8) + body
    }

    private static func exchange(_ text: [UInt8], host: String, port: Int) throws -> [UInt8] {
        let descriptor = try connection(host: host, port: port)
        defer { close(descriptor) }
        var sent = 0
        while sent < text.count {
            let count = text[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, noSignal) }
            guard count > 0 else { break }
            sent += count
        }
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else {
                if count < 0 && answer.isEmpty { throw Failure(description: "no answer: \(String(cString: strerror(errno)))") }
                return answer
            }
            answer += chunk[..<count]
        }
    }

    private static func connection(host: String, port: Int) throws -> Int32 {
        var hints = addrinfo()
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0 else { throw Failure(description: "no address of \(host)") }
        defer { freeaddrinfo(found) }
        for address in sequence(first: found, next: { $0?.pointee.ai_next }) {
            guard let address = address?.pointee else { break }
            let descriptor = socket(address.ai_family, address.ai_socktype, 0)
            guard descriptor >= 0 else { continue }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            var limit = timeval(tv_sec: 60, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
            close(descriptor)
        }
        throw Failure(description: "connection refused: \(host):\(port)")
    }

    private static func parse(_ answer: [UInt8], url: URL, hasBody: Bool) throws -> (Data, HTTPURLResponse) {
        guard let end = Data(answer).range(of: Data("\r\n\r\n".utf8)) else {
            throw Failure(description: "no answer: the connection was closed")
        }
        let lines = String(decoding: answer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let (name, value) = (line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
            // A response repeats only the field Set-Cookie, whose values contain no line break.
            fields[name] = fields[name].map { $0 + "\n" + value } ?? value
        }
        let status = lines[0].split(separator: " ")
        guard status.count >= 2, let code = Int(status[1]),
            let response = HTTPURLResponse(url: url, statusCode: code, httpVersion: "HTTP/1.1", headerFields: fields)
        else { throw Failure(description: "no status line: \(lines[0])") }
        let body = Array(answer[end.upperBound...])
        if hasBody, let length = fields["content-length"].flatMap({ Int($0) }), body.count < length {
            throw Failure(description: "the answer was cut off")
        }
        return (Data(fields["transfer-encoding"] == "chunked" ? try joined(chunks: body) : body), response)
    }

    private static func joined(chunks: [UInt8]) throws -> [UInt8] {
        var body: [UInt8] = []
        var rest = chunks[...]
        while let end = rest.firstIndex(of: 0x0D) {
            guard let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16), size > 0 else { return body }
            let start = end + 2
            guard start + size + 2 <= rest.endIndex else { break }
            body += rest[start..<start + size]
            rest = rest[(start + size + 2)...]
        }
        throw Failure(description: "the answer was cut off")
    }
}
