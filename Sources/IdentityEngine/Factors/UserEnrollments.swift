/// The factors that a user has enrolled beside the password, as one read finds them.
struct UserEnrollments: Sendable {
    /// Pending ones included, deleted ones not.
    var all: [Enrollment] = []
    /// The active factors. A push factor also needs an active device and an active authenticator.
    var usable: [Enrollment] = []

    /// The confirmed factors, suspended ones included.
    var held: [Enrollment] { all.filter(\.isHeld) }

    /// The enrolment that approved a transaction's challenge; `nil` if it can't be used any more.
    func approver(of transaction: SignInTransaction) -> Enrollment? {
        guard let target = transaction.challenge?.approver, transaction.userID != nil else { return nil }
        return usable.first { $0.id == target.enrollmentID && $0.push?.id == target.methodID }
    }
}

extension StoreView {
    /// The enrolments of a user: pending ones included, deleted ones not. The limit is more than a user can have.
    func enrollments(of userID: String) throws -> [Enrollment] {
        try records(.enrollment, where: "user", is: userID, limit: 200).map(Enrollment.init)
    }

    /// The enrolments of a user, with those that can be presented now.
    func enrollments(of userID: String, snapshot: OrgSnapshot) throws -> UserEnrollments {
        let all = try enrollments(of: userID)
        let usable = try all.filter { enrollment in
            guard enrollment.status == .active else { return false }
            guard let push = enrollment.push else { return true }
            guard snapshot.authenticator(push.authenticatorID)?.isActive == true else { return false }
            return try record(.device, id: push.deviceID).map(Device.init)?.status == .active
        }
        return UserEnrollments(all: all, usable: usable)
    }
}
