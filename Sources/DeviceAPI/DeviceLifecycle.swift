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
    /// Whether the device answers back-channel requests.
    package var answersCIBA: Bool
    /// `active`, or `suspended` if the enrollment or its device is suspended.
    package var status: String
    package var createdAt: Date
}

extension Engine {
    /// Returns a user's enrollments that are not deleted, in the order of their ids; empty for an unknown user.
    package func deviceEnrollments(ofUser userID: String) async throws -> [DeviceEnrollmentSummary] {
        try await store.read { [self] view in
            // The time matters only for deleted enrollments, which are left out here.
            let directory = DeviceDirectory(snapshot: try snapshot(view), view: view, now: .distantPast)
            return try directory.view.enrollments(of: userID).compactMap { try directory.enrolled($0).map(DeviceEnrollmentSummary.init) }
        }
    }

    /// Marks a push token as unregistered at the gateway. No push is sent until the app registers a new token. The enrollment stays, and
    /// the device can still fetch its open challenges (Documentation/Protocol/Devices.md §9.3).
    /// - Parameters:
    ///   - token: The token to which the push was sent. If the enrollment has another token, nothing changes.
    ///   - since: The time at which the token became invalid, as the gateway reports it; `nil` if unknown. If the token was registered
    ///     later, nothing changes.
    package func pushTokenDied(enrollmentID: String, token: String, since: Date?, context: RequestContext) async throws {
        try await changeEnrollment(enrollmentID, type: "device.push_token.died", context: context) { enrollment in
            guard let method = enrollment.push, method.pushToken == token, !method.isTokenDead else { return false }
            if let since, let set = method.tokenSetAt, set > since { return false }
            enrollment.push?.isTokenDead = true
            return true
        }
    }

    /// Suspends or unsuspends an enrollment. Returns `false` if the enrollment does not exist or its status does not change.
    @discardableResult
    package func suspendEnrollment(_ id: String, _ isSuspended: Bool = true, context: RequestContext) async throws -> Bool {
        let type = isSuspended ? "device.enrollment.suspend" : "device.enrollment.unsuspend"
        return try await changeEnrollment(id, type: type, context: context) { enrollment in
            guard enrollment.status == (isSuspended ? .active : .suspended) else { return false }
            enrollment.status = isSuspended ? .suspended : .active
            return true
        }
    }

    /// Suspends or unsuspends a device with all its enrollments. Returns `false` if the device does not exist or its status does not
    /// change.
    @discardableResult
    package func suspendDevice(_ id: String, _ isSuspended: Bool = true, context: RequestContext) async throws -> Bool {
        try await changeDevice(id, type: isSuspended ? "device.lifecycle.suspend" : "device.lifecycle.unsuspend", context: context) {
            device in
            guard device.status == (isSuspended ? .active : .suspended) else { return false }
            device.status = isSuspended ? .suspended : .active
            return true
        }
    }

    /// Deletes a device and all its enrollments permanently. The store keeps the deleted records for 30 days. Returns `false` if the device
    /// does not exist or is already deleted.
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
