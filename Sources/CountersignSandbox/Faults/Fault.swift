public import Foundation
internal import NIOConcurrencyHelpers

/// Something that goes wrong on purpose: what, where, and how often.
///
/// ```swift
/// sandbox.inject(Fault(.dropConnectionAfterCommit, at: .token))  // the next refresh is done, its answer lost
/// ```
public struct Fault: Sendable, Equatable {
    /// What goes wrong.
    public enum Effect: Sendable, Equatable {
        /// The endpoint answers with this status and does nothing.
        case status(Int)
        /// The answer comes after so many seconds of the sandbox's clock.
        case delay(TimeInterval)
        /// 429 with the rate-limit headers; the limit resets after so many seconds of the sandbox's clock.
        case rateLimited(resetAfter: TimeInterval)
        /// The connection breaks before the endpoint did anything.
        case dropConnectionBeforeCommit
        /// The endpoint does its work, then the connection breaks without an answer.
        case dropConnectionAfterCommit
        /// The endpoint does its work; the connection breaks in the middle of the answer's body.
        case truncatedBody
        /// The endpoint does its work; its answer says that it is of this type.
        case contentType(String)
        /// The token endpoint does its work; the id token in its answer is a forged one.
        case forgedIDToken(Forgery)
    }

    /// Where it goes wrong: the last part of the path.
    public struct Endpoint: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral {
        /// The last part of the path: `token`, `keys`, …; `*` for every endpoint.
        public let rawValue: String

        /// Names an endpoint.
        ///
        /// - Parameter rawValue: The last part of its path.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Names an endpoint.
        ///
        /// - Parameter value: The last part of its path.
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

    /// What goes wrong.
    public var effect: Effect
    /// Where.
    public var endpoint: Endpoint
    /// For how many requests, from the next one on.
    public var count: Int

    /// Describes a fault.
    ///
    /// - Parameters:
    ///   - effect: What goes wrong.
    ///   - endpoint: Where.
    ///   - count: For how many requests, at least 1.
    public init(_ effect: Effect, at endpoint: Endpoint, count: Int = 1) {
        self.effect = effect
        self.endpoint = endpoint
        self.count = count
    }
}

/// The faults that are still to happen, in the order in which they were injected.
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

    /// The fault that a request to an endpoint meets; it is used up by that.
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
