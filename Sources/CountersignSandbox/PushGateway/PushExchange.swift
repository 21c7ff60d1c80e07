internal import JOSE
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// A request that waits for its response, with its stream and connection.
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
