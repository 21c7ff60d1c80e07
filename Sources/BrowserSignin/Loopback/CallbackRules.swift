internal import AuthFoundation
internal import Foundation

/// What is answered to a request at the loopback address. No sockets, no state: the bytes so far in, the verdict out.
///
/// Any program and any web page on this machine can send requests here. So a request counts only if it is one that a browser sends when it
/// is redirected, names this very address as its host (a page that has rebound its own name to this address would name that), and brings the
/// `state` of the sign-in.
struct CallbackRules: Sendable {
    /// What becomes of a request.
    enum Verdict: Equatable, Sendable {
        /// The rest of it has not come.
        case incomplete
        /// It is answered with a page that says what is wrong, and nothing comes of it.
        case refused(CallbackPage)
        /// It is the answer that is waited for.
        case answer(URL)
        /// The browser is sent on to the server's page.
        case hop(URL)
    }

    /// How many bytes a request may have. A code and a state have some hundred, but all cookies of this host come with them, whichever
    /// program set them.
    static let maximumSize = 65_536

    /// Host and port, as the header `Host` has them.
    let authority: String
    /// The path of the redirect URI, with its percent encoding.
    let path: String
    /// Whether a URL is the answer that is waited for.
    let isAnswer: @Sendable (URL) -> Bool
    /// Where a path leads on to, once; nil if it leads nowhere.
    var takeHop: @Sendable (_ path: String) -> URL? = { _ in nil }

    /// - Parameter bytes: What has come of the request so far.
    /// - Returns: What becomes of it.
    func verdict(on bytes: [UInt8]) -> Verdict {
        guard let end = Self.endOfHead(in: bytes) else {
            return bytes.count > Self.maximumSize ? .refused(.tooLarge) : .incomplete
        }
        guard end <= Self.maximumSize else { return .refused(.tooLarge) }
        let head = bytes[..<end]
        // No control characters but the ends of lines and tabs; and ASCII in the request line. Cookies of other programs may have more.
        guard head.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }),
            head.prefix(while: { $0 != 0x0D }).allSatisfy({ $0 < 0x80 })
        else { return .refused(.malformed) }
        // A character a byte, none of which joins another: lines and names end where the bytes say so.
        var text = String.UnicodeScalarView()
        text.append(contentsOf: head.map { Unicode.Scalar($0) })
        var lines = String(text).components(separatedBy: "\r\n")
        guard lines.allSatisfy({ !$0.contains("\r") && !$0.contains("\n") }) else { return .refused(.malformed) }
        let request = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard request.count == 3, request[2] == "HTTP/1.1", request[1].hasPrefix("/") else { return .refused(.malformed) }
        guard hosts(in: lines) == [authority] else { return .refused(.misdirected) }
        if request[0] == "GET", let page = takeHop(String(request[1])) { return .hop(page) }
        guard request[1].prefix(while: { $0 != "?" }) == path else { return .refused(.notFound) }
        guard request[0] == "GET" else { return .refused(.notAllowed) }
        guard !request[1].contains("#"), let url = URL(string: "http://\(authority)\(request[1])") else { return .refused(.malformed) }
        return isAnswer(url) ? .answer(url) : .refused(.unexpected)
    }

    /// The values of the header fields `Host`; nil if a line is no header field.
    private func hosts(in lines: [String]) -> [String]? {
        var hosts: [String] = []
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
                !line[..<colon].contains(where: { $0 == " " || $0 == "\t" })
            else { return nil }
            guard line[..<colon].lowercased() == "host" else { continue }
            hosts.append(line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces).lowercased())
        }
        return hosts
    }

    private static func endOfHead(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...(bytes.count - 4)).first {
            bytes[$0] == 0x0D && bytes[$0 + 1] == 0x0A && bytes[$0 + 2] == 0x0D && bytes[$0 + 3] == 0x0A
        }
    }
}

/// Something that is decided once, from any thread, and that tasks wait for.
final class Decision<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiting: [CheckedContinuation<Value, any Error>] = []
    }

    private let state = Locked(State())

    /// What was decided; nil if nothing was.
    var result: Result<Value, any Error>? { state.withLock { $0.result } }

    /// Decides it, unless it is decided.
    func decide(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
            guard state.result == nil else { return [] }
            state.result = result
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// Waits for the decision, also in a cancelled task.
    func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiting.append(continuation) }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
