internal import Foundation
internal import IdentityCore
internal import JOSE

/// A device's signed answer to a challenge, with verified signature and bindings. The comments below number the steps of
/// Documentation/Protocol/Devices.md §3.7. The caller takes the first step (is the challenge open?) and the last step (the decision).
struct ChallengeResponse: Sendable {
    static let type = "okta-pushbind+jwt"
    /// The values of `amr` (RFC 8176) for the methods by which a user unlocks a key.
    private static let verificationMethods: Set<String> = ["face", "fpt", "pin"]

    let answer: PushAnswer
    /// The id of the token, which is valid once.
    let jwtID: String
    /// The expiry of the token. The used id need not be stored longer.
    let expiresAt: Date
    private let enrollmentID: String

    /// Verifies an answer.
    /// - Parameters:
    ///   - token: The member `challengeResponse`.
    ///   - target: The challenged device and method.
    ///   - issuer: The challenge's `iss`, which must be the answer's `aud`.
    /// - Throws: ``DeviceRefusal`` with `E0000001` and the failed check. The challenge stays open.
    init(
        verifying token: String, target: PushChallenge.Target, transactionType: PushMethod.TransactionType, issuer: String,
        enrollment: Enrollment, device: Device, now: Date
    ) throws(DeviceRefusal) {
        guard let method = enrollment.push, enrollment.id == target.enrollmentID, method.id == target.methodID else {
            throw Self.refused("The challenge was sent to another enrollment, or to keys that were replaced since.")
        }
        let verified: DeviceToken
        do {
            // Steps 2 to 5: type, key, algorithm, signature, issuer, subject, audience, times.
            verified = try DeviceToken(
                verifying: token,
                DeviceToken.Expectation(
                    types: [Self.type], keys: [method.proofOfPossession] + (method.userVerification.map { [$0] } ?? []),
                    issuer: enrollment.id, subject: enrollment.userID, audience: [issuer]), now: now)
        } catch {
            throw Self.refused(error.message, reason: "challenge response: \(error.code.rawValue)")
        }
        let claims = verified.claims
        // Step 3: The claimed role must be the role of the signing key.
        guard let role = method.key(id: verified.keyID)?.role, claims["keyType"]?.stringValue == role.rawValue else {
            throw Self.refused("The answer was signed with a key of another role than it says (keyType).")
        }
        // Step 4: The answer must be bound to this challenge and this method.
        guard claims["tx"]?.stringValue == target.id else { throw Self.refused("The answer is for another challenge (tx).") }
        guard claims["nonce"]?.stringValue == target.nonce else { throw Self.refused("The answer has another nonce.") }
        guard claims["methodEnrollmentId"]?.stringValue == method.id else {
            throw Self.refused("The answer is from another push method (methodEnrollmentId).")
        }
        try Self.check(claims["deviceSignals"], device)
        var answer = try Self.answer(claims["challengeResponseContext"], to: target, transactionType, role)
        // Only known values are kept, so that a device cannot write free text here.
        answer.verificationMethods = (claims["amr"]?.stringArrayValue ?? []).filter(Self.verificationMethods.contains)
        self.answer = answer
        jwtID = verified.jwtID
        expiresAt = verified.expiresAt
        enrollmentID = enrollment.id
    }

    /// Marks the id of the token as used. It is committed with the decision.
    var use: AssertionUse { DeviceToken.use(ofJWTID: jwtID, by: enrollmentID, until: expiresAt) }

    /// Step 6: checks the device signals, which are optional, but must not name another device.
    private static func check(_ signals: JSONValue?, _ device: Device) throws(DeviceRefusal) {
        guard let signals, !signals.isNull else { return }
        guard signals.objectValue != nil, signals["id"].map({ $0.stringValue == device.id }) ?? true,
            signals["clientInstanceId"].map({ $0.stringValue == device.clientInstanceID }) ?? true
        else { throw refused("The answer is from another device (deviceSignals).") }
    }

    /// Step 7: checks the context of the answer. Returns the answer, which is the input of step 8.
    private static func answer(
        _ context: JSONValue?, to target: PushChallenge.Target, _ transactionType: PushMethod.TransactionType, _ role: PushMethod.KeyRole
    ) throws(DeviceRefusal) -> PushAnswer {
        guard let context, context["transactionType"]?.stringValue == transactionType.rawValue else {
            throw refused("The answer is for another kind of transaction (challengeResponseContext.transactionType).")
        }
        guard let consent = context["userConsent"]?.stringValue.flatMap(PushAnswer.Consent.init(rawValue:)) else {
            throw refused("The answer has no known challengeResponseContext.userConsent.")
        }
        let number = context["selectedNumber"]
        guard number.map({ $0.isNull || $0.stringValue != nil }) ?? true, context["suspicious"].map({ $0.boolValue != nil }) ?? true
        else { throw refused("The answer's selectedNumber is no text, or suspicious is neither true nor false.") }
        return PushAnswer(
            targetID: target.id, consent: consent, keyRole: role, selectedNumber: number?.stringValue,
            isSuspicious: context["suspicious"]?.boolValue ?? false)
    }

    private static func refused(_ cause: String, reason: String? = nil) -> DeviceRefusal {
        .invalid("challengeResponse", [cause], reason: reason ?? "challenge response: " + cause)
    }
}
