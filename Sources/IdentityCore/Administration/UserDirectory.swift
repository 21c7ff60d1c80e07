package import Foundation
internal import JOSE
internal import Store

/// A page of users, ordered by id.
package struct UserPage: Sendable {
    package var users: [User]
    /// The position of the next page; `nil` on the last page. A short or empty page can have a next page, because each call scans a limited
    /// number of accounts.
    package var next: String?
}

/// An account with its factors, sessions and other state, for administrators; from one read.
package struct UserOverview: Sendable {
    /// A factor that the user has enrolled in addition to the password.
    package struct Factor: Sendable, Equatable {
        package var kind: FactorKind
        package var status: Enrollment.Status
        package var createdAt: Date
        /// The name of the phone or passkey, the masked number or mail address, or the number of unused recovery codes; `nil` for none.
        package var label: String?
    }

    package var user: User
    /// Whether the org file named the user when it was last applied.
    package var isInOrgFile: Bool
    package var factors: [Factor]
    package var sessions: [SessionSummary]
    package var rememberedDevices: Int
    /// The number of grants that are neither expired nor revoked, and that no change of the account has closed. Each grant belongs to one
    /// application and can have a refresh token.
    package var grants: Int
    /// Whether wrong passwords, codes or answers locked the account or closed a factor or the recovery, so that an unlock helps.
    package var isLocked: Bool
}

extension Engine {
    /// The maximum number of accounts that one call of ``users(matching:status:after:limit:)`` scans.
    private static let scanLimit = 5_000

    /// Returns one page of users.
    /// - Parameters:
    ///   - text: Selects users whose login, mail address or name contains this text, in any case; `nil` selects all.
    ///   - status: Selects users with this status; `nil` selects all.
    ///   - after: ``UserPage/next`` of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of users, from 1.
    package func users(
        matching text: String? = nil, status: User.Status? = nil, after: String? = nil, limit: Int = 200
    ) async throws -> UserPage {
        let wanted = text?.lowercased()
        return try await store.read { view in
            var (position, users, scanned) = (after, [User](), 0)
            while scanned < Self.scanLimit {
                let records = try view.records(.user, after: position, limit: 500)
                for record in records {
                    let user = try StoredUser(record).value
                    (position, scanned) = (record.id, scanned + 1)
                    guard status.map({ $0 == user.status }) ?? true, wanted.map(user.contains) ?? true else { continue }
                    users.append(user)
                    if users.count == limit { return UserPage(users: users, next: position) }
                }
                if records.count < 500 { return UserPage(users: users, next: nil) }
            }
            return UserPage(users: users, next: position)
        }
    }

    /// Returns an account with its factors and sessions; `nil` for an unknown user.
    /// - Parameter name: The login, in any case, or the id.
    package func overview(of name: String, now: Date) async throws -> UserOverview? {
        try await store.read { [self] view in
            guard let stored = try user(login: name, in: view) ?? user(id: name, in: view) else { return nil }
            let (user, id) = (stored.value, stored.value.id)
            let factors = try view.enrollments(of: id).map { enrollment in
                let device = try enrollment.push.flatMap { try view.record(.device, id: $0.deviceID) }.map(Device.init)
                return UserOverview.Factor(
                    kind: enrollment.factor, status: enrollment.status, createdAt: enrollment.createdAt,
                    label: device?.profile["displayName"] ?? enrollment.sentCode?.destination.masked ?? enrollment.passkey?.name
                        ?? enrollment.savedCodes.map { "\($0.remaining) unused" })
            }
            let sessions = try view.records(.session, where: "user", is: id, limit: 1_000).map(Session.init)
                .filter { !$0.isOver(for: user, now: now) }
            let grants = try view.records(.grant, where: "user", is: id, limit: .max).map(Grant.init)
                .filter { $0.revokedAt == nil && $0.closure(by: user) == nil && now < $0.expiresAt }
            return UserOverview(
                user: user, isInOrgFile: stored.applied != nil, factors: factors, sessions: sessions.map(SessionSummary.init),
                rememberedDevices: try view.records(.rememberedDevice, where: "user", is: id, limit: .max).count, grants: grants.count,
                isLocked: user.isClosedByMistakes(at: now))
        }
    }
}

extension User {
    fileprivate func contains(_ text: String) -> Bool {
        let names = ["email", "name", "given_name", "family_name"].compactMap { profile[$0]?.stringValue }
        return ([login] + names).contains { $0.lowercased().contains(text) }
    }

    /// The profile's `name`, or else the given and family name; `nil` if the profile has none of them.
    package var displayName: String? {
        let names = ["given_name", "family_name"].compactMap { profile[$0]?.stringValue }
        return profile["name"]?.stringValue ?? (names.isEmpty ? nil : names.joined(separator: " "))
    }
}
