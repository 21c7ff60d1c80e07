public import Delivery
internal import Foundation
internal import JOSE

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

/// Something that a ``PushGateway`` does instead of, or beside, what it should.
public enum PushGatewayFault: Sendable, Hashable {
    /// It answers so, without looking at the push. Headers are names in lower case and their values; the timestamp is in milliseconds.
    case answer(status: Int, reason: String?, headers: [String: String] = [:], timestamp: Int64? = nil)
    /// It answers so, with a body that is not what a push service sends.
    case answerBody(status: Int, body: [UInt8])
    /// It begins to answer so, and never ends.
    case stallAnswer(status: Int)
    /// It waits so many seconds of the sandbox's clock, then does as it should.
    case delay(seconds: Double)
    /// It waits until ``PushGateway/releaseHeld()``, then does as it should.
    case hold
    /// It does as it should, and hands the push to the device twice.
    case duplicate
    /// It closes the connection without an answer.
    case dropConnection
    /// It announces the end of the connection (GOAWAY). The push is answered before if the flag says so, and otherwise counts as not taken.
    case goAway(answering: Bool)
}

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
