internal import Delivery

/// One request to the gateway, complete.
struct PushGatewayRequest: Sendable {
    var environment: PushEnvironment
    var connection: Int
    /// The number of its stream in the connection; later ones have higher numbers.
    var stream: Int
    var method: String
    var path: String
    /// In their order, with lower-case names, without those of HTTP/2 itself.
    var headers: [(name: String, value: String)]
    /// Cut at a size beyond any accepted one.
    var body: [UInt8]

    /// The headers by name; of one that came twice, the last.
    var headersByName: [String: String] { Dictionary(headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }) }

    /// What follows `/3/device/`; nil if the path is another.
    var deviceToken: String? {
        let prefix = "/3/device"
        guard path == prefix || path.hasPrefix(prefix + "/") else { return nil }
        return String(path.dropFirst(prefix.count + 1))
    }

    /// A header's value; nil if it is missing or empty.
    func header(_ name: String) -> String? {
        headers.last { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }
}

/// What the gateway answers.
struct PushGatewayAnswer: Sendable, Equatable {
    var status: Int
    var reason: String?
    var headers: [String: String] = [:]
    /// In milliseconds.
    var timestamp: Int64?
    /// Instead of what follows from reason and timestamp.
    var body: [UInt8]?

    /// A refusal.
    static func refused(_ status: Int, _ reason: String) -> PushGatewayAnswer { PushGatewayAnswer(status: status, reason: reason) }
}
