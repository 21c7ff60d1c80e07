public import Delivery
internal import Foundation
internal import JOSE

/// A push as it reached a ``PushGateway``, and what the gateway said to it.
public struct ReceivedPush: Sendable, Equatable {
    /// Which of the gateway's two services it came to.
    public var environment: PushEnvironment
    /// The device token of the path, as it was written.
    public var deviceToken: String
    /// The headers by their lower-case names, without those of HTTP/2 itself; of a header that came twice, the last.
    public var headers: [String: String]
    /// The body.
    public var payload: [UInt8]
    /// The connection that it came by, counted from 1.
    public var connection: Int
    /// The status of the answer.
    public var status: Int
    /// The reason in the answer; nil if it has none.
    public var reason: String?

    /// When the gateway stops trying to deliver it, from `apns-expiration`; nil if it tries once.
    var expiration: Date? {
        headers["apns-expiration"].flatMap { TimeInterval($0) }.flatMap { $0 > 0 ? Date(clampingNumericDate: $0) : nil }
    }
}
