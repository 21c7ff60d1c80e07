package import Foundation
package import Store

/// A device enrollment with its device, and with its authenticator if the organization still has it.
package struct EnrolledDevice: Sendable {
    package let enrollment: Enrollment
    package let method: PushMethod
    package let device: Device
    /// The authenticator of the enrollment; `nil` if the organization no longer has it.
    package let authenticator: PushAuthenticator?

    /// Whether the device can respond for the user: device and enrollment are active, and the authenticator is enabled.
    package var isUsable: Bool { enrollment.status == .active && device.status == .active && authenticator?.isActive == true }

    /// The reason why the device cannot be used or changed; `nil` for an active device with an active enrollment.
    package var closure: Closure? {
        // Deleting a device deletes its enrollments.
        if device.status == .deleted { return .deviceDeleted }
        if enrollment.status == .deleted { return .enrollmentDeleted }
        if device.status == .suspended { return .deviceSuspended }
        return enrollment.status == .active ? nil : .enrollmentSuspended
    }

    /// The state of an account, device or enrollment that prevents its use.
    package enum Closure: Sendable, Equatable {
        case deviceDeleted, deviceSuspended, enrollmentDeleted, enrollmentSuspended
        /// An account that is suspended or staged.
        case accountSuspended(User.Status)
        /// A deactivated account; `isRemoved` means that the account no longer exists.
        case accountDeleted(isRemoved: Bool)

        /// Creates the closure of an account; `nil` for an active one.
        package init?(of user: User?) {
            switch user?.status {
            case .active: return nil
            case .suspended?: self = .accountSuspended(.suspended)
            case .staged?: self = .accountSuspended(.staged)
            case .deactivated, nil: self = .accountDeleted(isRemoved: user == nil)
            }
        }

        /// The reason for the system log.
        package var reason: String {
            switch self {
            case .deviceDeleted: "device is deleted"
            case .deviceSuspended: "device is suspended"
            case .enrollmentDeleted: "enrollment is deleted"
            case .enrollmentSuspended: "enrollment is suspended"
            case .accountSuspended(let status): "user is \(status.rawValue)"
            case .accountDeleted(let isRemoved): isRemoved ? "user is removed" : "user is deactivated"
            }
        }
    }
}

/// Finds enrollments and devices in one view of the store.
package struct DeviceDirectory {
    package let snapshot: OrgSnapshot
    package let view: any StoreView
    package let now: Date

    package init(snapshot: OrgSnapshot, view: any StoreView, now: Date) {
        (self.snapshot, self.view, self.now) = (snapshot, view, now)
    }

    private static let longestID = 100

    /// Returns the device enrollment with an id; `nil` if no enrollment has the id. A deleted enrollment is found during its retention
    /// time.
    package func enrollment(id: String) throws -> EnrolledDevice? {
        guard id.utf8.count <= Self.longestID, let record = try view.record(.enrollment, id: id) else { return nil }
        return try enrolled(Enrollment(record))
    }

    /// Returns the enrollment with a push method id, unless it is deleted.
    package func enrollment(methodID: String) throws -> EnrolledDevice? {
        guard methodID.utf8.count <= Self.longestID else { return nil }
        return try view.records(.enrollment, where: "method", is: methodID, limit: 1).first.flatMap { try enrolled(Enrollment($0)) }
    }

    /// Returns a device's enrollments that are not deleted, at most `limit`.
    package func enrollments(onDevice id: String, limit: Int) throws -> [Enrollment] {
        try view.records(.enrollment, where: "device", is: id, limit: limit).map(Enrollment.init)
    }

    /// Returns the device with an id, including a deleted one during its retention time.
    package func device(id: String) throws -> Device? {
        guard id.utf8.count <= Self.longestID, let device = try view.record(.device, id: id).map(Device.init),
            device.expiresAt.map({ now < $0 }) ?? true
        else { return nil }
        return device
    }

    /// Returns the enrollment with its device; `nil` if the enrollment is not a device enrollment or has expired, or if its device is
    /// missing.
    package func enrolled(_ enrollment: Enrollment) throws -> EnrolledDevice? {
        guard enrollment.expiresAt.map({ now < $0 }) ?? true, let method = enrollment.push else { return nil }
        guard let device = try view.record(.device, id: method.deviceID).map(Device.init) else { return nil }
        return EnrolledDevice(
            enrollment: enrollment, method: method, device: device,
            authenticator: snapshot.authenticators.first { $0.id == method.authenticatorID })
    }

    /// Returns the enrollments that protect the account in addition to the password.
    package func factors(among own: [Enrollment]) throws -> [Enrollment] {
        try own.filter { enrollment in
            // A suspended factor counts: suspending a factor must not lower the requirements.
            if let codes = enrollment.savedCodes {
                return enrollment.isHeld && codes.remaining > 0 && snapshot.organization.savedCodes != nil
            }
            guard enrollment.isHeld, enrollment.isStrong else { return false }
            guard enrollment.push != nil else { return true }
            guard let enrolled = try enrolled(enrollment) else { return false }
            return enrolled.device.status != .deleted && enrolled.authenticator?.isActive == true
        }
    }

    /// Returns the changes that delete push enrollments. A device that loses its last enrollment counts as unused.
    package func deleting(_ enrollments: [Enrollment]) throws -> [Change] {
        let ids = Set(enrollments.map(\.id))
        let devices = try Set(enrollments.compactMap(\.push?.deviceID)).sorted().compactMap { id -> Change? in
            guard var device = try view.record(.device, id: id).map(Device.init) else { return nil }
            let others = try self.enrollments(onDevice: id, limit: ids.count + 1).filter { !ids.contains($0.id) }
            if others.isEmpty { device.unusedSince = now }
            return .put(try device.record())
        }
        return try enrollments.map { .put(try $0.deleted(at: now).record()) } + devices
    }
}

extension Enrollment {
    /// Returns the enrollment as deleted. The enrollment keeps its public keys, so that the device can still ask for its state.
    package func deleted(at now: Date) -> Enrollment {
        var deleted = self
        deleted.status = .deleted
        deleted.deletedAt = now
        deleted.updatedAt = now
        deleted.push?.pushToken = ""
        return deleted
    }
}
