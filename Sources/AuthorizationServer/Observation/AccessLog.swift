internal import HTTPTypes
internal import IdentityCore
internal import Logging
internal import ServerHTTP
internal import SignInPages

/// One line per request: what was asked, how it went, how long it took. Never a parameter, a header or a body.
struct AccessLog: Sendable {
    let logger: Logger

    /// Writes the line: errors of the server as errors, the rest as information.
    func record(_ request: ServerRequest, _ response: ServerResponse, nanoseconds: Int64) {
        let level: Logger.Level = response.status.code >= 500 ? .error : .info
        guard logger.logLevel <= level else { return }
        var metadata: Logger.Metadata = [
            "request_id": .string(request.context.requestID),
            "method": .string(request.head.method.rawValue),
            "path": .string(Self.path(of: request)),
            "status": .stringConvertible(response.status.code),
            "duration_us": .stringConvertible(nanoseconds / 1_000),
        ]
        if let address = request.context.address { metadata["address"] = .string(address) }
        if let client = response.trace.clientID { metadata["client_id"] = .string(client) }
        if let reason = response.trace.reason { metadata["reason"] = .string(Self.printable(reason[...], from: 0x20)) }
        logger.log(level: level, "request", metadata: metadata)
    }

    /// Without the token of a sign-in, which is in the address of its pages, and whose users and pictures are asked for.
    private static func path(of request: ServerRequest) -> String {
        if case .signIn(let route)? = Route(request.components), case .asset = route {
        } else if request.path.hasPrefix("/signin/") {
            return "/signin/-"
        }
        if request.path.hasPrefix("/api/v1/users/") { return "/api/v1/users/-" }
        return printable(request.path, from: 0x21)
    }

    /// A text cut to a sensible length, without what could forge a line.
    private static func printable(_ text: Substring, from first: UInt8) -> String {
        if text.utf8.count <= 200, text.utf8.allSatisfy({ (first...0x7E).contains($0) }) { return String(text) }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(200).filter { (UInt32(first)...0x7E).contains($0.value) }))
    }
}
