internal import Foundation
package import Store

/// The requirements of a sign-in for a user, by the stored data and the configuration.
extension StoreView {
    /// Returns the requirements of a new sign-in.
    package func subject(_ user: User, of request: SignInRequest, snapshot: OrgSnapshot) throws -> SignInTransaction.Subject {
        let enrollments = try enrollments(of: user.id, snapshot: snapshot)
        func presentable(_ enrollments: [Enrollment]) -> [FactorKind] {
            Set(enrollments.map(\.factor)).filter { request.presentable?.contains($0) ?? true }.sorted { $0.rawValue < $1.rawValue }
        }
        // A user with a suspended factor, or with an authenticator that is off, cannot add another factor by the password alone.
        let enrollable =
            request.rules.contains(.enrollsFactors) && !enrollments.protectsAccount
            ? snapshot.enrollable(for: user) : []
        return SignInTransaction.Subject(
            user: user, decision: snapshot.signOnDecision(for: user, application: request.application),
            passwordPolicy: snapshot.passwordPolicy, secondFactors: presentable(enrollments.usable),
            verifyingFactors: presentable(
                enrollments.usable.filter { $0.push?.userVerification != nil || $0.passkey?.verifiesUser == true }),
            demandsTwoFactors: enrollments.hasUsableProtection && !ScopeRequest.interactive.isDisjoint(with: request.scopes),
            canChangePassword: request.rules.contains(.changesPassword), warnsOfPassword: request.rules.contains(.warnsOfPassword),
            canEnroll: !enrollable.isEmpty, canEnrollPasskey: enrollable.contains(.passkey),
            canCreatePasskey: snapshot.canCreatePasskey(enrollments),
            setupOffers: request.rules.contains(.offersSetup) ? snapshot.setupOffers : [],
            enrollments: enrollments)
    }

    /// Returns the requirements of a sign-in in progress; `nil` if its application no longer exists. `scopes` are the scopes of the tokens,
    /// if the transaction does not have them yet. Without a `context`, the origin is the origin of the last proof.
    package func subject(
        _ user: User, of transaction: SignInTransaction, scopes: [String]? = nil, snapshot: OrgSnapshot, from context: RequestContext?
    ) throws -> SignInTransaction.Subject? {
        guard let application = snapshot.application(of: transaction) else { return nil }
        let request = SignInRequest(
            application: application, server: transaction.server, scopes: scopes ?? transaction.scopes,
            contextClasses: transaction.contextClasses, presentable: transaction.presentable, rules: transaction.rules)
        var subject = try subject(user, of: request, snapshot: snapshot)
        subject.origin =
            try context.map { context in
                // The same query as for all remembered devices, because the user is known.
                try origin(of: transaction, snapshot: snapshot, context: context) { device in
                    try rememberedDevices(of: user.id).contains { $0.device == device }
                }
            } ?? transaction.origin ?? .unknown
        return try transaction.isForOrganization ? forOrganization(subject, of: transaction, snapshot: snapshot) : subject
    }

    /// Returns the origin of a request before a proof; ``RequestOrigin/unknown`` if the application no longer exists. For an unknown name,
    /// `userID` is the decoy's, so that the work is the same.
    func origin(
        of transaction: SignInTransaction, by userID: String, snapshot: OrgSnapshot, context: RequestContext
    ) throws -> RequestOrigin {
        try origin(of: transaction, snapshot: snapshot, context: context) { try rememberedDevice(of: userID, device: $0) != nil }
    }

    /// - Parameter isRemembered: Whether the account remembers the device with a token digest.
    private func origin(
        of transaction: SignInTransaction, snapshot: OrgSnapshot, context: RequestContext, isRemembered: ([UInt8]) throws -> Bool
    ) throws -> RequestOrigin {
        guard let application = snapshot.application(of: transaction) else { return .unknown }
        guard let device = transaction.presentedDevice else {
            return RequestOrigin(context, application: application, isOnPages: transaction.rules.contains(.isInBrowser))
        }
        // Another host can plant a cookie, so on pages a device counts only if this server issued its token.
        let isBelieved = try !device.mustBeIssued || isRemembered(device.digest)
        return RequestOrigin(context, application: application, device: isBelieved ? device.digest : nil)
    }
}

/// The application, scopes and rules of a sign-in, and the factors that the client can present.
package struct SignInRequest: Sendable {
    package var application: Application
    /// The id of the authorization server; `nil` for the org server.
    package var server: String?
    /// The scopes of the tokens.
    package var scopes: [String]
    /// The requested `acr_values`, in order of preference. Unknown values are ignored.
    package var contextClasses: [String]
    /// The factors that the client can present after the first one; `nil` for every factor of the user.
    package var presentable: Set<FactorKind>?
    package var rules: DoorRules

    package init(
        application: Application, server: String?, scopes: [String], contextClasses: [String] = [],
        presentable: Set<FactorKind>? = nil, rules: DoorRules = []
    ) {
        (self.application, self.server, self.scopes, self.contextClasses) = (application, server, scopes, contextClasses)
        (self.presentable, self.rules) = (presentable, rules)
    }
}
