package import Foundation
internal import JOSE

/// A push to one device. Sending may fail; the device can still fetch pending challenges.
package struct PushMessage: Sendable {
    /// The id of the enrollment to which the push token belongs.
    package var enrollmentID: String
    /// The push token in lower-case hexadecimal.
    package var pushToken: String
    /// Whether the token belongs to the development environment.
    package var isDevelopment: Bool
    /// The credentials for the push gateway.
    package var credentials: PushAuthenticator.Credentials
    /// The payload: JSON of at most 4,096 bytes.
    package var payload: [UInt8]
    /// The time after which the gateway may discard the push.
    package var expiresAt: Date
    /// The id of the challenge target: a repeated push replaces the earlier push on the screen.
    package var collapseID: String

    /// The maximum size that Apple's gateways accept, in bytes.
    static let longestPayload = 4_096
}

extension PushMessage {
    /// Returns the pushes of a challenge, one for each device with a valid push token. Throws ``StoreError`` if the organization has no
    /// signing key.
    static func all(
        of challenge: PushChallenge, in transaction: SignInTransaction, to enrollments: [Enrollment], snapshot: OrgSnapshot, now: Date
    ) throws -> [PushMessage] {
        try challenge.targets.compactMap { target in
            guard let push = enrollments.first(where: { $0.id == target.enrollmentID })?.push, !push.pushToken.isEmpty, !push.isTokenDead,
                let credentials = snapshot.authenticator(push.authenticatorID)?.credentials, credentials.privateKey != nil
            else { return nil }
            let token = try ChallengeToken(snapshot: snapshot, transaction: transaction, challenge: challenge, target: target)
                .signed(now: now)
            let alert = Self.alert(challenge, organization: snapshot.organization.name)
            let asksToUnlock = target.userVerification != .discouraged && push.userVerification != nil
            var payload = ChallengeToken.payload(token)
            payload["aps"] = [
                "alert": alert, "sound": "default", "interruption-level": "time-sensitive",
                "category": asksToUnlock ? "OKTA_PUSH_UV_CHALLENGE" : "OKTA_PUSH_CHALLENGE",
            ]
            return PushMessage(
                enrollmentID: target.enrollmentID, pushToken: push.pushToken, isDevelopment: push.environment == .development,
                credentials: credentials, payload: JSONValue.object(payload).serialized(), expiresAt: challenge.expiresAt,
                collapseID: target.id)
        }
    }

    private static func alert(_ challenge: PushChallenge, organization: String) -> JSONValue {
        let question =
            challenge.transactionType == .ciba
            ? "\(challenge.origin.applicationName) asks you to confirm something."
            : "Did you just try to sign in to \(challenge.origin.applicationName)?"
        return ["title": .string(String(organization.prefix(60))), "body": .string(question)]
    }
}

extension PushMessage: Redacted {
    /// Contains the enrollment id only, not the push token or the challenge.
    package var description: String { "PushMessage(\(enrollmentID))" }
}
