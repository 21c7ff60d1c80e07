internal import Foundation
internal import IdentityCore

/// Who may change how a person proves who they are: register a key, take one away, remove a device.
///
/// A password that was stolen must never do it. So long as the person has another factor, the sign-in must have proved that too;
/// a key is registered only soon after the sign-in, and never by a device's own signature.
struct EnrollmentPermission: Sendable {
    /// The grants by which a person signs in here and now, not by what was given to them, or to a client, earlier or elsewhere.
    private static let interactive: Set<String> = [
        GrantType.password, "authorization_code", GrantType.otp, GrantType.oob,
        "urn:okta:params:oauth:grant-type:webauthn", GrantType.secondFactorOTP,
        GrantType.secondFactorOOB, "urn:okta:params:oauth:grant-type:mfa-webauthn", GrantType.enrollmentTicket,
    ]

    /// What a request is refused with that nobody signed in for.
    static let noSignIn = DeviceRefusal.accessDenied(
        "Registering a key needs an access token of a sign-in. Sign in again.", reason: "key: no interactive sign-in")

    let caller: DeviceCaller
    /// The factors that stand between a password and the account: all of the person's that could be used, or could be again.
    let factors: [Enrollment]
    let now: Date
    /// The sign-in on a page that waits for the caller's phone; nil for callers who signed in themselves, and once it does not wait.
    let awaited: AwaitedPhone?

    /// Collects what decides.
    ///
    /// - Parameters:
    ///   - caller: Who asks.
    ///   - directory: Where the person's factors are found.
    ///   - own: The user's enrolments, if they were read before.
    /// - Throws: ``StoreError``.
    init(_ caller: DeviceCaller, _ directory: DeviceDirectory, holding own: [Enrollment]? = nil) throws {
        self.caller = caller
        now = directory.now
        awaited = try caller.grant.flatMap { try Self.awaited(by: $0, directory) }
        factors = try directory.factors(among: own ?? directory.view.enrollments(of: caller.user.id))
    }

    /// The sign-in whose ticket led to a grant, as long as it waits for what that enrols.
    private static func awaited(by grant: Grant, _ directory: DeviceDirectory) throws -> AwaitedPhone? {
        guard grant.grantType == GrantType.enrollmentTicket, let id = grant.signInID,
            let awaited = try directory.view.awaitedPhone(signIn: id, snapshot: directory.snapshot, now: directory.now),
            awaited.ticket.grantID == grant.id, awaited.user.value.id == grant.userID
        else { return nil }
        return awaited
    }

    /// Checks whether the caller may register a key.
    ///
    /// - Parameters:
    ///   - enrollment: The enrolment that the key is for; nil for a new one.
    ///   - isAttested: Whether the device attested itself in this request and its user verification key stays unchanged.
    /// - Throws: ``DeviceRefusal`` with `E0000006` that says how to sign in.
    func checkAddingKey(to enrollment: Enrollment?, isAttested: Bool = false) throws(DeviceRefusal) {
        try checkSignIn()
        try checkFactors(except: isAttested ? enrollment : nil, target: enrollment)
    }

    /// Checks whether the caller may take away a key or an enrolment.
    ///
    /// - Parameters:
    ///   - enrollment: What it is taken from.
    ///   - role: The role of the key that must have signed, if the device signed the request; nil for any of its keys.
    /// - Throws: ``DeviceRefusal`` with `E0000006` that says how to sign in.
    func checkTaking(from enrollment: Enrollment, signedBy role: PushMethod.KeyRole? = nil) throws(DeviceRefusal) {
        if caller.grant == nil {
            guard role == nil || caller.keyRole == role else {
                throw .accessDenied(
                    "The key is removed by its own signature, or after a sign-in. Sign in again.", reason: "key: signed by another key")
            }
        } else {
            // As for adding: whoever takes the last factor away could add one of their own by a password.
            try checkSignIn()
            try checkFactors(except: nil, target: enrollment)
        }
    }

    /// Somebody signed in for this, a moment ago.
    private func checkSignIn() throws(DeviceRefusal) {
        guard let grant = caller.grant, Self.interactive.contains(grant.grantType), let time = grant.authentication?.time else {
            throw Self.noSignIn
        }
        guard grant.grantType != GrantType.enrollmentTicket || awaited != nil else {
            throw .accessDenied(
                "The sign-in that showed the code does not wait for this device any more. Let its page show another.",
                reason: "key: the sign-in of the ticket does not wait")
        }
        guard now.timeIntervalSince1970 - Double(time) <= Enrollment.freshness else {
            throw .accessDenied(
                "The sign-in is longer ago than \(Int(Enrollment.freshness / 60)) minutes. Sign in again.",
                reason: "key: sign-in is too old")
        }
    }

    private func checkFactors(except excepted: Enrollment?, target: Enrollment?) throws(DeviceRefusal) {
        let others = factors.filter { factor in
            // What this same sign-in has enrolled does not stand in the way of its own completion, or of its end.
            let isOwn = factor.id == target?.id && factor.grantID != nil && factor.grantID == caller.grant?.id
            return factor.id != excepted?.id && !isOwn
        }
        guard others.isEmpty || caller.grant?.authentication?.methods.contains("mfa") == true else {
            throw .accessDenied(
                "Another factor is enrolled for this account. Sign in again with it, then try once more.",
                reason: "second factor is not proved")
        }
    }
}
