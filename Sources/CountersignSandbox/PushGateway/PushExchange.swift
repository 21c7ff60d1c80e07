internal import JOSE
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// A request that waits for its answer, and the stream and the connection that it came by.
struct PushExchange: Sendable {
    let request: PushGatewayRequest
    let stream: any Channel
    let connection: any Channel

    /// Answers. The provider may be gone, in which case nobody is told.
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
            // It hung up meanwhile; the push counts all the same, as it does at a push service.
        }
    }

    /// Begins an answer that is never ended.
    func beginAnswer(status: Int) async {
        let head = HTTP2Frame.FramePayload.headers(.init(headers: HPACKHeaders([(":status", "\(status)")]), endStream: false))
        // The provider may be gone.
        try? await stream.writeAndFlush(head).get()
    }

    /// Announces the end of the connection.
    ///
    /// - Parameter last: The last stream that counts.
    /// - Throws: If the connection has ended already.
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
