internal import Foundation
internal import IdentityCore
internal import JOSE

/// The rules for registering a key, removing a key, and removing a device. A stolen password must not be enough:
/// - If the user has another factor, the sign-in must have proved it.
/// - A key is registered only within a short time after the sign-in.
/// - A device's own signature cannot register a key.
struct EnrollmentPermission: Sendable {
    /// The grant types of an interactive sign-in.
    private static let interactive = Set(GrantType.all.filter(\.isInteractive).map(\.name))

    /// The refusal of a caller without an interactive sign-in.
    static let noSignIn = DeviceRefusal.accessDenied(
        "Registering a key needs an access token of a sign-in. Sign in again.", reason: "key: no interactive sign-in")

    let caller: DeviceCaller
    /// The user's factors, except the password, that can be used now or after a reactivation.
    let factors: [Enrollment]
    let now: Date
    /// The sign-in page that waits for the caller's phone; `nil` if the caller signed in itself, or if the page no longer waits.
    let awaited: AwaitedPhone?

    /// Reads the user's factors and the waiting sign-in. Pass `own` if the user's enrollments were already read.
    init(_ caller: DeviceCaller, _ directory: DeviceDirectory, holding own: [Enrollment]? = nil) throws {
        self.caller = caller
        now = directory.now
        awaited = try caller.grant.flatMap { try Self.awaited(by: $0, directory) }
        factors = try directory.factors(among: own ?? directory.view.enrollments(of: caller.user.id))
    }

    /// Returns the sign-in that issued the ticket of a grant; `nil` if the sign-in does not wait for an enrollment by this grant.
    private static func awaited(by grant: Grant, _ directory: DeviceDirectory) throws -> AwaitedPhone? {
        guard grant.grantType == GrantType.enrollmentTicket, let id = grant.signInID,
            let awaited = try directory.view.awaitedPhone(signIn: id, snapshot: directory.snapshot, now: directory.now),
            awaited.ticket.grantID == grant.id, awaited.user.value.id == grant.userID
        else { return nil }
        return awaited
    }

    /// Checks whether the caller may register a key. Throws `E0000006` with the required sign-in.
    /// - Parameters:
    ///   - enrollment: The enrollment that receives the key; `nil` for a new enrollment.
    ///   - isAttested: Whether the request carries the device's attestation and leaves its user verification key unchanged.
    func checkAddingKey(to enrollment: Enrollment?, isAttested: Bool = false) throws(DeviceRefusal) {
        try checkSignIn()
        try checkFactors(except: isAttested ? enrollment : nil, target: enrollment)
    }

    /// Checks whether the caller may remove a key or an enrollment. Throws `E0000006` with the required sign-in.
    /// - Parameters:
    ///   - enrollment: The enrollment, or the owner of the key.
    ///   - role: The role that the signing key must have if the device signed the request; `nil` for any role.
    func checkTaking(from enrollment: Enrollment, signedBy role: PushMethod.KeyRole? = nil) throws(DeviceRefusal) {
        if caller.grant == nil {
            guard role == nil || caller.keyRole == role else {
                throw .accessDenied(
                    "The key is removed by its own signature, or after a sign-in. Sign in again.", reason: "key: signed by another key")
            }
        } else {
            // The same rules as for adding a key: after removing the last factor, an attacker with the password could add a new one.
            try checkSignIn()
            try checkFactors(except: nil, target: enrollment)
        }
    }

    /// Requires a recent interactive sign-in.
    private func checkSignIn() throws(DeviceRefusal) {
        guard let grant = caller.grant, Self.interactive.contains(grant.grantType), let time = grant.authentication?.time else {
            throw Self.noSignIn
        }
        guard grant.grantType != GrantType.enrollmentTicket || awaited != nil else {
            throw .accessDenied(
                "The sign-in that showed the code does not wait for this device any more. Let its page show another.",
                reason: "key: the sign-in of the ticket does not wait")
        }
        guard Enrollment.isFresh(Date(clampingNumericDate: Double(time)), at: now) else {
            throw .accessDenied(
                "The sign-in is longer ago than \(Int(Enrollment.freshness / 60)) minutes. Sign in again.",
                reason: "key: sign-in is too old")
        }
    }

    private func checkFactors(except excepted: Enrollment?, target: Enrollment?) throws(DeviceRefusal) {
        let others = factors.filter { factor in
            // A factor that was enrolled in this sign-in does not count.
            let isOwn = factor.id == target?.id && factor.grantID != nil && factor.grantID == caller.grant?.id
            return factor.id != excepted?.id && !isOwn
        }
        guard others.isEmpty || caller.grant?.authentication?.methods.contains("mfa") == true else {
            throw .accessDenied(
                "Another factor is enrolled for this account. Sign in again with it, then try again.",
                reason: "second factor is not proved")
        }
    }
}
