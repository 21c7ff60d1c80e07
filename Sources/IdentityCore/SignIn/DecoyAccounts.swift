internal import Crypto
internal import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers
package import Store

/// Generates the accounts that replace unknown user names, so that a request without a proof does the same work for every name. A keyed
/// hash of the name chooses the decoy: the same decoy for the same name, but an attacker cannot predict which. Decoys have different
/// numbers of factors, as users have, so that the work for several factors reveals nothing either. Safe from any thread.
final class DecoyAccounts: Sendable {
    /// The records that are decoded in place of stored records.
    private struct Templates: Sendable {
        let user: Record
        let app: Record
        let device: Record
    }

    fileprivate static let standInID = "decoy"

    private let environment: EngineEnvironment
    private let templates = NIOLockedValueBox<Templates?>(nil)

    init(environment: EngineEnvironment) { self.environment = environment }

    /// Returns the decoy of a user name, known or not.
    func decoy(for login: String, derivedKeys: DerivedKeys) throws -> Decoy {
        OperationMeter.note(.hmac)
        let digest = Array(HMAC<SHA256>.authenticationCode(for: Data(User.key(forLogin: login).utf8), using: derivedKeys.decoys))
        return try decoy(number: Int(digest[1]) << 8 | Int(digest[0]))
    }

    /// Returns the decoy with a number; see ``Decoy/number``.
    func decoy(number: Int) throws -> Decoy {
        let (factors, apps, devices) = Self.profiles[(number >> 8 & 0xFF) % Self.profiles.count]
        let templates = try made()
        return Decoy(
            number: number, factorCount: factors, appCount: apps, deviceCount: devices, user: templates.user, app: templates.app,
            device: templates.device)
    }

    /// Returns the ids of one to eight credentials that do not exist. They are always the same for a user name. Their number and lengths
    /// vary like those of real passkeys.
    func credentials(of login: String, derivedKeys: DerivedKeys) -> [String] {
        func digest(_ number: Int) -> [UInt8] {
            let name = Data("passkey \(number) \(User.key(forLogin: login))".utf8)
            return Array(HMAC<SHA512>.authenticationCode(for: name, using: derivedKeys.decoys))
        }
        let choice = digest(0)
        // Of 256 names, 149 have one credential, 64 two, 21 three, and so on.
        return (0...Self.credentialCounts.count { Int(choice[0]) >= $0 }).map { number in
            Base64URL.encode(digest(number + 1).prefix(Self.credentialLengths[Int(choice[number + 1]) % Self.credentialLengths.count]))
        }
    }

    /// The values of the hash's first byte at which a name gets one more credential. Few users have many passkeys.
    private static let credentialCounts = [149, 213, 234, 245, 250, 253, 255]

    /// Usual numbers of bytes of a credential's id.
    private static let credentialLengths = [16, 20, 20, 32, 32, 48, 64]

    /// The numbers of factors, authenticator apps and phones with push of the decoys.
    private static let profiles = [
        (0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 0, 1), (2, 0, 0), (2, 1, 0), (2, 2, 0), (2, 0, 1), (2, 1, 1), (2, 0, 2), (3, 1, 1), (3, 2, 1),
        (3, 1, 2),
    ]

    private func made() throws -> Templates {
        if let known = templates.withLockedValue({ $0 }) { return known }
        var user = User(id: Self.standInID, login: "decoy@example.com", passwordHash: nil, createdAt: .distantPast)
        user.profile = ["name": "Decoy Account", "given_name": "Decoy", "family_name": "Account", "email": "decoy@example.com"]
        let app = try Enrollment(
            authenticatorApp: [UInt8](repeating: 0, count: 20), of: user.id, environment: environment, now: .distantPast)
        let device = Device(
            id: "decoy", clientInstanceID: "decoy", clientInstanceKey: [:], profile: ["displayName": "Decoy"], status: .active,
            createdAt: .distantPast, updatedAt: .distantPast)
        let fresh = Templates(
            user: try StoredUser(new: user, origin: .api).record(holding: user), app: try app.record(), device: try device.record())
        return templates.withLockedValue { known in
            known = known ?? fresh
            return known ?? fresh
        }
    }
}

/// The account that replaces an unknown user name.
package struct Decoy: Sendable {
    /// Selects the decoy. The low byte is the number in its id, and the next byte chooses its factors.
    package let number: Int
    let factorCount: Int
    let appCount: Int
    let deviceCount: Int
    /// One of 256 ids, which bounds the number of records for unknown names.
    var id: String { "decoy-\(number & 0xFF)" }
    /// The id of the user that replaces an unknown one.
    var standInID: String { DecoyAccounts.standInID }
    fileprivate let user: Record
    fileprivate let app: Record
    fileprivate let device: Record

    /// Decodes a user, as for a known name.
    func decodeUser() throws -> StoredUser { try StoredUser(user) }

    /// Decodes the given number of factors, or as many as the decoy has, and returns them as authenticator apps.
    @discardableResult
    func decodeFactors(_ count: Int? = nil) throws -> [Enrollment] {
        try (0..<max(count ?? factorCount, 0)).map { _ in try Enrollment(app) }
    }

    /// Does the same reads as for usable factors: the factors and their devices.
    package func readFactors(in view: any StoreView) throws {
        try decodeFactors()
        for _ in 0..<deviceCount {
            _ = try view.record(.device, id: id)
            try decodeDevice()
        }
    }

    fileprivate func decodeDevice() throws { _ = try Device(device) }

    /// Returns the record that a failure writes. `version` is the version of the record to replace; 0 for the first one.
    fileprivate func record(holding user: StoredUser, version: Int64) throws -> Record {
        var record = try user.record(holding: user.value)
        (record.kind, record.id, record.version, record.uniqueKeys) = (.decoy, id, version, ["login": id])
        return record
    }
}

/// The account of a user name before any proof.
package struct NamedAccount: Sendable {
    /// The user; `nil` for an unknown name.
    package let user: StoredUser?
    /// The user, or the decoy for an unknown name.
    package let standIn: StoredUser
    package let decoy: Decoy
    fileprivate let decoyVersion: Int64
    /// The active factors; empty if they were not requested.
    package let enrollments: [Enrollment]
    /// The decoy factors with which a code is compared if the user has no authenticator app.
    package let decoyApps: [Enrollment]

    /// Returns the write of a failure that changes no account. Every failure writes one record, so that the work is the same.
    package func idleWrite() throws -> Change {
        if let user { return .put(try user.record(holding: user.value)) }
        return .put(try decoy.record(holding: standIn, version: decoyVersion))
    }
}

extension Engine {
    /// Reads the account of a user name, with the same queries and number of decoded records for every name. For use inside `store.read`.
    package func namedAccount(_ login: String, withEnrollments: Bool = false, in view: any StoreView) throws -> NamedAccount {
        let decoy = try decoys.decoy(for: login, derivedKeys: snapshot(view).derivedKeys)
        let decoyVersion = try view.record(.decoy, id: decoy.id)?.version ?? 0
        let user = try user(login: login, in: view)
        let standIn = try user ?? decoy.decodeUser()
        var (held, apps): ([Enrollment], [Enrollment]) = ([], [])
        if withEnrollments {
            held = try view.enrollments(of: user?.value.id ?? decoy.id).filter { $0.status == .active }
            if user == nil { apps = Array(try decoy.decodeFactors().prefix(decoy.appCount)) }
            if apps.isEmpty, !held.contains(where: { $0.totp != nil }) { apps = try decoy.decodeFactors(1) }
        }
        return NamedAccount(
            user: user, standIn: standIn, decoy: decoy, decoyVersion: decoyVersion, enrollments: held, decoyApps: apps)
    }
}

extension Engine {
    /// Decodes the account of a decoy in a sign-in of an unknown name, with the same work as for a user's account. Returns the user that
    /// replaces the unknown one.
    ///
    /// - Parameter number: The decoy's ``Decoy/number``.
    package func decodeDecoy(_ number: Int) throws -> User {
        let decoy = try decoys.decoy(number: number)
        try decoy.decodeFactors()
        for _ in 0..<decoy.deviceCount { try decoy.decodeDevice() }
        return try decoy.decodeUser().value
    }

    /// Returns the ids of credentials that a response names for a user without a passkey, and for an unknown name.
    package func decoyCredentials(of login: String, in snapshot: OrgSnapshot) -> [String] {
        decoys.credentials(of: login, derivedKeys: snapshot.derivedKeys)
    }
}

extension SignInTransaction.Subject {
    /// Creates the subject of a user before any proof, sufficient to judge a wrong answer. Returns `nil` if the application no longer
    /// exists.
    init?(unproved user: User, of transaction: SignInTransaction, from origin: RequestOrigin, snapshot: OrgSnapshot) {
        guard let application = snapshot.application(of: transaction) else { return nil }
        self.init(
            user: user, decision: snapshot.signOnDecision(for: user, application: application), passwordPolicy: snapshot.passwordPolicy,
            origin: origin, secondFactors: [])
    }
}

extension FactorVerdict {
    package var isProved: Bool { if case .proved = self { true } else { false } }
}
