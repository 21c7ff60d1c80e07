public import Delivery
internal import Foundation
internal import JOSE
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// A complete request to the gateway.
struct PushGatewayRequest: Sendable {
    var environment: PushEnvironment
    var connection: Int
    /// The HTTP/2 stream ID. Later streams of the connection have higher IDs.
    var stream: Int
    var method: String
    var path: String
    /// The headers in their order, with lower-case names, without HTTP/2 pseudo-headers.
    var headers: [(name: String, value: String)]
    /// The body, truncated at a size that is never accepted.
    var body: [UInt8]

    /// The headers by name. Of repeated headers, the last one counts.
    var headersByName: [String: String] { Dictionary(headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }) }

    /// The path's part after `/3/device/`; `nil` for another path.
    var deviceToken: String? {
        let prefix = "/3/device"
        guard path == prefix || path.hasPrefix(prefix + "/") else { return nil }
        return String(path.dropFirst(prefix.count + 1))
    }

    /// Returns a header's value; `nil` if it is missing or empty.
    func header(_ name: String) -> String? {
        headers.last { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }
}

struct PushGatewayAnswer: Sendable, Equatable {
    var status: Int
    var reason: String?
    var headers: [String: String] = [:]
    /// The `timestamp` of the body, in milliseconds since 1970; `nil` for none.
    var timestamp: Int64?
    /// The body; `nil` for a body made from `reason` and `timestamp`.
    var body: [UInt8]?

    static func refused(_ status: Int, _ reason: String) -> PushGatewayAnswer { PushGatewayAnswer(status: status, reason: reason) }
}

/// A simulated fault of a ``PushGateway``.
public enum PushGatewayFault: Sendable, Hashable {
    /// Responds with this status without checking the push. Header names are in lower case; the timestamp is in milliseconds.
    case answer(status: Int, reason: String?, headers: [String: String] = [:], timestamp: Int64? = nil)
    /// Responds with a body that no push service sends.
    case answerBody(status: Int, body: [UInt8])
    /// Starts a response, and never completes it.
    case stallAnswer(status: Int)
    /// Delays normal processing, in seconds of the sandbox's clock.
    case delay(seconds: Double)
    /// Delays normal processing until ``PushGateway/releaseHeld()``.
    case hold
    /// Processes the push normally, but delivers it to the device twice.
    case duplicate
    /// Closes the connection without a response.
    case dropConnection
    /// Announces the end of the connection (GOAWAY). `answering` selects whether the push is answered first; otherwise it counts as not
    /// processed.
    case goAway(answering: Bool)
}

/// A push that a ``PushGateway`` received, and the response to it.
public struct ReceivedPush: Sendable, Equatable {
    /// The service that received the push.
    public var environment: PushEnvironment
    /// The device token in the path, unchanged.
    public var deviceToken: String
    /// The headers by lower-case name, without HTTP/2 pseudo-headers. Of repeated headers, the last one counts.
    public var headers: [String: String]
    /// The request body.
    public var payload: [UInt8]
    /// The number of the push's connection, from 1.
    public var connection: Int
    /// The HTTP status of the response.
    public var status: Int
    /// The reason in the response; `nil` if the response has none.
    public var reason: String?

    /// The time until which the gateway keeps the push, from `apns-expiration`; `nil` for a single delivery attempt.
    var expiration: Date? {
        headers["apns-expiration"].flatMap { TimeInterval($0) }.flatMap { $0 > 0 ? Date(clampingNumericDate: $0) : nil }
    }
}

/// A request that waits for its response, with its HTTP/2 stream and connection.
struct PushExchange: Sendable {
    let request: PushGatewayRequest
    let stream: any Channel
    let connection: any Channel

    /// Sends the response; a no-op if the provider has disconnected.
    func answer(_ answer: PushGatewayAnswer, id: String) async {
        var headers = HPACKHeaders([(":status", "\(answer.status)"), ("apns-id", id)])
        for (name, value) in answer.headers { headers.add(name: name, value: value) }
        let body = answer.body ?? Self.body(of: answer)
        let head = HTTP2Frame.FramePayload.headers(.init(headers: headers, endStream: body.isEmpty))
        do {
            if body.isEmpty {
                try await stream.writeAndFlush(head).get()
            } else {
                stream.write(head, promise: nil)
                try await stream.writeAndFlush(
                    HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(ByteBuffer(bytes: body)), endStream: true))
                ).get()
            }
        } catch {
            // The provider disconnected. The push still counts, as at a real push service.
        }
    }

    /// Starts a response that is never completed.
    func beginAnswer(status: Int) async {
        let head = HTTP2Frame.FramePayload.headers(.init(headers: HPACKHeaders([(":status", "\(status)")]), endStream: false))
        // Fails only if the provider has disconnected.
        try? await stream.writeAndFlush(head).get()
    }

    /// Announces the end of the connection. `last` is the last stream that counts as processed. Throws if the connection is closed.
    func goAway(last: Int) async throws {
        let payload = HTTP2Frame.FramePayload.goAway(lastStreamID: HTTP2StreamID(last), errorCode: .noError, opaqueData: nil)
        try await connection.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: payload)).get()
    }

    private static func body(of answer: PushGatewayAnswer) -> [UInt8] {
        guard let reason = answer.reason else { return [] }
        var json: JSONValue = ["reason": .string(reason)]
        if let timestamp = answer.timestamp { json["timestamp"] = .integer(timestamp) }
        return json.serialized()
    }
}
