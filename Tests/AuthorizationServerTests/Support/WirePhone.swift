import Foundation
import JOSE
import TestSupport
import Testing

/// A phone with real keys that sends raw requests (Documentation/Protocol/Devices.md).
struct WirePhone: Sendable {
    struct Options: Sendable {
        var pushToken = "00ff12ab"
        var environment = "production"
        var transactionTypes = ["LOGIN"]
        var answersNumbers = false
        var verifiesUser = false
    }

    private static let version = ("Accept", "application/json; okta-version=1.0.0")

    private let phone: SigningPhone
    private let wire: WireClient
    private let clock: ManualClock
    private let accessToken: String

    var enrollmentID: String { phone.enrollmentID }
    var methodID: String { phone.methodID }
    var userID: String { phone.userID }
    var deviceID: String { phone.deviceID }

    /// Sends an enrollment and returns the response, successful or not.
    static func enrolling(_ wire: WireClient, accessToken: String) async throws -> WireResponse {
        var phone = try SigningPhone(origin: RunningServer.origin)
        return try await enrolling(&phone, wire, accessToken: accessToken, Options())
    }

    private static func enrolling(
        _ phone: inout SigningPhone, _ wire: WireClient, accessToken: String, _ options: Options
    ) async throws -> WireResponse {
        phone.displayName = "Wire phone"
        var capabilities: [String: JSONValue] = ["transactionTypes": JSONValue(options.transactionTypes)]
        if options.answersNumbers { capabilities["numberChallenge"] = true }
        let body = phone.enrollment(
            in: "autphone1", userVerification: options.verifiesUser,
            push: [
                "pushToken": .string(options.pushToken), "apsEnvironment": .string(options.environment),
                "capabilities": .object(capabilities),
            ])
        return try await wire.call(
            "POST", "/idp/myaccount/app-authenticators",
            headers: [version, ("Content-Type", "application/json"), ("Authorization", "Bearer \(accessToken)")], body: body.serialized())
    }

    /// Enrolls a phone (Documentation/Protocol/Devices.md §2.5).
    static func enroll(_ wire: WireClient, clock: ManualClock, accessToken: String, _ options: Options) async throws -> WirePhone {
        var phone = try SigningPhone(origin: RunningServer.origin)
        let response = try await enrolling(&phone, wire, accessToken: accessToken, options)
        try #require(response.status == 200, "\(response.body)")
        try phone.remember(try response.json)
        return WirePhone(phone: phone, wire: wire, clock: clock, accessToken: accessToken)
    }

    /// Requests the pending challenges of this enrollment, or of another one (Documentation/Protocol/Devices.md §2.8).
    func pending(of id: String? = nil) async throws -> WireResponse {
        try await wire.get(
            "/idp/myaccount/app-authenticators/\(id ?? enrollmentID)/push/notifications",
            headers: [Self.version, ("Authorization", "Bearer \(accessToken)")])
    }

    /// Returns the pending challenges of this phone.
    func waiting() async throws -> [Challenge] {
        let response = try await pending()
        try #require(response.status == 200, "\(response.body)")
        return try #require(try response.json.arrayValue).map { element in
            #expect(element["payloadVersion"] == "IDXv1")
            return try Challenge(try #require(element["challenge"]?.stringValue))
        }
    }

    /// Returns the only pending challenge.
    func challenge() async throws -> Challenge {
        let all = try await waiting()
        #expect(all.count == 1)
        return try #require(all.first)
    }

    /// Registers another push token (Documentation/Protocol/Devices.md §2.6).
    func replacePushToken(_ token: String) async throws -> WireResponse {
        let type = "application/merge-patch+json; okta-version=1.0.0"
        return try await wire.call(
            "PATCH", "/idp/myaccount/app-authenticators/\(enrollmentID)",
            headers: [("Accept", type), ("Content-Type", type), ("Authorization", "Bearer \(accessToken)")],
            body: (["methods": ["push": ["pushToken": .string(token)]]] as JSONValue).serialized())
    }

    /// Deletes the enrollment (Documentation/Protocol/Devices.md §2.7).
    func delete() async throws -> WireResponse {
        try await wire.call(
            "DELETE", "/idp/myaccount/app-authenticators/\(enrollmentID)",
            headers: [Self.version, ("Authorization", "Bearer \(accessToken)")])
    }

    // MARK: - Answers

    /// The user's answer to a challenge.
    enum Answer: Sendable {
        case approve
        case approveVerified
        case deny
        /// Denies the sign-in and reports it as suspicious.
        case report
        case pick(String)
        /// Sends this `userConsent` (Documentation/Protocol/Devices.md §5.5). The signing key is the user verification key if `verified`,
        /// otherwise the proof-of-possession key.
        case says(String, verified: Bool = false)
    }

    /// Signs and sends an answer to a challenge (Documentation/Protocol/Devices.md §2.9).
    ///
    /// - Parameter type: The transaction type of the answer; `nil` for the type of the challenge.
    func answer(_ challenge: Challenge, _ answer: Answer = .approve, saying type: String? = nil) async throws -> WireResponse {
        try await send(try signed(challenge, answer, saying: type), to: challenge)
    }

    /// Posts a token as the answer to a challenge.
    func send(_ token: String, to challenge: Challenge) async throws -> WireResponse {
        try await wire.call(
            "POST", try challenge.path, headers: [Self.version, ("Content-Type", "application/json")],
            body: (["method": "push", "challengeResponse": .string(token)] as JSONValue).serialized())
    }

    /// Returns a signed answer (Documentation/Protocol/Devices.md §3.7).
    func signed(
        _ challenge: Challenge, _ answer: Answer = .approve, saying type: String? = nil, by stranger: SigningKey? = nil
    ) throws -> String {
        var context: [String: JSONValue] = [
            "transactionType": type.map(JSONValue.string) ?? challenge.context["transactionType"] ?? "LOGIN"
        ]
        var isVerified = false
        switch answer {
        case .approve: context["userConsent"] = "APPROVED_CONSENT_PROMPT"
        case .deny: context["userConsent"] = "DENIED_CONSENT_PROMPT"
        case .report:
            context["userConsent"] = "DENIED_CONSENT_PROMPT"
            context["suspicious"] = true
        case .pick(let number):
            context["userConsent"] = "APPROVED_CONSENT_PROMPT"
            context["selectedNumber"] = .string(number)
        case .approveVerified: (context["userConsent"], isVerified) = ("APPROVED_USER_VERIFICATION", true)
        case .says(let word, let verified): (context["userConsent"], isVerified) = (.string(word), verified)
        }
        var draft = phone.answer(
            to: challenge.claims["transactionId"]?.stringValue ?? "", nonce: challenge.claims["nonce"]?.stringValue ?? "",
            audience: challenge.claims["iss"]?.stringValue ?? "", with: isVerified ? .userVerification : .proofOfPossession,
            methods: isVerified ? ["face"] : [], context: context, at: clock.now)
        if let stranger { draft.key = stranger }
        return try draft.signed()
    }

    /// The ID of the proof-of-possession key.
    var possessionKeyID: String? { phone.possessionKey.keyID }

    /// Sends an answer that approves the only pending challenge.
    func approve(_ answer: Answer = .approve) async throws {
        let response = try await self.answer(try await challenge(), answer)
        #expect(response.status == 200, "\(response.body)")
    }

    /// Denies the only pending challenge.
    func deny() async throws {
        let response = try await answer(try await challenge(), .deny)
        #expect(response.status == 204, "\(response.body)")
    }
}

extension WirePhone {
    /// A challenge as a phone reads it.
    struct Challenge: Sendable {
        let token: String
        let header: JSONValue
        let claims: JSONValue

        init(_ token: String) throws {
            self.token = token
            let parsed = try JSONWebSignature(parsing: token)
            header = parsed.header
            claims = try JSONValue(parsing: parsed.payload)
        }

        var context: JSONValue { claims["challengeContext"] ?? .null }

        /// The path of the challenge's verification URI.
        var path: String {
            get throws {
                let uri = try #require(claims["verificationUri"]?.stringValue)
                try #require(uri.hasPrefix(RunningServer.origin))
                return String(uri.dropFirst(RunningServer.origin.utf8.count))
            }
        }
    }
}
