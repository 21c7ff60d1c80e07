internal import AsyncHTTPClient
internal import Foundation
internal import JOSE
internal import NIOCore
internal import NIOHTTP1

/// The request for one try of a push (device-authenticator reference 9.2).
struct APNsRequest {
    let notification: PushNotification

    /// Why the push can't be put into a request; the outcome is the one that the gateway's refusal would lead to. Nil if it can.
    var refusal: PushOutcome? {
        // What would change the path, or end a header, never gets near the wire.
        guard Self.isHexadecimal(notification.deviceToken) else { return .tokenDead(since: nil) }
        guard Self.isHeader(notification.topic) else { return .refused(reason: "BadTopic", status: 400) }
        guard Self.isHeader(notification.id) else { return .refused(reason: "BadMessageId", status: 400) }
        guard notification.collapseID.map(Self.isHeader) ?? true else { return .refused(reason: "BadCollapseId", status: 400) }
        return nil
    }

    /// The request.
    func request(origin: String, providerToken: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "\(origin)/3/device/\(notification.deviceToken.lowercased())")
        request.method = .POST
        request.headers = headers(providerToken: providerToken)
        request.body = .bytes(ByteBuffer(bytes: notification.payload))
        return request
    }

    private func headers(providerToken: String) -> HTTPHeaders {
        // 0 would mean: try once. Whole seconds, so that no push outlives what it is about.
        let expiration = min(max(notification.expiresAt.numericDate, 1), Int64(UInt32.max))
        var headers: HTTPHeaders = [
            "authorization": "bearer \(providerToken)",
            "apns-topic": notification.topic,
            "apns-push-type": notification.pushType.rawValue,
            "apns-priority": "\(notification.priority.rawValue)",
            "apns-expiration": "\(expiration)",
            "apns-id": notification.id,
        ]
        if let collapseID = notification.collapseID { headers.add(name: "apns-collapse-id", value: collapseID) }
        return headers
    }

    private static func isHexadecimal(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 512 && text.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    private static func isHeader(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 512 && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }
}
