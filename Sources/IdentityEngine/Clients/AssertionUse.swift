internal import Crypto
internal import Foundation
internal import JOSE

/// One use of a signed assertion by its `jti`, so that nobody uses it a second time (RFC 7519 section 4.1.7).
///
/// Whoever accepts an assertion commits ``change`` with what it led to: of two who bring the same one, one commits. Who decides
/// again after a conflict asks ``isMade(in:)`` first.
struct AssertionUse: Sendable {
    private let name: String
    private let end: Date

    /// - Parameters:
    ///   - id: The `jti`.
    ///   - issuer: Who made the assertion: ids are unique for each.
    ///   - end: The last second that the assertion is accepted, since 1970.
    init(of id: String, by issuer: String, until end: Double) {
        name = Base64URL.encode(Array(SHA256.hash(data: Array("\(issuer)\u{0}\(id)".utf8))))
        self.end = Date(clampingNumericDate: end)
    }

    /// Stores the id; conflicts if it is stored already.
    var change: Change { .put(Record(kind: .assertionID, id: name, expiresAt: end, payload: [])) }

    /// Whether the assertion was used before.
    func isMade(in view: any StoreView) throws -> Bool { try view.record(.assertionID, id: name) != nil }
}
