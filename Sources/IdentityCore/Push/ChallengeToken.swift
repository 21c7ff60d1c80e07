package import Foundation
package import JOSE
internal import Store

/// What a device is asked, signed by the organization (device-authenticator reference 3.5).
package struct ChallengeToken {
    package let snapshot: OrgSnapshot
    package let transaction: SignInTransaction
    package let challenge: PushChallenge
    package let target: PushChallenge.Target

    package init(snapshot: OrgSnapshot, transaction: SignInTransaction, challenge: PushChallenge, target: PushChallenge.Target) {
        self.snapshot = snapshot
        self.transaction = transaction
        self.challenge = challenge
        self.target = target
    }

    /// The claims, signed with RS256: the only algorithm that every device reads.
    ///
    /// The times are the challenge's, so that the token that is pushed and the one that is fetched are one; `now` chooses the key.
    package func signed(now: Date) throws -> String {
        guard let key = snapshot.keyRing.signer(.rs256, now: now) else {
            throw StoreError(.damaged, "The organization has no signing key yet. Call maintainKeys at start, before the first request.")
        }
        return try key.sign(claims, header: ["typ": "okta-pushbind+jwt"])
    }

    private var claims: JSONValue {
        var claims: [String: JSONValue] = [
            "iss": .string(snapshot.origin), "aud": .string(transaction.applicationID), "jti": .string(target.id),
            "iat": .integer(challenge.createdAt.numericDate),
            "exp": .integer(challenge.expiresAt.numericDate),
            "nonce": .string(target.nonce), "transactionId": .string(target.id), "orgId": .string(snapshot.id), "method": "push",
            "methodEnrollmentId": .string(target.methodID), "authenticatorEnrollmentId": .string(target.enrollmentID), "ver": 0,
            "verificationUri": .string("\(snapshot.origin)/idp/myaccount/app-authenticators/challenge/\(target.id)/verify"),
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
        // Devices decode it: what is no percent-encoding would be lost to them.
        context["bindingMessage"] = challenge.bindingMessage.map { .string($0.replacing("%", with: "%25")) }
        context["numberChoices"] = challenge.numbers.map { JSONValue($0.choices) }
        return .object(context)
    }

    /// The payload of the push, and of an element of the list of what waits (device-authenticator reference 4.1 and 2.8).
    package static func payload(_ token: String) -> [String: JSONValue] { ["payloadVersion": "IDXv1", "challenge": .string(token)] }
}
