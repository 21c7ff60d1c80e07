internal import Foundation

/// A factor that a person has enrolled beside the password; the payload of an enrolment record.
struct Enrollment: Sendable, Equatable, Codable {
    enum Status: String, Sendable, Codable { case pending, active, suspended, deleted }

    var id: String
    var userID: String
    var factor: FactorKind
    var status: Status
    var createdAt: Date
    /// How the device answers; nil for factors that are no push.
    var push: PushMethod?
    /// What codes are checked against; nil for factors that have none.
    var totp: TOTPMethod?
    /// Where codes are sent; nil for factors that send none.
    var code: CodeMethod?
    /// What is asked; nil for factors that ask nothing.
    var question: QuestionMethod?
    /// What codes are checked against that follow a counter; nil for factors that have none.
    var hotp: HOTPMethod?
    /// What another system knows the person's token by; nil for factors that are none.
    var token: TokenMethod?
    /// Until when it can be confirmed; nil once it was.
    var pendingUntil: Date?
    /// When it last changed; nil if it never did.
    var updatedAt: Date?
    /// The grant whose access token enrolled it; nil for what came about otherwise.
    var grantID: String?
    /// When it was deleted. It is remembered for a while, so that a device can be told.
    var deletedAt: Date?
    /// The version of the record that it was read from; 0 before it is stored.
    var version: Int64 = 0
    /// The digest of the link that came with the code that was just used up; not stored.
    var spentLink: [UInt8]?

    private enum CodingKeys: String, CodingKey {
        case id, userID, factor, status, createdAt, push, totp, code, question, hotp, token, pendingUntil, updatedAt, grantID, deletedAt
    }

    /// Seconds that a deleted enrolment is remembered.
    static let retention: TimeInterval = 30 * 86_400

    /// When it can be forgotten; nil unless it is deleted, or was never confirmed.
    var expiresAt: Date? { deletedAt?.addingTimeInterval(Self.retention) ?? pendingUntil }

    /// The record to store. What is deleted is found by its id only: it must be in nobody's way.
    func record() throws -> Record {
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
    init(_ record: Record) throws {
        self = try RecordCoding.decode(Enrollment.self, from: record)
        version = record.version
    }
}

extension Enrollment {
    init(id: String, userID: String, factor: FactorKind, status: Status, createdAt: Date, push: PushMethod? = nil) {
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
    var unchanged: Change { .unchanged(RecordReference(.enrollment, id), version: version) }

    /// Whether it is confirmed: active or suspended.
    var isHeld: Bool { status == .active || status == .suspended }

    /// Whether it stands between a password and the account. A question does not: it can be asked nowhere but by the classic API, and
    /// whoever knows much of a person knows the answer.
    var isStrong: Bool { factor != .question }
}
