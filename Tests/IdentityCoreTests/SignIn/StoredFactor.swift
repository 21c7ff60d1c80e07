import Foundation
import Testing

@testable import IdentityCore
@testable import Store

extension Store {
    /// Stores an enrolled factor of a kind, for tests of rules that depend only on the kinds of a user's factors.
    func enroll(_ factor: FactorKind, of userID: String, at time: Date) async throws {
        let enrollment = Enrollment(
            id: "enr-\(userID)-\(factor.rawValue)", userID: userID, method: .unsupported(factor), status: .active, createdAt: time)
        #expect(try await commit([.put(try enrollment.record())]) == .committed)
    }
}
