package import Foundation
package import IdentityCore
internal import Store

/// An enrolled device, as shown to users and administrators.
package struct DeviceEnrollmentSummary: Sendable, Equatable {
    package var id: String
    /// The authenticator's name; its id if the organization no longer has it.
    package var authenticatorName: String
    /// The name that the device reported, unverified.
    package var deviceName: String
    package var hasUserVerification: Bool
    /// Whether it answers backchannel requests.
    package var answersCIBA: Bool
    /// `active`, or `suspended` if the enrolment or its device is suspended.
    package var status: String
    package var createdAt: Date
}

extension Engine {
    /// Returns a user's enrolments that are not deleted, in the order of their ids; none for an unknown user.
    package func deviceEnrollments(ofUser userID: String) async throws -> [DeviceEnrollmentSummary] {
        try await store.read { [self] view in
            // The time matters only for deleted enrolments, which are left out here.
            let directory = DeviceDirectory(snapshot: try snapshot(view), view: view, now: .distantPast)
            return try directory.view.enrollments(of: userID).compactMap { try directory.enrolled($0).map(DeviceEnrollmentSummary.init) }
        }
    }

    /// Marks a push token as unregistered at the gateway. Nothing is sent to it until the app registers a new one. The enrolment stays, and
    /// the device can still fetch its open challenges (Documentation/Protocol/Devices.md §9.3).
    /// - Parameters:
    ///   - token: The token that was used. A newer token of the enrolment is left unchanged.
    ///   - since: The time from the gateway at which the token became invalid; `nil` if unknown. A token that was registered later is left
    ///     unchanged.
    package func pushTokenDied(enrollmentID: String, token: String, since: Date?, context: RequestContext) async throws {
        try await changeEnrollment(enrollmentID, type: "device.push_token.died", context: context) { enrollment in
            guard let method = enrollment.push, method.pushToken == token, !method.isTokenDead else { return false }
            if let since, let set = method.tokenSetAt, set > since { return false }
            enrollment.push?.isTokenDead = true
            return true
        }
    }

    /// Suspends or unsuspends an enrolment. Returns `false` if the enrolment does not exist or its status does not change.
    @discardableResult
    package func suspendEnrollment(_ id: String, _ isSuspended: Bool = true, context: RequestContext) async throws -> Bool {
        let type = isSuspended ? "device.enrollment.suspend" : "device.enrollment.unsuspend"
        return try await changeEnrollment(id, type: type, context: context) { enrollment in
            guard enrollment.status == (isSuspended ? .active : .suspended) else { return false }
            enrollment.status = isSuspended ? .suspended : .active
            return true
        }
    }

    /// Suspends or unsuspends a device with all its enrolments. Returns `false` if the device does not exist or its status does not change.
    @discardableResult
    package func suspendDevice(_ id: String, _ isSuspended: Bool = true, context: RequestContext) async throws -> Bool {
        try await changeDevice(id, type: isSuspended ? "device.lifecycle.suspend" : "device.lifecycle.unsuspend", context: context) {
            device in
            guard device.status == (isSuspended ? .active : .suspended) else { return false }
            device.status = isSuspended ? .suspended : .active
            return true
        }
    }

    /// Deletes a device and all its enrolments permanently; they are remembered as deleted for 30 days. Returns `false` if there is no such
    /// device.
    @discardableResult
    package func deleteDevice(_ id: String, context: RequestContext) async throws -> Bool {
        try await changeDevice(id, type: "device.lifecycle.delete", context: context, takesEnrollmentsAlong: true) { device in
            guard device.status != .deleted else { return false }
            device.status = .deleted
            device.unusedSince = context.now
            return true
        }
    }

    @discardableResult
    private func changeEnrollment(
        _ id: String, type: String, context: RequestContext, _ body: (inout Enrollment) -> Bool
    ) async throws -> Bool {
        try await transact(context) { reading in
            try reading.view.record(.enrollment, id: id).map(Enrollment.init)
        } decide: { found in
            guard var enrollment = found, body(&enrollment) else { return Plan(false) }
            enrollment.updatedAt = context.now
            var writes = Writes([.put(try enrollment.record())])
            writes.log(type, .success, reason: id, userID: enrollment.userID)
            return Plan(true, writes)
        }
    }

    private func changeDevice(
        _ id: String, type: String, context: RequestContext, takesEnrollmentsAlong: Bool = false, _ body: (inout Device) -> Bool
    ) async throws -> Bool {
        try await transact(context) { reading in
            let enrollments = takesEnrollmentsAlong ? try reading.view.records(.enrollment, where: "device", is: id, limit: .max) : []
            return (try reading.view.record(.device, id: id).map(Device.init), try enrollments.map(Enrollment.init))
        } decide: { (found: Device?, enrollments: [Enrollment]) in
            guard var device = found, body(&device) else { return Plan(false) }
            device.updatedAt = context.now
            let deleted = try enrollments.map { Change.put(try $0.deleted(at: context.now).record()) }
            var writes = Writes([.put(try device.record())] + deleted)
            writes.log(type, .success, reason: id)
            return Plan(true, writes)
        }
    }
}

extension DeviceEnrollmentSummary {
    fileprivate init(_ enrolled: EnrolledDevice) {
        let isOpen = enrolled.enrollment.status == .active && enrolled.device.status == .active
        self.init(
            id: enrolled.enrollment.id, authenticatorName: enrolled.authenticator?.name ?? enrolled.method.authenticatorID,
            deviceName: enrolled.device.profile["displayName"] ?? "", hasUserVerification: enrolled.method.userVerification != nil,
            answersCIBA: enrolled.method.transactionTypes.contains(.ciba), status: isOpen ? "active" : "suspended",
            createdAt: enrolled.enrollment.createdAt)
    }
}
