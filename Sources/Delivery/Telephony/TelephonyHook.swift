internal import Crypto
internal import Foundation
internal import JOSE

/// The request and response of a telephony inline hook, version 1.0, in Okta's published format. Existing providers for Okta can be used
/// unchanged.
struct TelephonyHook: Sendable, Redacted {
    /// The maximum size of a response, in bytes.
    static let maximumAnswer = 64 << 10

    let body: [UInt8]

    /// Builds the request body. `source` is the organization's origin.
    init(_ message: TelephoneMessage, source: String, now: Date) {
        var person: [String: JSONValue] = [
            "login": .string(message.recipient.login), "userId": .string(message.recipient.userID),
        ]
        person["firstName"] = message.recipient.firstName.map(JSONValue.string)
        person["lastName"] = message.recipient.lastName.map(JSONValue.string)
        var profile: [String: JSONValue] = [
            "msgTemplate": .string(message.text), "phoneNumber": .string(message.phoneNumber),
            "otpExpires": .string(Self.time(message.expiresAt)), "deliveryChannel": .string(message.channel.rawValue),
            "locale": .string(message.language),
        ]
        profile["otpCode"] = message.code.map(JSONValue.string)
        profile["phoneExtension"] = message.phoneExtension.map(JSONValue.string)
        var request: [String: JSONValue] = ["id": .string(message.requestID), "method": "POST"]
        request["ipAddress"] = message.address.map(JSONValue.string)
        let event: JSONValue = [
            "eventId": .string(message.id), "eventTime": .string(Self.time(now)), "eventType": "com.okta.telephony.provider",
            "eventTypeVersion": "1.0", "contentType": "application/json", "cloudEventVersion": "0.1", "source": .string(source),
            "requestType": .string(message.purpose.rawValue),
            "data": [
                "context": ["request": .object(request)], "userProfile": .object(person), "messageProfile": .object(profile),
            ],
        ]
        body = event.serialized()
    }

    /// Returns the signature header `t=…,v1=…`, with which the receiver checks that the event is authentic and fresh. `t` is the time in
    /// seconds since 1970. `v1` is the HMAC-SHA-256 of that time, a dot and the body, in lower-case hexadecimal.
    func signature(key: String, now: Date) -> String {
        let time = now.numericDate
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(time).".utf8) + Data(body), using: SymmetricKey(data: Data(key.utf8)))
        let digits = Array("0123456789abcdef")
        return "t=\(time),v1=" + String(code.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// Returns the outcome of a response with status 200.
    static func outcome(ofAnswer body: [UInt8], messageID: String) -> MessageOutcome {
        guard let json = try? JSONValue(parsing: body), json.objectValue != nil else {
            return .refused(reason: "the hook's answer is no JSON object")
        }
        // The error text is not repeated: it may contain the phone number.
        if json["error"]?.objectValue != nil { return .refused(reason: "the hook answered with an error") }
        guard let command = json["commands"]?.arrayValue?.first(where: { $0["type"]?.stringValue == "com.okta.telephony.action" }),
            let value = command["value"]?.arrayValue?.first
        else { return .refused(reason: "the hook's answer has no telephony action") }
        switch value["status"]?.stringValue {
        case "SUCCESSFUL", "PENDING": return .delivered(id: value["transactionId"]?.stringValue ?? messageID)
        default: return .refused(reason: "the hook could not send it")
        }
    }

    private static func time(_ date: Date) -> String {
        date.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted))
    }
}
