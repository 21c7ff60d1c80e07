internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1

/// Queries a k-anonymity range endpoint with the protocol of Have I Been Pwned. `GET {base}/{first 5 digits of the SHA-1}` returns a line
/// `SUFFIX:COUNT` for each known digest with this prefix. The endpoint learns only these five digits. The client requests padding, so that
/// the response size reveals nothing, and follows no redirects. Safe from any task.
struct PasswordRangeClient: Sendable {
    /// The largest accepted response, in bytes. Padded responses have about 40 KiB.
    private static let largestAnswer = 1 << 20
    static let prefixDigits = 5

    private let base: String
    private let timeout: Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    /// The shared client of the process, created at the first lookup.
    private static let client = HTTPClient.discreet(connect: .seconds(10), read: .seconds(10))

    /// Creates a client. `base` is the address before the prefix. `timeout` is the timeout of a whole lookup. Throws
    /// ``BreachedPasswordError`` unless the address uses https, or http on this machine.
    init(base: String, timeout: Duration, sleep: @escaping @Sendable (Duration) async throws -> Void) throws(BreachedPasswordError) {
        let hosts = ["localhost", "127.0.0.1", "::1", "[::1]"]
        guard let url = URL(string: base), let host = url.host(), url.user == nil, url.query == nil, url.fragment == nil,
            url.scheme == "https" || (url.scheme == "http" && hosts.contains(host))
        else {
            throw BreachedPasswordError(
                "A range endpoint needs an https address without a query, such as https://api.pwnedpasswords.com/range.")
        }
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.timeout = timeout
        self.sleep = sleep
    }

    /// Returns whether the endpoint knows a digest of 40 upper-case hexadecimal digits. Throws if the endpoint fails or does not respond in
    /// time, and `CancellationError`.
    func contains(_ digest: [UInt8]) async throws -> Bool {
        let prefix = String(decoding: digest.prefix(Self.prefixDigits), as: UTF8.self)
        var request = HTTPClientRequest(url: "\(base)/\(prefix)")
        request.headers.add(name: "user-agent", value: "Countersign")
        request.headers.add(name: "add-padding", value: "true")
        request.headers.add(name: "accept", value: "text/plain")
        let limit = TimeAmount(timeout)
        let answer = try await withThrowingTaskGroup(of: [UInt8].self) { [request, sleep, timeout] group in
            group.addTask {
                let response = try await Self.client.execute(request, timeout: limit)
                guard response.status == .ok else {
                    throw BreachedPasswordError("The endpoint answered with status \(response.status.code).")
                }
                return Array(try await response.body.collect(upTo: Self.largestAnswer).readableBytesView)
            }
            group.addTask {
                try await sleep(timeout)
                throw BreachedPasswordError("The endpoint did not answer in time.")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
        return Self.answer(answer, contains: Array(digest.dropFirst(Self.prefixDigits)))
    }

    /// Returns whether a response lists a suffix with a count above zero. Padding has the count zero.
    static func answer(_ answer: [UInt8], contains suffix: [UInt8]) -> Bool {
        answer.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.contains { line in
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            guard parts.count == 2, parts[0].count == suffix.count else { return false }
            let isSame = zip(parts[0], suffix).allSatisfy { $0 == $1 || ($0 >= UInt8(ascii: "a") && $0 - 32 == $1) }
            return isSame && parts[1].contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
        }
    }
}
