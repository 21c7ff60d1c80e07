public import Foundation
internal import NIOConcurrencyHelpers

/// A simulated fault: its effect, its endpoint and its number of requests.
///
/// ```swift
/// sandbox.inject(Fault(.dropConnectionAfterCommit, at: .token))  // the next refresh is done, its answer lost
/// ```
public struct Fault: Sendable, Equatable {
    /// The effect of a fault.
    public enum Effect: Sendable, Equatable {
        /// The endpoint returns this status and does nothing.
        case status(Int)
        /// The response is delayed, in seconds of the sandbox's clock.
        case delay(TimeInterval)
        /// 429 with the rate-limit headers; the limit resets after a number of seconds of the sandbox's clock.
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
    /// The number of requests that it affects, starting with the next one.
    public var count: Int

    /// Creates a fault.
    /// - Parameter count: The number of requests that it affects, at least 1.
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

    /// Returns the fault for a request to an endpoint, and counts it as used.
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
