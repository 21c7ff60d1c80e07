package import Foundation
package import Store

/// The rows of accounts and sign-ins, for the lookups of requests.
extension Lookup.Node {
    /// The user whom the parent record names, with all factors and their devices.
    package static var account: Self { .named(.user, byKey: "user", factors) }

    /// The factors of the parent user, with their devices.
    package static var factors: Self { .listed(.enrollment, where: "user", limit: Enrollment.listLimit, .named(.device, byKey: "device")) }

    /// The sign-ins of the user above that have a push challenge. The limits on pushes count them.
    package static var challenges: Self { .listed(.transaction, where: "challenged", limit: SignInTransaction.challengedLimit) }

    /// The remembered devices of the user above.
    package static var rememberedDevices: Self { .listed(.rememberedDevice, where: "user", limit: RememberedDevice.listLimit) }

    /// The sign-in of a secret, with its user, the user's factors and devices, and `more` rows of the user.
    package static func signIn(_ kind: TicketKind, secret: String, _ more: Self...) -> Self {
        .ticket(kind, TicketDigest(of: secret), .owner(account.appending(more)))
    }

    /// The session of a browser with its user and `more` rows of the user; empty if the browser has no session.
    package static func session(of browser: BrowserSecrets, _ more: Self...) -> [Self] {
        guard let secret = browser.session, BrowserSecrets.isPossible(secret) else { return [] }
        let user = Self.named(.user, byKey: "user").appending(more)
        return [.ticket(.session, TicketDigest(of: secret), .owner(user))]
    }
}

extension Lookup {
    /// The rows of ``RecoveryState``, with `more` rows of the user.
    package static func recovery(_ token: String, of kind: TicketKind = .stateToken, at now: Date, _ more: Node...) -> Lookup {
        let signIn = Node.ticket(kind, TicketDigest(of: token), .owner(.account.appending(more)))
        guard kind == .stateToken else { return Lookup(signIn, .recoveryBudget(at: now)) }
        // A recovery of an unknown user name reads an account without an id. Undeclared, these queries would take longer.
        let unknown: [Node] = [.record(.user, id: ""), .records(.enrollment, where: "user", is: "", limit: Enrollment.listLimit)]
        return Lookup([signIn, .recoveryBudget(at: now)] + unknown)
    }
}

/// The rows that a request reads by a typed user name in addition to the account.
package struct AccountRows: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The enrollments, for ``Engine/namedAccount(_:withEnrollments:in:)``.
    package static let factors = AccountRows(rawValue: 1)
    /// The enrollments and their devices, for the requirements of a sign-in.
    package static let subject = AccountRows(rawValue: 2)
    /// The recent push challenges.
    package static let challenges = AccountRows(rawValue: 4)
    /// The remembered devices.
    package static let rememberedDevices = AccountRows(rawValue: 8)
}

extension Engine {
    /// The rows of a typed user name. Unknown names take the same number of queries.
    /// - Parameter device: The digest of the device token that must be known for the account; `nil` for none.
    package func rows(ofLogin login: String, with rows: AccountRows = [], device: [UInt8]? = nil) -> [Lookup.Node] {
        let name = Self.possibleName(login)
        guard let derivedKeys = latestSnapshot?.derivedKeys, let decoy = try? decoys.decoy(for: name, derivedKeys: derivedKeys) else {
            return []
        }
        var own: [Lookup.Node] = []
        var others: [Lookup.Node] = [.record(.decoy, id: decoy.id)]
        if rows.contains(.subject) {
            own.append(.factors)
            others += [
                .records(.enrollment, where: "user", is: decoy.standInID, limit: Enrollment.listLimit), .record(.device, id: decoy.id),
            ]
        } else if rows.contains(.factors) {
            own.append(.listed(.enrollment, where: "user", limit: Enrollment.listLimit))
        }
        if rows.contains(.factors) {
            others.append(.records(.enrollment, where: "user", is: decoy.id, limit: Enrollment.listLimit))
        }
        if rows.contains(.challenges) {
            own.append(.challenges)
            others.append(.records(.transaction, where: "challenged", is: decoy.standInID, limit: SignInTransaction.challengedLimit))
        }
        if rows.contains(.rememberedDevices) { own.append(.rememberedDevices) }
        if let device {
            own.append(.listed(.rememberedDevice, where: "device", suffix: RememberedDevice.key(userID: "", device: device), limit: 1))
            let key = RememberedDevice.key(userID: decoy.id, device: device)
            others.append(.records(.rememberedDevice, where: "device", is: key, limit: 1))
        }
        let user = Lookup.Node.records(.user, where: "login", is: User.key(forLogin: name), limit: 1).appending(own)
        return [user] + others
    }
}

extension SignInTransaction {
    /// The maximum number of a user's challenged sign-ins that a request reads.
    package static let challengedLimit = 1_000
}
