public import AuthFoundation
public import Foundation
internal import OktaDirectAuth

/// A way to start a sign-in. Later versions may add methods.
public struct SignInMethod: RawRepresentable, Hashable, Sendable {
    /// The name of the method.
    public let rawValue: String

    /// Creates a method from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A password, and then the second factor that the server requires.
    public static let password = SignInMethod(rawValue: "password")
    /// A passkey without a password. `SignInView` shows Apple's sheet on iOS, macOS, tvOS and visionOS; elsewhere, the app sets
    /// ``SignInSession/passkeySigner``.
    public static let passkey = SignInMethod(rawValue: "passkey")
    /// The server's pages in a browser. The client needs a redirect URI.
    public static let browser = SignInMethod(rawValue: "browser")
}

/// A second factor. Later versions may add factors.
public struct SignInFactor: RawRepresentable, Hashable, Sendable, Identifiable {
    /// The name of the factor.
    public let rawValue: String

    /// Creates a factor from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the factor.
    public var id: String { rawValue }

    /// An approval on another device of the user.
    public static let push = SignInFactor(rawValue: "push")
    /// A passkey after the password.
    public static let passkey = SignInFactor(rawValue: "passkey")
    /// A code of an authenticator app.
    public static let authenticatorCode = SignInFactor(rawValue: "authenticatorCode")
    /// A code by text message.
    public static let textMessage = SignInFactor(rawValue: "textMessage")
    /// A code by voice call.
    public static let call = SignInFactor(rawValue: "call")
    /// A recovery code that the user saved.
    public static let recoveryCode = SignInFactor(rawValue: "recoveryCode")

    /// The grant type that the server names if it accepts the factor.
    var grantType: GrantType? {
        switch self {
        case .push, .textMessage, .call: .oobMFA
        case .authenticatorCode, .recoveryCode: .otpMFA
        case .passkey: .webAuthnMFA
        default: nil
        }
    }

    /// Whether the server sends the code, so that the user can request another one.
    var isSentCode: Bool { self == .textMessage || self == .call }

    /// Whether the user already has the code, so that the server sends none.
    var isOwnCode: Bool { self == .authenticatorCode || self == .recoveryCode }
}

/// The methods and factors of a ``SignInSession``.
public struct SignInOptions: Sendable {
    /// The methods that the first screen offers, of ``SignInMethod/password``, ``SignInMethod/passkey`` and ``SignInMethod/browser``.
    public var methods: [SignInMethod]

    /// The second factors that the app supports, in the order in which the screen lists them. The screen shows those that the server
    /// accepts. Servers do not say whether a user has a phone number, so the default omits ``SignInFactor/textMessage`` and
    /// ``SignInFactor/call``: add them if your users have numbers.
    public var secondFactors: [SignInFactor]

    /// The page for users who forgot the password; `nil` for no link. Countersign's server redirects `/.well-known/change-password` to
    /// such a page if its organization has recovery.
    public var recoveryURL: URL?

    /// Whether the session refreshes its tokens before they expire. The default is `true`.
    public var refreshesAutomatically: Bool

    /// The condition under which the user must unlock the session, such as with the face; `nil` for none. With a condition, the stored
    /// session is locked when a ``SignInSession`` is created, which is at each launch of the app. If the device is locked then, the session
    /// is locked as soon as it can be read. A lock does not hide the app's content in the system's app switcher: cover the content while
    /// the scene is not active.
    public var lockPolicy: Credential.LockPolicy?

    /// Creates options.
    public init(
        methods: [SignInMethod] = [.password, .passkey],
        secondFactors: [SignInFactor] = [.push, .passkey, .authenticatorCode, .recoveryCode], recoveryURL: URL? = nil,
        refreshesAutomatically: Bool = true, lockPolicy: Credential.LockPolicy? = nil
    ) {
        self.methods = methods
        self.secondFactors = secondFactors
        self.recoveryURL = recoveryURL
        self.refreshesAutomatically = refreshesAutomatically
        self.lockPolicy = lockPolicy
    }

    /// Returns the grant types that the server may use, so that it offers no factor without a screen.
    func grantTypes(withPasskeys hasPasskeys: Bool) -> [GrantType] {
        var types: [GrantType] = methods.contains(.password) ? [.password] : []
        if hasPasskeys, methods.contains(.passkey) { types.append(.webAuthn) }
        for factor in secondFactors where hasPasskeys || factor != .passkey {
            if let type = factor.grantType, !types.contains(type) { types.append(type) }
        }
        return types
    }
}
