internal import Foundation
package import Store

/// What a sign-in asks of a person, as the store and the configuration are now.
extension StoreView {
    /// What a sign-in that begins asks of a person.
    package func subject(_ user: User, of request: SignInRequest, snapshot: OrgSnapshot) throws -> SignInTransaction.Subject {
        let enrollments = try enrollments(of: user.id, snapshot: snapshot)
        // What the pages have no field and no button for leads nowhere there.
        let presentable = request.isOnPages ? enrollments.usable.filter(\.isOnPages) : enrollments.usable
        func grants(of enrollments: [Enrollment]) -> [String] {
            Set(enrollments.flatMap(\.factor.secondFactorGrantTypes)).sorted().filter { grant in
                request.isHosted || request.application.grantTypes.contains(grant) && request.supportedGrantTypes?.contains(grant) ?? true
            }
        }
        return SignInTransaction.Subject(
            user: user, decision: snapshot.signOnDecision(for: user, application: request.application),
            passwordPolicy: snapshot.passwordPolicy, secondFactorGrantTypes: grants(of: presentable),
            verifyingGrantTypes: grants(of: presentable.filter { $0.push?.userVerification != nil }),
            demandsTwoFactors: enrollments.usable.contains(where: \.isStrong) && !ScopeRequest.interactive.isDisjoint(with: request.scopes),
            canChangePassword: request.isOnPages,
            // A user with a suspended factor, or with an authenticator that is off, cannot add another factor by the password alone.
            canEnroll: request.isOnPages && !enrollments.held.contains(where: \.isStrong) && !snapshot.enrollable(for: user).isEmpty,
            enrollments: enrollments)
    }

    /// The same for a transaction that goes on; nil if its application is gone. The scopes are what the tokens will permit, where the
    /// transaction does not know it yet. Without a request, the origin is the one that the last factor was proved from.
    package func subject(
        _ user: User, of transaction: SignInTransaction, scopes: [String]? = nil, snapshot: OrgSnapshot, from context: RequestContext?
    ) throws -> SignInTransaction.Subject? {
        guard let application = snapshot.application(of: transaction) else { return nil }
        var request = SignInRequest(
            application: application, server: transaction.server, scopes: scopes ?? transaction.scopes,
            supportedGrantTypes: transaction.supportedGrantTypes, contextClasses: transaction.contextClasses)
        request.isOnPages = transaction.hosted != nil
        request.isHosted = request.isOnPages || transaction.classic != nil
        var subject = try subject(user, of: request, snapshot: snapshot)
        subject.origin =
            try context.map { try origin(of: transaction, by: user.id, snapshot: snapshot, context: $0) } ?? transaction.origin
            ?? .unknown
        return try transaction.classic == nil ? subject : classic(subject, of: transaction, snapshot: snapshot)
    }

    /// Returns the origin of a request of a sign-in.
    ///
    /// - Parameters:
    ///   - transaction: The sign-in.
    ///   - userID: The user; for an unknown name its decoy, so that the work is the same.
    ///   - snapshot: The configuration.
    ///   - context: The request.
    /// - Returns: ``RequestOrigin/unknown`` if the application no longer exists.
    /// - Throws: ``StoreError`` if the store failed.
    func origin(
        of transaction: SignInTransaction, by userID: String, snapshot: OrgSnapshot, context: RequestContext
    ) throws -> RequestOrigin {
        guard let application = snapshot.application(of: transaction) else { return .unknown }
        guard let device = transaction.classic?.device else {
            return RequestOrigin(context, application: application, isOnPages: transaction.hosted != nil)
        }
        // Another host can plant a cookie, so on pages a device counts only if this server issued its token.
        let isBelieved =
            try transaction.classic?.renewsDevice != true || rememberedDevice(of: userID, device: device) != nil
        return RequestOrigin(context, application: application, device: isBelieved ? device : nil)
    }
}

extension Enrollment {
    /// Whether the pages have a button or a field for it.
    fileprivate var isOnPages: Bool { [.push, .totp, .sms, .voice, .email].contains(factor) }
}

/// What a sign-in is for: which application asks, where, for what, and what the client can do next.
package struct SignInRequest: Sendable {
    /// The application that the person signs in to.
    package var application: Application
    /// The authorization server's id; nil for the org server.
    package var server: String?
    /// The scopes that the tokens will have.
    package var scopes: [String]
    /// The grants that the client says it can perform next (`grant_types_supported`); nil if it did not say.
    package var supportedGrantTypes: [String]?
    /// The authentication contexts asked for (`acr_values`), in order of preference; unknown ones are ignored.
    package var contextClasses: [String]

    /// Whether the person signs in on the hosted pages or by the classic API, where any factor of theirs can be presented, whatever
    /// grants the client has.
    package var isHosted = false
    /// Whether it is on the hosted pages, where who has no second factor can set one up.
    package var isOnPages = false

    /// Describes what a sign-in is for.
    package init(
        application: Application, server: String?, scopes: [String], supportedGrantTypes: [String]? = nil, contextClasses: [String] = []
    ) {
        self.application = application
        self.server = server
        self.scopes = scopes
        self.supportedGrantTypes = supportedGrantTypes
        self.contextClasses = contextClasses
    }
}
