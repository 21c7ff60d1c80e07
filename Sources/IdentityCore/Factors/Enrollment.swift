package import Foundation
package import Store

/// A factor that the user has enrolled in addition to the password; the payload of an enrollment record.
package struct Enrollment: Sendable, Equatable {
    package enum Status: String, Sendable, Codable { case pending, active, suspended, deleted }

    /// The kind of a factor, with the stored state that verifies it.
    package enum Method: Sendable, Equatable {
        case push(PushMethod)
        case totp(TOTPMethod)
        /// Codes by text message, call or mail.
        case sentCode(SentCodeMethod)
        case question(QuestionMethod)
        case hotp(HOTPMethod)
        case token(TokenMethod)
        case passkey(PasskeyMethod)
        /// A list of recovery codes that the user saved.
        case savedCodes(SavedCodesMethod)
        /// A factor that a newer version of the server stored. It protects the account, but this version cannot verify it.
        case unsupported(FactorKind)

        package var factor: FactorKind {
            switch self {
            case .push: .push
            case .totp: .totp
            case .sentCode(let method): method.channel.factor
            case .question: .question
            case .hotp: .hotp
            case .token: .token
            case .passkey: .passkey
            case .savedCodes: .savedCode
            case .unsupported(let kind): kind
            }
        }
    }

    package var id: String
    package var userID: String
    package var method: Method
    package var status: Status
    package var createdAt: Date
    /// The time when a pending enrollment expires; `nil` after the confirmation.
    package var pendingUntil: Date?
    /// The time when the enrollment was last confirmed or changed; `nil` if never. A use of the factor is not a change.
    package var updatedAt: Date?
    /// The id of the grant whose access token enrolled the factor; `nil` if the factor was enrolled in another way.
    package var grantID: String?
    /// The time of the deletion; `nil` before. A deleted enrollment is kept for ``retention``, so that a device can be notified.
    package var deletedAt: Date?
    /// The version of the record from which the enrollment was read; 0 before the enrollment is stored.
    var version: Int64 = 0
    /// The digest of the link of a code that was just consumed; not stored.
    var spentLink: [UInt8]?
    /// The passkey's signature that was just verified; not stored.
    var passkeyUse: PasskeyUse?

    package init(id: String, userID: String, method: Method, status: Status, createdAt: Date) {
        (self.id, self.userID, self.method, self.status, self.createdAt) = (id, userID, method, status, createdAt)
    }

    package var factor: FactorKind { method.factor }

    /// Seconds for which a deleted enrollment is kept.
    static let retention: TimeInterval = 30 * 86_400

    /// The expiry of the record; `nil` unless the enrollment is deleted or pending.
    var expiresAt: Date? { deletedAt?.addingTimeInterval(Self.retention) ?? pendingUntil }

    /// Returns the record to store. A deleted enrollment has no keys other than its id, so that its keys can be reused.
    package func record() throws -> Record {
        var unique: [String: String] = [:]
        var indexed: [String: String] = [:]
        if status != .deleted {
            indexed["user"] = userID
            if let push {
                // Enrolling the same user, device and authenticator again replaces the earlier enrollment.
                unique["push"] = "\(userID) \(push.deviceID) \(push.authenticatorID)"
                unique["method"] = push.id
                indexed["device"] = push.deviceID
            }
            if let seed = hotp?.seed { indexed["seed"] = seed }
            // One app of each provider: a new one replaces the old one when it is confirmed.
            if let totp, status != .pending { unique["totp"] = totp.provider == .google ? userID : "\(userID) \(totp.provider.rawValue)" }
            // One phone of each kind, one mailbox, one question, one HOTP device, one list of codes, and one token of each provider.
            if sentCode != nil || question != nil || hotp != nil || savedCodes != nil, status != .pending {
                unique[factor.rawValue] = userID
            }
            // The server accepts a credential for one account only (WebAuthn Level 3 section 7.1).
            if let passkey, status != .pending { unique["passkey"] = passkey.credentialID }
            if let token { unique["token"] = "\(userID) \(token.provider.rawValue)" }
        }
        return Record(
            kind: .enrollment, id: id, version: version, uniqueKeys: unique, indexedKeys: indexed, expiresAt: expiresAt,
            payload: try RecordCoding.encode(self))
    }

    package init(_ record: Record) throws {
        self = try RecordCoding.decode(Enrollment.self, from: record)
        version = record.version
    }
}

/// The stored methods by kind. A property is `nil` if the factor is of another kind. Setting a value replaces the method; setting `nil` has
/// no effect.
extension Enrollment {
    package var push: PushMethod? {
        get { if case .push(let method) = method { method } else { nil } }
        set { method = newValue.map(Method.push) ?? method }
    }

    package var totp: TOTPMethod? {
        get { if case .totp(let method) = method { method } else { nil } }
        set { method = newValue.map(Method.totp) ?? method }
    }

    package var sentCode: SentCodeMethod? {
        get { if case .sentCode(let method) = method { method } else { nil } }
        set { method = newValue.map(Method.sentCode) ?? method }
    }

    package var question: QuestionMethod? { if case .question(let method) = method { method } else { nil } }

    package var hotp: HOTPMethod? {
        get { if case .hotp(let method) = method { method } else { nil } }
        set { method = newValue.map(Method.hotp) ?? method }
    }

    package var token: TokenMethod? { if case .token(let method) = method { method } else { nil } }

    package var passkey: PasskeyMethod? {
        get { if case .passkey(let method) = method { method } else { nil } }
        set { method = newValue.map(Method.passkey) ?? method }
    }

    package var savedCodes: SavedCodesMethod? {
        get { if case .savedCodes(let method) = method { method } else { nil } }
        set { method = newValue.map(Method.savedCodes) ?? method }
    }
}

/// The stored form: `factor` is the kind, and one further member holds the method.
extension Enrollment: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, userID, factor, status, createdAt, pendingUntil, updatedAt, grantID, deletedAt
        case push, totp, sentCode = "code", question, hotp, token, passkey, savedCodes
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys) throws -> Value? { try container.decodeIfPresent(Value.self, forKey: key) }
        let method: Method? =
            try read(.push).map(Method.push) ?? read(.totp).map(Method.totp) ?? read(.sentCode).map(Method.sentCode)
            ?? read(.question).map(Method.question) ?? read(.hotp).map(Method.hotp) ?? read(.token).map(Method.token)
            ?? read(.passkey).map(Method.passkey) ?? read(.savedCodes).map(Method.savedCodes)
        self.init(
            id: try container.decode(String.self, forKey: .id), userID: try container.decode(String.self, forKey: .userID),
            method: try method ?? .unsupported(container.decode(FactorKind.self, forKey: .factor)),
            status: try container.decode(Status.self, forKey: .status), createdAt: try container.decode(Date.self, forKey: .createdAt))
        (pendingUntil, updatedAt, grantID, deletedAt) = try (read(.pendingUntil), read(.updatedAt), read(.grantID), read(.deletedAt))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(userID, forKey: .userID)
        try container.encode(factor, forKey: .factor)
        try container.encode(status, forKey: .status)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encodeIfPresent(pendingUntil, forKey: .pendingUntil)
        try container.encodeIfPresent(updatedAt, forKey: .updatedAt)
        try container.encodeIfPresent(grantID, forKey: .grantID)
        try container.encodeIfPresent(deletedAt, forKey: .deletedAt)
        switch method {
        case .push(let method): try container.encode(method, forKey: .push)
        case .totp(let method): try container.encode(method, forKey: .totp)
        case .sentCode(let method): try container.encode(method, forKey: .sentCode)
        case .question(let method): try container.encode(method, forKey: .question)
        case .hotp(let method): try container.encode(method, forKey: .hotp)
        case .token(let method): try container.encode(method, forKey: .token)
        case .passkey(let method): try container.encode(method, forKey: .passkey)
        case .savedCodes(let method): try container.encode(method, forKey: .savedCodes)
        case .unsupported: break
        }
    }
}

extension Enrollment {
    /// The condition that no other request has written the enrollment since it was read.
    package var unchanged: Change { .unchanged(RecordReference(.enrollment, id), version: version) }

    /// Whether the enrollment is confirmed and not deleted: active or suspended.
    var isHeld: Bool { status == .active || status == .suspended }

    /// Whether the factor protects the account in addition to the password. New kinds of factors do. A security question does not: only
    /// the classic API supports it, and an attacker may know the answer. Recovery codes do not: they replace another factor.
    var isStrong: Bool { factor != .question && factor != .savedCode }
}

extension Enrollment {
    /// Seconds after the sign-in for which the user can enroll a factor.
    package static let freshness: TimeInterval = 15 * 60

    /// Whether a proof is recent enough to enroll a factor.
    package static func isFresh(_ proof: Date, at now: Date) -> Bool {
        now <= proof.addingTimeInterval(freshness) && !proof.isFromFuture(of: now)
    }

    /// The maximum number of enrollments of a user that a request reads. No user can have so many.
    package static let listLimit = 200
}

extension StoredUser {
    /// Returns the writes that enroll a factor in place of others. The user is written too, so that two concurrent enrollments conflict.
    package func enrolling(_ enrollment: Enrollment, replacing others: [Enrollment] = [], reason: String) throws -> Writes {
        var writes = Writes(try others.map(\.removal) + enrollment.changes() + [renewing(enrollment.factor)])
        writes.log("user.mfa.factor.activate", .success, reason: reason, userID: value.id)
        return writes
    }
}

extension Engine {
    /// Gives a user a factor without verification; for tests and the sandbox. `enrolling` gets the user with all enrollments, and returns
    /// the writes. Returns the user and the organization's name; `nil` if there is no such user.
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

/// The factors that a user has enrolled in addition to the password, from one read.
package struct UserEnrollments: Sendable {
    /// All enrollments of the user: active, suspended and pending, but not deleted.
    package var all: [Enrollment] = []
    /// The active factors. A push factor also needs an active device and an active authenticator, a passkey needs the organization's
    /// current relying party, and a list of recovery codes needs an unused code.
    package var usable: [Enrollment] = []

    /// The active lists of recovery codes without an unused code. The proof by their last code still counts.
    private var usedUp: [Enrollment] = []

    package init(all: [Enrollment] = [], usable: [Enrollment] = [], usedUp: [Enrollment] = []) {
        (self.all, self.usable, self.usedUp) = (all, usable, usedUp)
    }

    /// The confirmed factors, active or suspended.
    package var held: [Enrollment] { all.filter(\.isHeld) }

    /// Whether a password alone must not enroll a further factor: the user holds a factor beside the password, or an unused recovery code.
    var protectsAccount: Bool { held.contains(where: \.isStrong) || hasUsableCodes }

    /// Whether the user can prove a factor that protects the account.
    var hasUsableProtection: Bool { usable.contains(where: \.isStrong) || hasUsableCodes }

    private var hasUsableCodes: Bool { usable.contains { $0.savedCodes != nil } }

    /// Whether a proof with this enrollment still counts: the enrollment can be used, or is a list whose last recovery code was the proof.
    package func containsProof(_ enrollmentID: String) -> Bool { (usable + usedUp).contains { $0.id == enrollmentID } }

    /// Replaces an enrollment by the state that a step writes.
    mutating func update(_ enrollment: Enrollment) {
        for index in all.indices where all[index].id == enrollment.id { all[index] = enrollment }
        for index in usable.indices where usable[index].id == enrollment.id { usable[index] = enrollment }
        usable.removeAll { $0.savedCodes?.remaining == 0 }
    }

    /// Returns the enrollment that approved a transaction's challenge; `nil` for none, or if the enrollment can no longer be used.
    package func approver(of transaction: SignInTransaction) -> Enrollment? {
        guard let target = transaction.challenge?.approver, transaction.userID != nil else { return nil }
        return usable.first { $0.id == target.enrollmentID && $0.push?.id == target.methodID }
    }
}

extension StoreView {
    /// Returns the enrollments of a user: active, suspended and pending, but not deleted.
    package func enrollments(of userID: String) throws -> [Enrollment] {
        try records(.enrollment, where: "user", is: userID, limit: Enrollment.listLimit).map(Enrollment.init)
    }

    /// Returns the enrollments of a user, and which of them can be used now.
    package func enrollments(of userID: String, snapshot: OrgSnapshot) throws -> UserEnrollments {
        let all = try enrollments(of: userID)
        let usable = try all.filter { enrollment in
            guard enrollment.status == .active else { return false }
            // Passkeys of another relying party cannot sign, and without the settings none can.
            if let passkey = enrollment.passkey {
                return snapshot.organization.passkeys?.rpID(origin: snapshot.origin) == passkey.relyingParty
            }
            if let codes = enrollment.savedCodes { return snapshot.organization.savedCodes != nil && codes.remaining > 0 }
            guard let push = enrollment.push else { return true }
            guard snapshot.authenticator(push.authenticatorID)?.isActive == true else { return false }
            return try record(.device, id: push.deviceID).map(Device.init)?.status == .active
        }
        let usedUp = all.filter { $0.status == .active && $0.savedCodes?.remaining == 0 && snapshot.organization.savedCodes != nil }
        return UserEnrollments(all: all, usable: usable, usedUp: usedUp)
    }
}

extension Date {
    /// Whether the time was written before the clock was set back. The clocks of several servers may differ by five minutes. A proof with
    /// such a time is not recent: otherwise it would stay recent for as long as the clock was set back.
    package func isFromFuture(of now: Date) -> Bool { self > now.addingTimeInterval(300) }
}
