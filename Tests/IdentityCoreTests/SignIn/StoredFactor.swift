import Foundation
import Testing

@testable import IdentityCore
@testable import Store

extension Store {
    /// Stores a factor as it is after it was set up: for rules that ask only which kinds a person has.
    func enroll(_ factor: FactorKind, of userID: String, at time: Date) async throws {
        let enrollment = Enrollment(
            id: "enr-\(userID)-\(factor.rawValue)", userID: userID, method: .unsupported(factor), status: .active, createdAt: time)
        #expect(try await commit([.put(try enrollment.record())]) == .committed)
    }
}
