internal import Foundation

/// What a sign-in asks of a person, as the store and the configuration are now.
extension StoreView {
    /// What a sign-in that begins asks of a person.
    func subject(
        _ user: User, of request: SignInRequest, snapshot: OrgSnapshot
    ) throws -> SignInTransaction.Subject {
        let enrollments = try usableEnrollments(of: user.id, snapshot: snapshot)
        func grants(of enrollments: [Enrollment]) -> [String] {
            Set(enrollments.flatMap(\.factor.secondFactorGrantTypes)).sorted().filter { grant in
                request.isHosted || request.application.grantTypes.contains(grant) && request.supportedGrantTypes?.contains(grant) ?? true
            }
        }
        return SignInTransaction.Subject(
            user: user, decision: snapshot.signOnDecision(for: user, application: request.application),
            passwordPolicy: snapshot.passwordPolicy, secondFactorGrantTypes: grants(of: enrollments),
            verifyingGrantTypes: grants(of: enrollments.filter { $0.push?.userVerification != nil }),
            demandsTwoFactors: enrollments.contains(where: \.isStrong) && !ScopeRequest.interactive.isDisjoint(with: request.scopes),
            canChangePassword: request.isHosted)
    }

    /// The same for a transaction that goes on; nil if its application is gone. The scopes are what the tokens will permit, where the
    /// transaction does not know it yet.
    func subject(
        _ user: User, of transaction: SignInTransaction, scopes: [String]? = nil, snapshot: OrgSnapshot
    ) throws -> SignInTransaction.Subject? {
        guard let application = snapshot.application(of: transaction) else { return nil }
        var request = SignInRequest(
            application: application, server: transaction.server, scopes: scopes ?? transaction.scopes,
            supportedGrantTypes: transaction.supportedGrantTypes, contextClasses: transaction.contextClasses)
        request.isHosted = transaction.hosted != nil || transaction.classic != nil
        var subject = try subject(user, of: request, snapshot: snapshot)
        // On pages; the classic API gets the way to it with its own states.
        subject.canChangePassword = transaction.hosted != nil
        return subject
    }

    /// What approved a transaction's challenge, if it still could: who lost a device, or distrusts it, has closed it since.
    func approver(of transaction: SignInTransaction, snapshot: OrgSnapshot) throws -> Enrollment? {
        guard let target = transaction.challenge?.approver, let id = transaction.userID else { return nil }
        return try usableEnrollments(of: id, snapshot: snapshot).first { $0.id == target.enrollmentID && $0.push?.id == target.methodID }
    }

    /// The factors of a user that can be presented now: enrolled, their device active, their authenticator on.
    func usableEnrollments(of userID: String, snapshot: OrgSnapshot) throws -> [Enrollment] {
        try records(.enrollment, where: "user", is: userID, limit: 100).map(Enrollment.init).filter { enrollment in
            guard enrollment.status == .active else { return false }
            guard let push = enrollment.push else { return true }
            guard snapshot.authenticator(push.authenticatorID)?.isActive == true else { return false }
            let device = try record(.device, id: push.deviceID).map(Device.init)
            return device?.status == .active
        }
    }
}
