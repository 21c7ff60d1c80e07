package import Foundation
package import JOSE
internal import Store

/// The signed token with which the organization challenges a device (Documentation/Protocol/Devices.md §3.5).
package struct ChallengeToken {
    package let snapshot: OrgSnapshot
    package let transaction: SignInTransaction
    package let challenge: PushChallenge
    package let target: PushChallenge.Target

    package init(snapshot: OrgSnapshot, transaction: SignInTransaction, challenge: PushChallenge, target: PushChallenge.Target) {
        (self.snapshot, self.transaction, self.challenge, self.target) = (snapshot, transaction, challenge, target)
    }

    /// Returns the token, signed with RS256, the only algorithm that every device supports. All times are those of the challenge, so that
    /// the pushed and the fetched token have the same claims; `now` selects the key.
    package func signed(now: Date) throws -> String {
        try snapshot.keyRing.signer(.rs256, now: now).sign(claims, header: ["typ": "okta-pushbind+jwt"])
    }

    /// Returns the path to which the device sends its answer.
    package static func answerPath(_ id: String) -> String { "/idp/myaccount/app-authenticators/challenge/\(id)/verify" }

    private var claims: JSONValue {
        var claims: [String: JSONValue] = [
            "iss": .string(snapshot.origin), "aud": .string(transaction.applicationID), "jti": .string(target.id),
            "iat": .integer(challenge.createdAt.numericDate),
            "exp": .integer(challenge.expiresAt.numericDate),
            "nonce": .string(target.nonce), "transactionId": .string(target.id), "orgId": .string(snapshot.id), "method": "push",
            "methodEnrollmentId": .string(target.methodID), "authenticatorEnrollmentId": .string(target.enrollmentID), "ver": 0,
            "verificationUri": .string(snapshot.origin + Self.answerPath(target.id)),
            "userVerification": .string(target.userVerification.rawValue), "userMediation": "REQUIRED",
            "appInstanceName": .string(challenge.origin.applicationName), "challengeContext": context,
        ]
        claims["userId"] = transaction.userID.map(JSONValue.string)
        if challenge.transactionType == .ciba { claims["authorizationServerId"] = transaction.server.map(JSONValue.string) }
        return .object(claims)
    }

    private var context: JSONValue {
        var context: [String: JSONValue] = [
            "transactionType": .string(challenge.transactionType.rawValue),
            "transactionTime": .string(challenge.createdAt.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))),
        ]
        context["clientOS"] = challenge.origin.clientOS.map(JSONValue.string)
        context["clientLocation"] = challenge.origin.clientLocation.map(JSONValue.string)
        // Devices percent-decode the text, so a literal percent sign must be encoded.
        context["bindingMessage"] = challenge.bindingMessage.map { .string($0.replacing("%", with: "%25")) }
        context["numberChoices"] = challenge.numbers.map { JSONValue($0.choices) }
        return .object(context)
    }

    /// Returns the payload of the push, which is also an element of the list of pending challenges (Documentation/Protocol/Devices.md §4.1
    /// and §2.8).
    package static func payload(_ token: String) -> [String: JSONValue] { ["payloadVersion": "IDXv1", "challenge": .string(token)] }
}
