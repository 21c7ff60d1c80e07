internal import AsyncHTTPClient
internal import Foundation
internal import JOSE
internal import NIOCore
internal import NIOHTTP1

/// The request for one attempt of a push (device-authenticator reference 9.2).
struct APNsRequest {
    let notification: PushNotification

    /// The outcome for a push with invalid values, equal to the gateway's refusal; `nil` for a valid push.
    var refusal: PushOutcome? {
        // These checks prevent values that change the path or add a header.
        guard Self.isHexadecimal(notification.deviceToken) else { return .tokenDead(since: nil) }
        guard Self.isHeader(notification.topic) else { return .refused(reason: "BadTopic", status: 400) }
        guard Self.isHeader(notification.id) else { return .refused(reason: "BadMessageId", status: 400) }
        guard notification.collapseID.map(Self.isHeader) ?? true else { return .refused(reason: "BadCollapseId", status: 400) }
        return nil
    }

    func request(origin: String, providerToken: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "\(origin)/3/device/\(notification.deviceToken.lowercased())")
        request.method = .POST
        request.headers = headers(providerToken: providerToken)
        request.body = .bytes(ByteBuffer(bytes: notification.payload))
        return request
    }

    private func headers(providerToken: String) -> HTTPHeaders {
        // At least 1, because 0 means a single delivery attempt. Rounded down to seconds, so that no push outlives its expiry.
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
