internal import Foundation
package import IdentityCore
package import JOSE
internal import Store

extension Engine {
    /// Enrolments that a person can have at a time.
    static let mostEnrollments = 20

    /// The metadata of the authenticators that are linked to a client (device-authenticator reference 2.4).
    ///
    /// - Parameters:
    ///   - clientID: The client; nil if the request names none.
    ///   - authorization: What the request brought to say who sends it: any scope of the device endpoints.
    ///   - context: The request.
    /// - Returns: An array, empty for a client without one and for one whose push is off; or the refusal.
    /// - Throws: ``StoreError`` if the store failed.
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

    /// Enrols a device, or enrols it anew: the same person, device and authenticator replace what was there, keys and all
    /// (device-authenticator reference 2.5).
    ///
    /// - Parameters:
    ///   - body: The request's body.
    ///   - authorization: An access token with the scope `okta.myAccount.appAuthenticator.manage` of the client that is linked to the
    ///     authenticator, from a sign-in of the last 15 minutes that proved the person's second factor if they have one.
    ///   - context: The request.
    /// - Returns: The enrolment, or the refusal: `E0000003`, `E0000001`, `E0000011`, `E0000006`, `E0000007`, `E0000158`, and the
    ///   lifecycle's codes.
    /// - Throws: ``StoreError`` if the store failed; then nothing was enrolled.
    package func enrollDevice(
        _ body: JSONValue, authorization: DeviceAuthorization, context: RequestContext
    ) async throws -> Result<JSONValue, DeviceRefusal> {
        let parsed = Result { () throws(DeviceRefusal) in try EnrollmentRequest(body) }
        return try await answerDevice("device.enrollment.create", authorization, needing: [DeviceScope.manage], context: context) {
            [self] access, caller in
            let enrolling = try EnrollmentPlan(request: parsed.get(), caller: caller, access: access, random: environment.random)
            guard let user = try self.user(id: caller.user.id, in: access.view) else {
                throw DeviceRefusal.account(nil) ?? .invalidToken("user.removed")
            }
            // The user is written unchanged, so that two concurrent enrolments cause a version conflict.
            var writes = Writes(try enrolling.changes + [.put(user.record(holding: user.value))])
            writes.log(
                "device.enrollment.create", .success, reason: enrolling.explanation, userID: caller.user.id, clientID: caller.clientID)
            return Plan(enrolling.answer, writes)
        }
    }

    /// Changes an enrolment by a merge patch: push token, what is answered, user verification key (device-authenticator reference 2.6).
    ///
    /// - Parameters:
    ///   - id: The enrolment.
    ///   - patch: The request's body.
    ///   - authorization: An access token with the scope `…manage`; without keys in the patch `…maintenance.manage` will do. A key is
    ///     registered under the rules of ``enrollDevice(_:authorization:context:)``. Or a token that the device signed.
    ///   - context: The request.
    /// - Returns: The enrolment as it is now, or the refusal.
    /// - Throws: ``StoreError`` if the store failed; then nothing was changed.
    package func updateDeviceEnrollment(
        id: String, patch: JSONValue, authorization: DeviceAuthorization, context: RequestContext
    ) async throws -> Result<JSONValue, DeviceRefusal> {
        let parsed = Result { () throws(DeviceRefusal) in try EnrollmentPatch(patch) }
        let scopes = (try? parsed.get())?.scopes ?? [DeviceScope.manage, DeviceScope.maintenanceManage]
        return try await answerDevice("device.enrollment.update", authorization, needing: scopes, context: context) {
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

    /// Deletes an enrolment: it is sent nothing and answers nothing from now on, and is remembered as deleted for 30 days
    /// (device-authenticator reference 2.7).
    ///
    /// - Parameters:
    ///   - id: The enrolment.
    ///   - authorization: An access token with the scope `…manage`, of a fresh sign-in that proved the second factor; or a token that the
    ///     device signed. A password alone must not clear the way for another phone.
    ///   - context: The request.
    /// - Returns: Nothing, or the refusal.
    /// - Throws: ``StoreError`` if the store failed; then nothing was deleted.
    package func deleteDeviceEnrollment(
        id: String, authorization: DeviceAuthorization, context: RequestContext
    ) async throws -> Result<Void, DeviceRefusal> {
        try await answerDevice("device.enrollment.delete", authorization, needing: [DeviceScope.manage], context: context) {
            access, caller in
            let enrolled = try access.enrollment(id: id, of: caller)
            try EnrollmentPermission(caller, access.directory).checkTaking(from: enrolled.enrollment)
            var writes = Writes(try enrolled.deleting(access.directory))
            writes.log("device.enrollment.delete", .success, reason: id, userID: caller.user.id, clientID: caller.clientID)
            return Plan((), writes)
        }
    }
}
