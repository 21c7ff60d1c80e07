internal import Foundation
internal import IdentityCore
internal import JOSE

/// A device's signed answer to a challenge, whose signature and bindings were found good (device-authenticator reference 3.7).
///
/// Pure. The steps carry the numbers of the reference's server verification order; the first and the last, whether the challenge
/// is open and what the answer decides, are its caller's.
struct ChallengeResponse: Sendable {
    static let type = "okta-pushbind+jwt"
    /// How a person unlocks a key, as `amr` has it (RFC 8176).
    private static let verificationMethods: Set<String> = ["face", "fpt", "pin"]

    /// What it says.
    let answer: PushAnswer
    /// Its id, good once.
    let jwtID: String
    /// When its id can be forgotten.
    let expiresAt: Date
    private let enrollmentID: String

    /// Checks an answer.
    ///
    /// - Parameters:
    ///   - token: The member `challengeResponse`.
    ///   - target: What the device was asked.
    ///   - transactionType: What the challenge was for.
    ///   - issuer: The challenge's `iss`, which the answer has as its `aud`.
    ///   - enrollment: The enrolment that the challenge was sent to.
    ///   - device: The enrolment's device.
    ///   - now: When the answer arrived.
    /// - Throws: ``DeviceRefusal`` with `E0000001` that says which check failed; the challenge stays as it is.
    init(
        verifying token: String, target: PushChallenge.Target, transactionType: PushMethod.TransactionType, issuer: String,
        enrollment: Enrollment, device: Device, now: Date
    ) throws(DeviceRefusal) {
        guard let method = enrollment.push, enrollment.id == target.enrollmentID, method.id == target.methodID else {
            throw Self.refused("The challenge was sent to another enrollment, or to keys that were replaced since.")
        }
        let verified: DeviceToken
        do {
            // 2 to 5: type, key, algorithm, signature, issuer, subject, audience, times.
            verified = try DeviceToken(
                verifying: token,
                DeviceToken.Expectation(
                    types: [Self.type], keys: [method.proofOfPossession] + (method.userVerification.map { [$0] } ?? []),
                    issuer: enrollment.id, subject: enrollment.userID, audience: [issuer]), now: now)
        } catch {
            throw Self.refused(error.message, reason: "challenge response: \(error.code.rawValue)")
        }
        let claims = verified.claims
        // 3: the role that the answer claims is the role of the key that signed it.
        guard let role = method.key(id: verified.keyID)?.role, claims["keyType"]?.stringValue == role.rawValue else {
            throw Self.refused("The answer was signed with a key of another role than it says (keyType).")
        }
        // 4: bound to this challenge and this method.
        guard claims["tx"]?.stringValue == target.id else { throw Self.refused("The answer is for another challenge (tx).") }
        guard claims["nonce"]?.stringValue == target.nonce else { throw Self.refused("The answer has another nonce.") }
        guard claims["methodEnrollmentId"]?.stringValue == method.id else {
            throw Self.refused("The answer is from another push method (methodEnrollmentId).")
        }
        try Self.check(claims["deviceSignals"], device)
        var answer = try Self.answer(claims["challengeResponseContext"], to: target, transactionType, role)
        // Only what the typed values of clients know; more than a few would be no device's own words.
        answer.verificationMethods = (claims["amr"]?.stringArrayValue ?? []).filter(Self.verificationMethods.contains)
        self.answer = answer
        jwtID = verified.jwtID
        expiresAt = verified.expiresAt
        enrollmentID = enrollment.id
    }

    /// Its use, to be committed with what the answer decides.
    var use: AssertionUse { DeviceToken.use(ofJWTID: jwtID, by: enrollmentID, until: expiresAt) }

    /// 6: what a device says of itself may be left out, but not be another's.
    private static func check(_ signals: JSONValue?, _ device: Device) throws(DeviceRefusal) {
        guard let signals, !signals.isNull else { return }
        guard signals.objectValue != nil, signals["id"].map({ $0.stringValue == device.id }) ?? true,
            signals["clientInstanceId"].map({ $0.stringValue == device.clientInstanceID }) ?? true
        else { throw refused("The answer is from another device (deviceSignals).") }
    }

    /// 7, and what 8 decides by.
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
