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
        if let trace = Self.trace(request) { (metadata["trace_id"], metadata["span_id"]) = (.string(trace.id), .string(trace.span)) }
        if let client = response.trace.clientID { metadata["client_id"] = .string(client) }
        if let reason = response.trace.reason { metadata["reason"] = .string(Self.printable(reason[...], from: 0x20)) }
        logger.log(level: level, "request", metadata: metadata)
    }

    private static let traceParent = HTTPField.Name("traceparent")

    /// Returns the caller's trace and span (W3C Trace Context §3.2); `nil` without a valid header.
    private static func trace(_ request: ServerRequest) -> (id: String, span: String)? {
        guard let name = traceParent, let text = request.head.headerFields[name], text.utf8.count >= 55 else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isHexadecimal = { (part: Substring) in part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) } }
        guard parts.count >= 4, parts.prefix(4).map(\.utf8.count) == [2, 32, 16, 2], parts.prefix(4).allSatisfy(isHexadecimal),
            parts[0] != "ff",
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        return (String(parts[1]), String(parts[2]))
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
