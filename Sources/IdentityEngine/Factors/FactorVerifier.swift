internal import Foundation

/// A kind of factor.
///
/// Open, so that a factor is added by one file: its kind, its class, its verifier.
struct FactorKind: RawRepresentable, Hashable, Sendable, Codable {
    var rawValue: String

    init(rawValue: String) {
        self.rawValue = rawValue
    }

    static let password = FactorKind(rawValue: "password")
    static let push = FactorKind(rawValue: "push")
    static let totp = FactorKind(rawValue: "totp")

    /// The grants by which a client can present the factor as the second one; what `supported_challenge_types` lists.
    var secondFactorGrantTypes: [String] {
        switch self {
        case .push: ["http://auth0.com/oauth/grant-type/mfa-oob"]
        case .totp: ["http://auth0.com/oauth/grant-type/mfa-otp"]
        default: []
        }
    }
}

/// What a factor rests on; two factors count as two only if they differ in this.
enum FactorClass: String, Sendable, Codable {
    case knowledge, possession, inherence
}

/// What a person answered.
enum FactorResponse: Sendable {
    case password(String)
}

/// What an answer came to.
enum FactorVerdict: Sendable, Equatable {
    /// It is right; `passwordHash` replaces the stored one if its parameters are out of date.
    case proved(passwordHash: String?)
    /// It is wrong, or there is nothing that it could be right against.
    case failed
}

/// Checks one kind of factor.
///
/// The asynchronous part of a sign-in: it computes or calls out, decides nothing beyond its verdict and writes nothing.
/// ``SignInTransaction`` turns the verdict into an outcome. Conforming types are safe from any task.
protocol FactorVerifier: Sendable {
    /// What it checks.
    var kind: FactorKind { get }
    /// What the factor rests on.
    var factorClass: FactorClass { get }
    /// What it adds to `amr` (RFC 8176).
    var methods: [String] { get }

    /// Checks an answer. Takes as long for nobody as for somebody.
    ///
    /// - Parameters:
    ///   - response: What the person answered.
    ///   - user: The person; nil if the name that they gave is nobody's.
    ///   - policy: The password policy.
    /// - Returns: Whether the answer is right.
    /// - Throws: What keeps it from telling, such as ``PasswordHasher/Overloaded``.
    func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) async throws -> FactorVerdict
}

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
