internal import Foundation
internal import IdentityCore
internal import JOSE
internal import Store

/// The writes and the response of an enrollment. Its initializer makes every check of Documentation/Protocol/Devices.md §2.5.4 in one view
/// of the store, and throws ``DeviceRefusal``.
struct EnrollmentPlan: Sendable {
    private let enrollment: Enrollment
    private let device: Device
    private let attestation: AssertionUse?
    private let isReplacement: Bool
    /// The change that continues the waiting sign-in; `nil` if no sign-in waits.
    private let signIn: Change?
    let answer: JSONValue

    init(request: EnrollmentRequest, caller: DeviceCaller, access: DeviceAccess, random: any RandomSource) throws {
        guard caller.grant != nil else { throw EnrollmentPermission.noSignIn }
        guard
            let authenticator = access.snapshot.authenticators.first(where: { $0.id == request.authenticatorID }), authenticator.isActive,
            authenticator.clientID == caller.clientID
        else { throw DeviceRefusal.notFound("authenticator", reason: "authenticator is unknown, off, or linked to another client") }
        if authenticator.userVerification == .required && request.userVerification == nil { throw DeviceRefusal.userVerificationRequired() }
        let (device, attestation) = try Self.device(of: request, access, random)
        let own = try access.view.enrollments(of: caller.user.id)
        let existing = own.filter { $0.push != nil }
        let replaced = existing.first { $0.push?.deviceID == device.id && $0.push?.authenticatorID == authenticator.id }
        if replaced?.status == .suspended { throw DeviceRefusal(.enrollmentSuspended) }
        let permission = try EnrollmentPermission(caller, access.directory, holding: own)
        // The instance key signs without user verification. So its attestation may replace only keys that also sign without user
        // verification.
        let keepsVerification =
            DeviceKey(stored: replaced?.push?.userVerification)?.thumbprint == request.userVerification?.thumbprint
        try permission.checkAddingKey(to: replaced, isAttested: attestation != nil && keepsVerification)
        if let awaited = permission.awaited, awaited.authenticator.id != authenticator.id {
            throw DeviceRefusal.notFound("authenticator", reason: "the ticket is for another authenticator")
        }
        guard replaced != nil || existing.count < Engine.mostEnrollments else {
            throw DeviceRefusal.invalid(
                "enrollment", ["The account has \(Engine.mostEnrollments) enrollments, which is the most. Delete one first."])
        }
        let method = PushMethod(
            id: try permission.awaited?.ticket.methodID ?? random.identifier(prefix: PushMethod.idPrefix),
            authenticatorID: authenticator.id,
            deviceID: device.id, pushToken: request.pushToken,
            tokenSetAt: access.now, environment: request.environment, transactionTypes: request.transactionTypes,
            answersNumbers: request.answersNumbers, proofOfPossession: request.proofOfPossession.json,
            userVerification: request.userVerification?.json)
        var enrollment =
            try replaced
            ?? Enrollment(
                id: random.identifier(prefix: "pfd"), userID: caller.user.id, method: .push(method), status: .active, createdAt: access.now)
        enrollment.method = .push(method)
        enrollment.updatedAt = access.now
        enrollment.grantID = caller.grant?.id
        signIn = try permission.awaited?.enrolled(enrollment, now: access.now)
        (self.enrollment, self.device, self.attestation) = (enrollment, device, attestation)
        isReplacement = replaced != nil
        answer = EnrollmentRepresentation(origin: access.snapshot.origin).enrollment(enrollment, method, device, of: caller.user)
    }

    var changes: [Change] {
        get throws { try [attestation?.change, signIn].compactMap { $0 } + [.put(device.record()), .put(enrollment.record())] }
    }

    var explanation: String {
        "\(enrollment.id) on \(device.id)" + (isReplacement ? ", replaced" : "") + (signIn == nil ? "" : ", by a code of a sign-in")
            + (device.version == 0 ? ", new device" : "")
    }

    /// Returns the device to write, and the single use of its attestation.
    private static func device(
        of request: EnrollmentRequest, _ access: DeviceAccess, _ random: any RandomSource
    ) throws -> (Device, AssertionUse?) {
        switch request.installation {
        case .new(let key):
            let device = Device(
                id: try random.identifier(prefix: "guo"), clientInstanceID: try random.identifier(prefix: "cli"),
                clientInstanceKey: key.json, profile: request.profile, status: .active, createdAt: access.now, updatedAt: access.now)
            return (device, nil)
        case .known(let id, let instanceID, let attestation):
            guard var device = try access.directory.device(id: id), device.clientInstanceID == instanceID else {
                throw DeviceRefusal.invalidToken("attestation: no such device")
            }
            let use = try use(of: attestation, by: device, access)
            switch device.status {
            case .deleted: throw DeviceRefusal(.deviceDeleted)
            case .suspended: throw DeviceRefusal(.deviceSuspended)
            case .active: break
            }
            try DeviceKey.checkDifferent([DeviceKey(stored: device.clientInstanceKey), request.proofOfPossession, request.userVerification])
            device.profile.merge(request.profile) { _, new in new }
            device.updatedAt = access.now
            device.unusedSince = nil
            return (device, use)
        }
    }

    /// Checks a client instance attestation (Documentation/Protocol/Devices.md §3.9), and returns its single use. Throws ``DeviceRefusal``.
    private static func use(of attestation: String, by device: Device, _ access: DeviceAccess) throws -> AssertionUse {
        let token: DeviceToken
        do {
            token = try DeviceToken(
                verifying: attestation,
                DeviceToken.Expectation(
                    types: ["", "JWT"], keys: [device.clientInstanceKey], issuer: device.clientInstanceID, subject: device.id,
                    audience: access.snapshot.deviceAudience), now: access.now)
        } catch {
            throw DeviceRefusal.invalidToken("attestation: \(error.code.rawValue)")
        }
        let use = token.use(by: device.clientInstanceID)
        guard try !use.isMade(in: access.view) else { throw DeviceRefusal.invalidToken("attestation: used") }
        return use
    }
}
