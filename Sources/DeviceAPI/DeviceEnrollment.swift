internal import Foundation
package import IdentityCore
package import JOSE
internal import Store

extension Engine {
    /// The maximum number of device enrollments of a user. Other factors do not count.
    static let mostEnrollments = 20

    /// Returns the metadata of the active authenticators that are linked to a client (Documentation/Protocol/Devices.md §2.4). The array is
    /// empty for a client without an authenticator.
    /// - Parameters:
    ///   - clientID: The client; `nil` if the request names none, which is refused.
    ///   - authorization: A token with any of the device scopes.
    package func authenticatorConfiguration(
        clientID: String?, authorization: DeviceAuthorization, context: RequestContext
    ) async throws -> Result<JSONValue, DeviceRefusal> {
        try await answerDevice("device.authenticator.read", authorization, needing: DeviceScope.any, context: context) { access, _ in
            guard let clientID, !clientID.isEmpty else {
                throw DeviceRefusal.invalid("oauthClientId", ["The query needs oauthClientId, the app's client id."])
            }
            let snapshot = access.snapshot
            let representation = EnrollmentRepresentation(origin: snapshot.origin)
            let linked = snapshot.authenticators.filter { $0.isActive && $0.clientID == clientID }
            return Plan(.array(linked.map { representation.authenticator($0, organizationID: snapshot.id) }))
        }
    }

    /// Enrolls a device (Documentation/Protocol/Devices.md §2.5). An existing enrollment of the same user, device and authenticator is
    /// replaced, including its keys.
    /// - Parameter authorization: An access token with the scope `okta.myAccount.appAuthenticator.manage`, of the client that is linked to
    ///   the authenticator. The sign-in must be at most 15 minutes old, and must have proved a second factor if the user has one.
    /// - Returns: The enrollment, or a refusal: `E0000003`, `E0000001`, `E0000011`, `E0000006`, `E0000007`, `E0000158`, and the codes of
    ///   the lifecycle.
    package func enrollDevice(
        _ body: JSONValue, authorization: DeviceAuthorization, context: RequestContext
    ) async throws -> Result<JSONValue, DeviceRefusal> {
        let parsed = Result { () throws(DeviceRefusal) in try EnrollmentRequest(body) }
        let rows = (try? parsed.get())?.rows ?? DeviceRows()
        return try await answerDevice(
            "device.enrollment.create", authorization, needing: [DeviceScope.manage], rows: rows, context: context
        ) { [self] access, caller in
            let enrolling = try EnrollmentPlan(request: parsed.get(), caller: caller, access: access, random: environment.random)
            guard let user = try self.user(id: caller.user.id, in: access.view) else {
                throw DeviceRefusal.account(nil) ?? .invalidToken("user.removed")
            }
            // The user is written unchanged, so that two concurrent enrollments cause a version conflict.
            var writes = Writes(try enrolling.changes + [.put(user.record(holding: user.value))])
            writes.log(
                "device.enrollment.create", .success, reason: enrolling.explanation, userID: caller.user.id, clientID: caller.clientID)
            return Plan(enrolling.answer, writes)
        }
    }

    /// Changes an enrollment's push token, capabilities or user verification key by a merge patch (Documentation/Protocol/Devices.md §2.6).
    /// - Parameter authorization: A token that the device signed, or an access token with the scope `…manage`. Without keys in the patch,
    ///   `…maintenance.manage` is enough. A new key must meet the rules of ``enrollDevice(_:authorization:context:)``.
    /// - Returns: The changed enrollment, or a refusal.
    package func updateDeviceEnrollment(
        id: String, patch: JSONValue, authorization: DeviceAuthorization, context: RequestContext
    ) async throws -> Result<JSONValue, DeviceRefusal> {
        let parsed = Result { () throws(DeviceRefusal) in try EnrollmentPatch(patch) }
        let scopes = (try? parsed.get())?.scopes ?? [DeviceScope.manage, DeviceScope.maintenanceManage]
        let rows = (try? parsed.get())?.rows(of: id) ?? DeviceRows(enrollmentID: id)
        return try await answerDevice("device.enrollment.update", authorization, needing: scopes, rows: rows, context: context) {
            access, caller in
            let enrolled = try access.enrollment(id: id, of: caller)
            let patch = try parsed.get()
            let changed = try enrolled.applying(patch, caller, access.directory)
            var writes = Writes()
            if !patch.names.isEmpty {
                writes += [.put(try changed.record())]
                writes.log(
                    "device.enrollment.update", .success, reason: "\(id): \(patch.names.joined(separator: ", "))", userID: caller.user.id,
                    clientID: caller.clientID)
            }
            let answer = EnrollmentRepresentation(origin: access.snapshot.origin)
                .enrollment(changed, changed.push ?? enrolled.method, enrolled.device, of: caller.user)
            return Plan(answer, writes)
        }
    }

    /// Deletes an enrollment (Documentation/Protocol/Devices.md §2.7). The store keeps the deleted enrollment for 30 days.
    /// - Parameter authorization: A token that the device signed, or an access token with the scope `…manage` of a recent sign-in that
    ///   proved a second factor. Otherwise an attacker with only the password could replace the phone.
    package func deleteDeviceEnrollment(
        id: String, authorization: DeviceAuthorization, context: RequestContext
    ) async throws -> Result<Void, DeviceRefusal> {
        // Two enrollments of the device show whether another one remains.
        let rows = DeviceRows(user: [.factors], enrollmentID: id, device: [.listed(.enrollment, where: "device", limit: 2)])
        return try await answerDevice(
            "device.enrollment.delete", authorization, needing: [DeviceScope.manage], rows: rows, context: context
        ) { access, caller in
            let enrolled = try access.enrollment(id: id, of: caller)
            try EnrollmentPermission(caller, access.directory).checkTaking(from: enrolled.enrollment)
            var writes = Writes(try access.directory.deleting([enrolled.enrollment]))
            writes.log("device.enrollment.delete", .success, reason: id, userID: caller.user.id, clientID: caller.clientID)
            return Plan((), writes)
        }
    }
}
