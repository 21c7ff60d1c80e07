internal import Foundation

/// An enrolment together with what it stands on: a device that is there, and perhaps an authenticator.
struct EnrolledDevice: Sendable {
    let enrollment: Enrollment
    let method: PushMethod
    let device: Device
    /// Nil if the organization no longer has it.
    let authenticator: PushAuthenticator?

    /// Whether the device can answer for the person: neither it nor the enrolment is suspended, and push is on.
    var isUsable: Bool { enrollment.status == .active && device.status == .active && authenticator?.isActive == true }

    /// Why it cannot be used or changed; nil if it can (device-authenticator reference 2.12).
    var refusal: DeviceRefusal? {
        // A device that was deleted took its enrolments along.
        if device.status == .deleted { return .deviceDeleted() }
        if enrollment.status == .deleted { return .enrollmentDeleted() }
        if device.status == .suspended { return .deviceSuspended() }
        return enrollment.status == .active ? nil : .enrollmentSuspended()
    }
}

/// Finds enrolments and devices in one view of the store.
struct DeviceDirectory {
    let snapshot: OrgSnapshot
    let view: any StoreView
    let now: Date

    private static let longestID = 100

    /// An enrolment of a device by its id, deleted ones among them as long as they are remembered; nil if there is none.
    func enrollment(id: String) throws -> EnrolledDevice? {
        guard id.utf8.count <= Self.longestID, let record = try view.record(.enrollment, id: id) else { return nil }
        return try enrolled(Enrollment(record))
    }

    /// An enrolment that is not deleted, by the id of its push method.
    func enrollment(methodID: String) throws -> EnrolledDevice? {
        guard methodID.utf8.count <= Self.longestID else { return nil }
        return try view.records(.enrollment, where: "method", is: methodID, limit: 1).first.flatMap { try enrolled(Enrollment($0)) }
    }

    /// Those of a device that are not deleted, at most `limit`.
    func enrollments(onDevice id: String, limit: Int) throws -> [Enrollment] {
        try view.records(.enrollment, where: "device", is: id, limit: limit).map(Enrollment.init)
    }

    /// A device by its id, deleted ones among them as long as they are remembered; nil if there is none.
    func device(id: String) throws -> Device? {
        guard id.utf8.count <= Self.longestID, let device = try view.record(.device, id: id).map(Device.init),
            device.expiresAt.map({ now < $0 }) ?? true
        else { return nil }
        return device
    }

    /// The parts of an enrolment; nil if it is none of a device, or its time is over.
    func enrolled(_ enrollment: Enrollment) throws -> EnrolledDevice? {
        guard enrollment.expiresAt.map({ now < $0 }) ?? true, let method = enrollment.push else { return nil }
        guard let device = try view.record(.device, id: method.deviceID).map(Device.init) else { return nil }
        return EnrolledDevice(
            enrollment: enrollment, method: method, device: device,
            authenticator: snapshot.authenticators.first { $0.id == method.authenticatorID })
    }
}
