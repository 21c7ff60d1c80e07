extension StoredUser {
    /// The writes that enrol a factor in place of others. The user is written too, so that two concurrent enrolments cause a conflict.
    func enrolling(_ enrollment: Enrollment, replacing others: [Enrollment] = [], reason: String) throws -> Writes {
        var writes = Writes(try others.map(\.removal) + enrollment.changes() + [renewing(enrollment.factor)])
        writes.log("user.mfa.factor.activate", .success, reason: reason, userID: value.id)
        return writes
    }
}

extension IdentityEngine {
    /// Gives a user a factor without the ceremony that sets it up: for tests and the sandbox.
    ///
    /// - Parameters:
    ///   - userID: The user.
    ///   - context: The request.
    ///   - enrolling: Returns the writes for the user and all enrolments of the user.
    /// - Returns: The user and the organization's name; `nil` if there is no such user.
    /// - Throws: ``StoreError`` if the store failed.
    func grantFactor(
        userID: String, context: RequestContext, enrolling: (StoredUser, [Enrollment]) throws -> Writes
    ) async throws -> (user: User, organizationName: String)? {
        try await transact(context) { [self] reading in
            try user(id: userID, in: reading.view).map {
                (user: $0, own: try reading.view.enrollments(of: userID), name: try reading.snapshot.organization.name)
            }
        } decide: { found in
            guard let found else { return Plan(nil) }
            return Plan((found.user.value, found.name), try enrolling(found.user, found.own))
        }
    }
}
