public import Foundation
internal import HTTPTypes
internal import JOSE
internal import NIOConcurrencyHelpers
internal import ServerHTTP

/// A simulated fault: its effect, its endpoint and its number of requests.
///
/// ```swift
/// sandbox.inject(Fault(.dropConnectionAfterCommit, at: .token))  // the next refresh succeeds, but its response is lost
/// ```
public struct Fault: Sendable, Equatable {
    /// The effect of a fault.
    public enum Effect: Sendable, Equatable {
        /// The endpoint returns this status and does nothing.
        case status(Int)
        /// The request is delayed by a number of seconds of the sandbox's clock.
        case delay(TimeInterval)
        /// The endpoint returns 429 with the rate-limit headers; the limit resets after a number of seconds of the sandbox's clock.
        case rateLimited(resetAfter: TimeInterval)
        /// The connection closes before the endpoint does anything.
        case dropConnectionBeforeCommit
        /// The endpoint does its work, then the connection closes without a response.
        case dropConnectionAfterCommit
        /// The endpoint does its work; the connection closes in the middle of the response body.
        case truncatedBody
        /// The endpoint does its work; its response has this content type.
        case contentType(String)
        /// The token endpoint does its work; the ID token in its response is forged.
        case forgedIDToken(Forgery)
    }

    /// The endpoint of a fault: the last part of the path.
    public struct Endpoint: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral {
        /// The last part of the path: `token`, `keys`, …; `*` for every endpoint.
        public let rawValue: String

        /// Creates an endpoint from the last part of its path.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Creates an endpoint from the last part of its path.
        public init(stringLiteral value: String) { rawValue = value }

        /// Every endpoint.
        public static let any: Endpoint = "*"
        /// The discovery document.
        public static let discovery: Endpoint = "openid-configuration"
        /// The key set.
        public static let keys: Endpoint = "keys"
        /// The token endpoint.
        public static let token: Endpoint = "token"
        /// The user info endpoint.
        public static let userInfo: Endpoint = "userinfo"
        /// The introspection endpoint.
        public static let introspect: Endpoint = "introspect"
        /// The revocation endpoint.
        public static let revoke: Endpoint = "revoke"

        func matches(_ endpoint: Endpoint) -> Bool { self == .any || self == endpoint }
    }

    /// The effect.
    public var effect: Effect
    /// The endpoint.
    public var endpoint: Endpoint
    /// The number of requests that the fault affects, starting with the next request.
    public var count: Int

    /// Creates a fault.
    /// - Parameter count: The number of requests that the fault affects, at least 1.
    public init(_ effect: Effect, at endpoint: Endpoint, count: Int = 1) {
        self.effect = effect
        self.endpoint = endpoint
        self.count = count
    }
}

/// The pending faults, in the order in which they were injected.
final class FaultPlan: Sendable {
    private let faults = NIOLockedValueBox<[Fault]>([])

    var pending: [Fault] { faults.withLockedValue { $0 } }

    func add(_ fault: Fault) {
        guard fault.count > 0 else { return }
        faults.withLockedValue { $0.append(fault) }
    }

    func clear() {
        faults.withLockedValue { $0 = [] }
    }

    /// Returns the effect for a request to an endpoint, and counts the fault as used; `nil` without a fault.
    func take(at endpoint: Fault.Endpoint) -> Fault.Effect? {
        faults.withLockedValue { faults in
            guard let index = faults.firstIndex(where: { $0.endpoint.matches(endpoint) }) else { return nil }
            let effect = faults[index].effect
            faults[index].count -= 1
            if faults[index].count == 0 { faults.remove(at: index) }
            return effect
        }
    }
}

/// Faults in the JSON of the control API: `{"effect": "status", "status": 503, "endpoint": "token", "count": 2}`.
extension Fault {
    /// Reads a fault from the body of a control call.
    init(_ body: ControlBody) throws(ControlBody.Invalid) {
        let endpoint = try body.required("endpoint", example: "token")
        let count = try body.integer("count", in: 1...1_000_000) ?? 1
        self.init(try Self.effect(body), at: Endpoint(rawValue: endpoint), count: count)
    }

    /// The member that an effect needs, by the effect's name. Other effects need none.
    private static let members = [
        "status": "status", "delay": "seconds", "rate-limited": "reset_after", "content-type": "type", "forged-id-token": "forgery",
    ]

    private static func effect(_ body: ControlBody) throws(ControlBody.Invalid) -> Effect {
        let name = try body.required("effect", example: "status")
        let member = members[name]
        func needed<Value>(_ value: Value?) throws(ControlBody.Invalid) -> Value {
            guard let value else { throw ControlBody.Invalid(message: "The effect \(name) needs the member \(member ?? "").") }
            return value
        }
        try body.allow(["endpoint", "count", "effect"] + [member].compactMap { $0 })
        switch name {
        case "status": return .status(try needed(body.integer("status", in: 200...599)))
        case "delay": return .delay(try needed(body.number("seconds", in: 0...86_400)))
        case "rate-limited": return .rateLimited(resetAfter: try needed(body.number("reset_after", in: 0...86_400)))
        case "drop-before-commit": return .dropConnectionBeforeCommit
        case "drop-after-commit": return .dropConnectionAfterCommit
        case "truncated-body": return .truncatedBody
        case "content-type":
            let type = try needed(body.text("type"))
            guard type.unicodeScalars.allSatisfy({ (0x20...0x7E).contains($0.value) }) else {
                throw ControlBody.Invalid(message: "type must be printable ASCII, as in a header.")
            }
            return .contentType(type)
        case "forged-id-token": return .forgedIDToken(try needed(body.choice("forgery", Forgery.self)))
        default:
            throw ControlBody.Invalid(
                message:
                    "effect must be one of status, delay, rate-limited, drop-before-commit, drop-after-commit, truncated-body, content-type, forged-id-token."
            )
        }
    }

    var json: JSONValue {
        let (name, value): (String, JSONValue?) =
            switch effect {
            case .status(let status): ("status", .integer(Int64(status)))
            case .delay(let seconds): ("delay", .double(seconds))
            case .rateLimited(let seconds): ("rate-limited", .double(seconds))
            case .dropConnectionBeforeCommit: ("drop-before-commit", nil)
            case .dropConnectionAfterCommit: ("drop-after-commit", nil)
            case .truncatedBody: ("truncated-body", nil)
            case .contentType(let type): ("content-type", .string(type))
            case .forgedIDToken(let forgery): ("forged-id-token", .string(forgery.rawValue))
            }
        var json: JSONValue = [
            "effect": .string(name), "endpoint": .string(endpoint.rawValue), "count": .integer(Int64(count)),
        ]
        if let member = Self.members[name] { json[member] = value }
        return json
    }
}

/// The effects of faults on responses.
extension ServerResponse {
    /// Returns a response with a status that the endpoint did not choose.
    static func faulty(status: Int) -> ServerResponse {
        ServerResponse(
            status: HTTPResponse.Status(code: status),
            json: (["error": "server_error", "error_description": "A fault was injected into the sandbox."] as JSONValue).serialized())
    }

    /// Returns status 429 with the rate-limit headers. The reset time counts from the response's `Date`.
    static func rateLimited(resetAfter seconds: TimeInterval, now: Date) -> ServerResponse {
        let reset = Int(clamping: (now.timeIntervalSince1970 + seconds).rounded(.up))
        let body: JSONValue = [
            "errorCode": "E0000047", "errorSummary": "API call exceeded rate limit due to too many requests.", "errorLink": "E0000047",
            "errorId": "oaeSandbox", "errorCauses": [],
        ]
        var response = ServerResponse(status: .tooManyRequests, json: body.serialized())
        for (name, value) in [("x-rate-limit-limit", "1"), ("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", String(reset))] {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
        return response
    }

    func delivered(_ delivery: Delivery) -> ServerResponse {
        var response = self
        response.delivery = delivery
        return response
    }

    func typed(_ contentType: String) -> ServerResponse {
        var response = self
        response.headers[.contentType] = contentType
        return response
    }
}
