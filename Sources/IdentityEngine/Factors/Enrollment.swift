internal import Foundation

/// A factor that a person has enrolled beside the password; the payload of an enrolment record.
struct Enrollment: Sendable, Equatable, Codable {
    enum Status: String, Sendable, Codable { case pending, active, suspended }

    var id: String
    var userID: String
    var factor: FactorKind
    var status: Status
    var createdAt: Date

    /// A record of it that is not stored yet.
    func record() throws -> Record {
        Record(kind: .enrollment, id: id, indexedKeys: ["user": userID], payload: try RecordCoding.encode(self))
    }
}

extension IdentityEngine {
    /// Notes that a user has a factor, without the ceremony that sets it up: for tests and the sandbox.
    ///
    /// - Parameters:
    ///   - factor: `push` or `totp`.
    ///   - userID: The user.
    ///   - context: The request.
    /// - Returns: Whether there is such a user.
    /// - Throws: ``StoreError`` if the store failed.
    package func noteEnrollment(of factor: String, userID: String, context: RequestContext) async throws -> Bool {
        guard try await store.read({ [self] in try user(id: userID, in: $0) }) != nil else { return false }
        let enrollment = Enrollment(
            id: try environment.random.identifier(prefix: "enr"), userID: userID, factor: FactorKind(rawValue: factor), status: .active,
            createdAt: context.now)
        let log = try logEntry("user.mfa.factor.activate", .success, reason: factor, userID: userID, context: context)
        return try await store.commit([.put(try enrollment.record()), log]) == .committed
    }
}
