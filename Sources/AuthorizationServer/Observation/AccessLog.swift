internal import HTTPTypes
internal import IdentityCore
internal import Logging
internal import ServerHTTP
internal import SignInPages

/// Logs one line per request, without parameters, headers or bodies.
struct AccessLog: Sendable {
    let logger: Logger

    /// Logs server errors at level `error`, everything else at `info`.
    func record(_ request: ServerRequest, _ response: ServerResponse, nanoseconds: Int64) {
        let level: Logger.Level = response.status.code >= 500 ? .error : .info
        guard logger.logLevel <= level else { return }
        var metadata: Logger.Metadata = [
            "request_id": .string(request.context.requestID),
            "method": .string(request.head.method.rawValue),
            "path": .string(Self.path(of: request, route: response.trace.route)),
            "status": .stringConvertible(response.status.code),
            "duration_us": .stringConvertible(nanoseconds / 1_000),
        ]
        if let address = request.context.address { metadata["address"] = .string(address) }
        if let client = response.trace.clientID { metadata["client_id"] = .string(client) }
        if let reason = response.trace.reason { metadata["reason"] = .string(Self.printable(reason[...], from: 0x20)) }
        logger.log(level: level, "request", metadata: metadata)
    }

    /// Redacts the state token in the paths of sign-in pages, and the user in the paths of the user API.
    private static func path(of request: ServerRequest, route: String) -> String {
        if request.path.hasPrefix("/signin/"), route != RoutePath.asset.name { return "/signin/-" }
        if request.path.hasPrefix("/api/v1/users/") { return "/api/v1/users/-" }
        return printable(request.path, from: 0x21)
    }

    /// Truncates a text to 200 characters and removes characters that could forge a log line.
    private static func printable(_ text: Substring, from first: UInt8) -> String {
        if text.utf8.count <= 200, text.utf8.allSatisfy({ (first...0x7E).contains($0) }) { return String(text) }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(200).filter { (UInt32(first)...0x7E).contains($0.value) }))
    }
}
