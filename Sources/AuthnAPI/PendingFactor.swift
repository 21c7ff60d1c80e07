internal import Foundation
internal import IdentityCore
internal import JOSE

/// A factor that awaits its confirmation.
struct PendingFactor: Sendable {
    let enrollment: Enrollment
    /// The setup data of an authenticator app; `nil` for other factors.
    let offer: TOTPEnrollmentOffer?
    private let pictureToken: String

    /// Creates the pending factor; `nil` if the enrollment is not pending, has expired, or belongs to another user. `signIn` is the id of
    /// the sign-in that started the enrollment.
    init?(
        _ enrollment: Enrollment, of user: User, in signIn: String, organization: String, environment: EngineEnvironment, now: Date
    ) throws {
        guard enrollment.status == .pending, enrollment.userID == user.id, let until = enrollment.pendingUntil, now < until else {
            return nil
        }
        self.enrollment = enrollment
        offer = try enrollment.totp.map { totp in
            TOTPEnrollmentOffer(
                id: enrollment.id, secret: try totp.secret(ofEnrollment: enrollment.id, environment: environment), issuer: organization,
                account: user.login, expiresAt: until)
        }
        pictureToken = "\(signIn).\(Base64URL.encode(Self.code(of: enrollment.id, in: signIn, environment: environment)))"
    }

    /// Returns the factor as the client sees it.
    func factor(_ state: ClassicState) -> ClassicFactor {
        var factor = state.factor(enrollment)
        factor.isSetUp = false
        factor.activation = offer.map { ClassicActivation(secret: $0.secret, pictureToken: pictureToken) }
        return factor
    }

    /// Derives the code from the factor and its sign-in with the master key: it is stable, and a caller cannot compute it.
    private static func code(of id: String, in signIn: String, environment: EngineEnvironment) -> [UInt8] {
        environment.masterKeys.code(for: material(id, signIn))
    }

    private static func material(_ id: String, _ signIn: String) -> [UInt8] { Array("authn picture \(signIn) \(id)".utf8) }

    /// Returns the sign-in to which a picture token belongs; `nil` if it is not a token of this factor.
    static func signIn(ofPictureToken token: String, of id: String, environment: EngineEnvironment) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, id.utf8.count <= 100, let given = try? Base64URL.decode(parts[1]),
            environment.masterKeys.isCode(given, for: material(id, parts[0]))
        else { return nil }
        return parts[0]
    }
}
