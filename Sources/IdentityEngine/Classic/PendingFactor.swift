internal import Crypto
internal import Foundation
internal import JOSE

/// A factor that waits to be shown to work.
struct PendingFactor: Sendable {
    let enrollment: Enrollment
    /// What the app is given; nil for a factor that is no app.
    let offer: TOTPEnrollmentOffer?
    private let pictureToken: String

    /// Nil for one that does not wait, is too late, or is another's.
    init?(_ enrollment: Enrollment, of user: User, organization: String, environment: EngineEnvironment, now: Date) throws {
        guard enrollment.status == .pending, enrollment.userID == user.id, let until = enrollment.pendingUntil, now < until else {
            return nil
        }
        self.enrollment = enrollment
        offer = try enrollment.totp.map { totp in
            TOTPEnrollmentOffer(
                id: enrollment.id, secret: try totp.secret(ofEnrollment: enrollment.id, environment: environment), issuer: organization,
                account: user.login, expiresAt: until)
        }
        pictureToken = Self.pictureToken(of: enrollment.id, environment: environment)
    }

    /// How the client sees it.
    func factor(_ state: ClassicState) -> ClassicFactor {
        var factor = state.factor(enrollment)
        factor.isSetUp = false
        factor.activation = offer.map { ClassicActivation(secret: $0.secret, pictureToken: pictureToken) }
        return factor
    }

    /// Follows from the factor: the same at every look, and nobody else's to make.
    private static func code(of id: String, environment: EngineEnvironment) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Array("authn picture \(id)".utf8), using: environment.masterKey)
    }

    private static func pictureToken(of id: String, environment: EngineEnvironment) -> String {
        Base64URL.encode(Array(code(of: id, environment: environment)))
    }

    static func isPictureToken(_ token: String, of id: String, environment: EngineEnvironment) -> Bool {
        guard id.utf8.count <= 100, let given = try? Base64URL.decode(token) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            given, authenticating: Array("authn picture \(id)".utf8), using: environment.masterKey)
    }
}
