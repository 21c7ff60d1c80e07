package import Foundation
internal import JOSE
internal import Store

/// The settings of saved recovery codes (NIST SP 800-63B-4 section 4.2.1.1): a list of one-time codes that replaces a lost second factor.
package struct SavedCodesPolicy: Sendable, Equatable, Codable {
    /// The permitted numbers of codes.
    static let counts = 4...20

    /// The number of codes of a new list.
    package var count: Int
    /// Whether the pages offer codes once to each user with a second factor.
    package var isOffered: Bool

    package init(count: Int = 10, isOffered: Bool = true) { (self.count, self.isOffered) = (count, isOffered) }
}

/// The stored state of a list of recovery codes.
package struct SavedCodesMethod: Sendable, Equatable, Codable, Redacted {
    /// The scrypt hashes of the unused codes, which share one salt. Empty while the list is pending.
    var hashes: [String]
    /// The codes of a pending list, encrypted for its enrollment; `nil` after the user has saved them.
    var sealedCodes: [UInt8]?

    /// The number of unused codes.
    package var remaining: Int { hashes.count }
    /// Whether so few codes are left that the user needs a new list.
    package var isNearlyUsed: Bool { remaining <= Self.few }

    private static let few = 2
}

/// A recovery code: 16 characters of Crockford's base 32, which are 80 random bits.
package enum SavedCode {
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
    private static let length = 16
    /// The number of characters in a displayed group.
    private static let group = 4

    static func make(_ random: any RandomSource) throws -> String {
        // 32 divides 256, so each character is equally likely.
        String(try random.bytes(length).map { alphabet[Int($0) % alphabet.count] })
    }

    /// Returns a code in groups, for display.
    package static func grouped(_ code: String) -> String {
        stride(from: 0, to: code.count, by: group).map { String(code.dropFirst($0).prefix(group)) }.joined(separator: "-")
    }

    /// Returns the code that the user typed, in lower case and without separators; `nil` if the text is not a recovery code. Replaces
    /// letters that look like digits: `o` becomes `0`, and `i` and `l` become `1`.
    package static func normalized(_ typed: String) -> String? {
        guard typed.utf8.count <= 64 else { return nil }
        let look: [Character: Character] = ["o": "0", "i": "1", "l": "1"]
        let code = typed.lowercased().filter { $0 != "-" && !$0.isWhitespace }.map { look[$0] ?? $0 }
        return code.count == length && code.allSatisfy(alphabet.contains) ? String(code) : nil
    }
}

/// Verifies recovery codes. The hashes are computed on the threads for password hashes.
///
/// A verifier is created from one read of the store and is not reused. Its verdict contains the enrollment without the used code, which the
/// caller writes. If two requests use the same code, the second commit conflicts, and its retry rejects the code.
package struct SavedCodesVerifier: FactorVerifier {
    private let environment: EngineEnvironment
    private let enrollments: [Enrollment]
    private let origin: RequestOrigin

    /// - Parameters:
    ///   - enrollments: The user's usable enrollments; those of other factors are ignored.
    ///   - origin: The origin of the request, which determines its place in the hashing queue.
    package init(environment: EngineEnvironment, enrollments: [Enrollment], origin: RequestOrigin) {
        (self.environment, self.enrollments, self.origin) = (environment, enrollments, origin)
    }

    package var kind: FactorKind { .savedCode }
    package var factorClass: FactorClass { .possession }
    package var methods: [String] { ["otp"] }

    package func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) async throws -> FactorVerdict {
        guard case .code(let typed) = response, let code = SavedCode.normalized(typed),
            var own = enrollments.first(where: { $0.savedCodes != nil && $0.userID == user?.id }), var method = own.savedCodes,
            let first = method.hashes.first.flatMap(PasswordHash.init)
        else { return .failed }
        let hash = try await environment.passwordHasher.hash(
            code, logN: first.logN, salt: first.salt, for: HashingShare(origin, of: user))
        // All hashes are compared, so that the response time does not reveal which hash matches.
        let matching = method.hashes.indices.filter { method.hashes[$0].utf8.isSameSecret(as: hash.utf8) }
        guard let used = matching.first else { return .failed }
        method.hashes.remove(at: used)
        own.savedCodes = method
        return .proved(passwordHash: nil, enrollment: own)
    }
}

/// The creation of a list of recovery codes for a user, based on one read of the store. The caller verifies that the proofs of the sign-in
/// permit a new list.
package struct SavedCodesSetup: Sendable {
    /// The lifetime of a pending list, in seconds. The user must save the codes within this time.
    package static let lifetime: TimeInterval = 600
    /// The difference between the scrypt cost exponents (`logN`) of passwords and codes. A code has 80 random bits, so a cheaper hash is
    /// enough. The hashes of a list together cost about as much as one password hash.
    private static let cheaper = 3

    private let user: StoredUser
    private let policy: SavedCodesPolicy
    private let held: [Enrollment]
    private let environment: EngineEnvironment
    private let now: Date

    /// Returns `nil` if the organization does not offer recovery codes. `enrollments` must contain all enrollments of the user.
    package init?(
        _ user: StoredUser, holding enrollments: [Enrollment], _ snapshot: OrgSnapshot, _ environment: EngineEnvironment, now: Date
    ) {
        guard let policy = snapshot.organization.savedCodes else { return nil }
        (self.user, self.policy, self.environment, self.now) = (user, policy, environment, now)
        held = enrollments.filter { $0.savedCodes != nil }
    }

    /// Returns a pending list and its writes, which remove an earlier pending list.
    package func begin() throws -> (Enrollment, Writes) {
        let codes = try (0..<policy.count).map { _ in try SavedCode.make(environment.random) }
        let id = try environment.random.identifier(prefix: "rcl")
        let sealed = try RecordCoding.seal(
            Array(codes.joined(separator: " ").utf8), for: RecordReference(.enrollment, id), environment: environment)
        var pending = Enrollment(
            id: id, userID: user.value.id, method: .savedCodes(SavedCodesMethod(hashes: [], sealedCodes: sealed)), status: .pending,
            createdAt: now)
        pending.pendingUntil = now.addingTimeInterval(Self.lifetime)
        return (pending, Writes(held.filter { $0.status == .pending }.map(\.removal) + [.put(try pending.record())]))
    }

    /// Returns the codes of a pending list, which the user must save.
    package func codes(of pending: Enrollment) throws -> [String] {
        guard let sealed = pending.savedCodes?.sealedCodes else { return [] }
        let text = try RecordCoding.open(sealed, for: RecordReference(.enrollment, pending.id), masterKeys: environment.masterKeys)
        return String(decoding: text, as: UTF8.self).split(separator: " ").map(String.init)
    }

    /// Returns the check that computes the hashes of a pending list. The check throws ``PasswordHasher/Overloaded`` if the queue is full.
    package func hashes(of pending: Enrollment, policy: PasswordPolicy, from origin: RequestOrigin) throws -> Check<[String]> {
        let (codes, salt) = (try codes(of: pending), try environment.random.bytes(16))
        let (hasher, share) = (environment.passwordHasher, HashingShare(origin, of: user.value))
        let logN = max(10, policy.scryptLogN - Self.cheaper)
        return Check(of: pending) {
            var hashes: [String] = []
            for code in codes { hashes.append(try await hasher.hash(code, logN: logN, salt: salt, for: share)) }
            return hashes
        }
    }

    /// Activates a pending list with its hashes. Returns the enrollment and the writes, which also remove the user's earlier lists.
    package func confirm(_ pending: Enrollment, hashes: [String]) throws -> (Enrollment, Writes) {
        var active = pending
        (active.status, active.pendingUntil, active.updatedAt) = (.active, nil, now)
        active.savedCodes = SavedCodesMethod(hashes: hashes)
        let others = held.filter { $0.id != pending.id }
        let isReplacing = others.contains { $0.isHeld }
        return (active, try user.enrolling(active, replacing: others, reason: isReplacing ? "recovery codes, replaced" : "recovery codes"))
    }
}

extension Engine {
    /// Gives a user a list of recovery codes without a sign-in; for tests and the sandbox. Returns the codes; `nil` if the user does not
    /// exist, or the organization does not offer recovery codes. Throws ``PasswordHasher/Overloaded``.
    package func grantSavedCodes(toUser userID: String, context: RequestContext) async throws -> [String]? {
        let found = try await store.read { [self] view -> (SavedCodesSetup, PasswordPolicy)? in
            let snapshot = try snapshot(view)
            guard let user = try user(id: userID, in: view),
                let setup = SavedCodesSetup(user, holding: [], snapshot, environment, now: context.now)
            else { return nil }
            return (setup, snapshot.passwordPolicy)
        }
        guard let (setup, policy) = found else { return nil }
        let (pending, _) = try setup.begin()
        let codes = try setup.codes(of: pending)
        let hashes = try await setup.hashes(of: pending, policy: policy, from: .unknown).judge()
        let (active, _) = try setup.confirm(pending, hashes: hashes)
        let granted = try await grantFactor(userID: userID, context: context) { user, own in
            try user.enrolling(active, replacing: own.filter { $0.savedCodes != nil }, reason: "recovery codes")
        }
        return granted == nil ? nil : codes.map(SavedCode.grouped)
    }
}
