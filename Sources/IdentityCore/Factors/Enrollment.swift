package import Foundation
package import Store

/// A factor that a person has enrolled beside the password; the payload of an enrolment record.
package struct Enrollment: Sendable, Equatable, Codable {
    package enum Status: String, Sendable, Codable { case pending, active, suspended, deleted }

    package var id: String
    package var userID: String
    package var factor: FactorKind
    package var status: Status
    package var createdAt: Date
    /// How the device answers; nil for factors that are no push.
    package var push: PushMethod?
    /// What codes are checked against; nil for factors that have none.
    package var totp: TOTPMethod?
    /// Where codes are sent; nil for factors that send none.
    package var code: CodeMethod?
    /// What is asked; nil for factors that ask nothing.
    package var question: QuestionMethod?
    /// What codes are checked against that follow a counter; nil for factors that have none.
    package var hotp: HOTPMethod?
    /// What another system knows the person's token by; nil for factors that are none.
    package var token: TokenMethod?
    /// Until when it can be confirmed; nil once it was.
    package var pendingUntil: Date?
    /// When it last changed; nil if it never did.
    package var updatedAt: Date?
    /// The grant whose access token enrolled it; nil for what came about otherwise.
    package var grantID: String?
    /// When it was deleted. It is remembered for a while, so that a device can be told.
    package var deletedAt: Date?
    /// The version of the record that it was read from; 0 before it is stored.
    var version: Int64 = 0
    /// The digest of the link that came with the code that was just used up; not stored.
    var spentLink: [UInt8]?

    package init(
        id: String, userID: String, factor: FactorKind, status: Status, createdAt: Date, push: PushMethod? = nil,
        totp: TOTPMethod? = nil, code: CodeMethod? = nil, question: QuestionMethod? = nil, hotp: HOTPMethod? = nil,
        token: TokenMethod? = nil, pendingUntil: Date? = nil, updatedAt: Date? = nil, grantID: String? = nil, deletedAt: Date? = nil,
        version: Int64 = 0, spentLink: [UInt8]? = nil
    ) {
        self.id = id
        self.userID = userID
        self.factor = factor
        self.status = status
        self.createdAt = createdAt
        self.push = push
        self.totp = totp
        self.code = code
        self.question = question
        self.hotp = hotp
        self.token = token
        self.pendingUntil = pendingUntil
        self.updatedAt = updatedAt
        self.grantID = grantID
        self.deletedAt = deletedAt
        self.version = version
        self.spentLink = spentLink
    }

    private enum CodingKeys: String, CodingKey {
        case id, userID, factor, status, createdAt, push, totp, code, question, hotp, token, pendingUntil, updatedAt, grantID, deletedAt
    }

    /// Seconds that a deleted enrolment is remembered.
    static let retention: TimeInterval = 30 * 86_400

    /// When it can be forgotten; nil unless it is deleted, or was never confirmed.
    var expiresAt: Date? { deletedAt?.addingTimeInterval(Self.retention) ?? pendingUntil }

    /// The record to store. A deleted enrolment is found by its id only, so that its keys are free.
    package func record() throws -> Record {
        var unique: [String: String] = [:]
        var indexed: [String: String] = [:]
        if status != .deleted {
            indexed["user"] = userID
            if let push {
                // The same person, device and authenticator enrolled again replaces what was there.
                unique["push"] = "\(userID) \(push.deviceID) \(push.authenticatorID)"
                unique["method"] = push.id
                indexed["device"] = push.deviceID
            }
            if let seed = hotp?.seed { indexed["seed"] = seed }
            // One app of each provider at a time: a new one takes the place of the old one when it is confirmed.
            if let totp, status != .pending { unique["totp"] = totp.provider == .google ? userID : "\(userID) \(totp.provider.rawValue)" }
            // One telephone of each kind, one mailbox, one question, one device with a counter, one token of each provider.
            if code != nil || question != nil || hotp != nil, status != .pending { unique[factor.rawValue] = userID }
            if let token { unique["token"] = "\(userID) \(token.provider.rawValue)" }
        }
        return Record(
            kind: .enrollment, id: id, version: version, uniqueKeys: unique, indexedKeys: indexed, expiresAt: expiresAt,
            payload: try RecordCoding.encode(self))
    }

    /// Reads a record.
    /// - Throws: ``StoreError`` if it is no enrolment.
    package init(_ record: Record) throws {
        self = try RecordCoding.decode(Enrollment.self, from: record)
        version = record.version
    }
}

extension Enrollment {
    package init(id: String, userID: String, factor: FactorKind, status: Status, createdAt: Date, push: PushMethod? = nil) {
        self.id = id
        self.userID = userID
        self.factor = factor
        self.status = status
        self.createdAt = createdAt
        self.push = push
    }
}

extension Enrollment {
    /// The condition that no other request wrote the enrolment.
    package var unchanged: Change { .unchanged(RecordReference(.enrollment, id), version: version) }

    /// Whether it is confirmed: active or suspended.
    var isHeld: Bool { status == .active || status == .suspended }

    /// Whether it stands between a password and the account. A question does not: it can be asked nowhere but by the classic API, and
    /// whoever knows much of a person knows the answer.
    var isStrong: Bool { factor != .question }
}

extension Enrollment {
    /// Seconds since the sign-in within which a factor can be set up.
    package static let freshness: TimeInterval = 15 * 60
}

extension StoredUser {
    /// The writes that enrol a factor in place of others. The user is written too, so that two concurrent enrolments cause a conflict.
    package func enrolling(_ enrollment: Enrollment, replacing others: [Enrollment] = [], reason: String) throws -> Writes {
        var writes = Writes(try others.map(\.removal) + enrollment.changes() + [renewing(enrollment.factor)])
        writes.log("user.mfa.factor.activate", .success, reason: reason, userID: value.id)
        return writes
    }
}

extension Engine {
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

/// The factors that a user has enrolled beside the password, as one read finds them.
package struct UserEnrollments: Sendable {
    /// Pending ones included, deleted ones not.
    package var all: [Enrollment] = []
    /// The active factors. A push factor also needs an active device and an active authenticator.
    package var usable: [Enrollment] = []

    /// The confirmed factors, suspended ones included.
    package var held: [Enrollment] { all.filter(\.isHeld) }

    /// The enrolment that approved a transaction's challenge; `nil` if it can't be used any more.
    package func approver(of transaction: SignInTransaction) -> Enrollment? {
        guard let target = transaction.challenge?.approver, transaction.userID != nil else { return nil }
        return usable.first { $0.id == target.enrollmentID && $0.push?.id == target.methodID }
    }
}

extension StoreView {
    /// The enrolments of a user: pending ones included, deleted ones not. The limit is more than a user can have.
    package func enrollments(of userID: String) throws -> [Enrollment] {
        try records(.enrollment, where: "user", is: userID, limit: 200).map(Enrollment.init)
    }

    /// The enrolments of a user, with those that can be presented now.
    package func enrollments(of userID: String, snapshot: OrgSnapshot) throws -> UserEnrollments {
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
