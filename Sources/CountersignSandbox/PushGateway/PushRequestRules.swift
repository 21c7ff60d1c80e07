internal import Foundation

/// The push service's rules for requests, except the provider token (device-authenticator reference 9.2 and 9.3).
struct PushRequestRules {
    static let pushTypes: Set<String> = [
        "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk",
    ]
    static let maximumPayload = 4096

    let request: PushGatewayRequest

    /// Returns a refusal for problems that are checked before the provider token; `nil` for none.
    func refusalOfAddress() -> PushGatewayAnswer? {
        guard let deviceToken = request.deviceToken else { return .refused(404, "BadPath") }
        guard request.method == "POST" else { return .refused(405, "MethodNotAllowed") }
        guard !deviceToken.isEmpty else { return .refused(400, "MissingDeviceToken") }
        let names = request.headers.map(\.name).filter { $0.hasPrefix("apns-") || $0 == "authorization" }
        guard Set(names).count == names.count else { return .refused(400, "DuplicateHeaders") }
        return nil
    }

    /// Returns a refusal for problems of the headers, the payload and the format of the device token; `nil` for none.
    func refusal(allowing topics: Set<String>) -> PushGatewayAnswer? {
        refusalOfTopic(topics) ?? refusalOfHeaders() ?? refusalOfPayload() ?? refusalOfDeviceToken()
    }

    private func refusalOfTopic(_ topics: Set<String>) -> PushGatewayAnswer? {
        guard let topic = request.header("apns-topic") else { return .refused(400, "MissingTopic") }
        guard topic.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), topic.utf8.count <= 255 else { return .refused(400, "BadTopic") }
        return topics.contains(topic) ? nil : .refused(400, "TopicDisallowed")
    }

    private func refusalOfHeaders() -> PushGatewayAnswer? {
        guard let type = request.header("apns-push-type"), Self.pushTypes.contains(type) else { return .refused(400, "InvalidPushType") }
        let priority = request.header("apns-priority") ?? "10"
        guard ["1", "5", "10"].contains(priority), type != "background" || priority != "10" else { return .refused(400, "BadPriority") }
        if let expiration = request.header("apns-expiration"), UInt32(expiration) == nil { return .refused(400, "BadExpirationDate") }
        if let id = request.header("apns-id"), UUID(uuidString: id) == nil { return .refused(400, "BadMessageId") }
        if let collapseID = request.header("apns-collapse-id"), collapseID.utf8.count > 64 { return .refused(400, "BadCollapseId") }
        return nil
    }

    private func refusalOfPayload() -> PushGatewayAnswer? {
        guard !request.body.isEmpty else { return .refused(400, "PayloadEmpty") }
        return request.body.count <= Self.maximumPayload ? nil : .refused(413, "PayloadTooLarge")
    }

    private func refusalOfDeviceToken() -> PushGatewayAnswer? {
        let token = request.deviceToken ?? ""
        let isToken =
            token.utf8.count % 2 == 0
            && token.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 }
        return isToken ? nil : .refused(400, "BadDeviceToken")
    }
}
