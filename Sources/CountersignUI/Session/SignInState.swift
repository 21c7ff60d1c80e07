public import JOSE

/// The state of a ``SignInSession``.
public enum SignInState: Sendable, Equatable {
    /// No user is signed in, and no sign-in is in progress. The screen asks for the user name.
    case signedOut
    /// A sign-in is in progress, at this step.
    case signingIn(SignInStep)
    /// A user is signed in.
    case signedIn
    /// A user is signed in, but the last refresh failed for a reason unrelated to the session, such as no network. The session is kept.
    case offline
    /// The device or the session is locked. The user is still signed in; ``SignInSession/unlock(verifying:)`` continues.
    case locked
    /// The server ended the session, or it has expired. The user must sign in again.
    case expired
}

/// A step of a sign-in, which the screen shows.
public struct SignInStep: Sendable, Equatable {
    /// The kind of a step. Later versions may add kinds, so a screen must handle unknown ones.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name of the kind.
        public let rawValue: String

        /// Creates a kind from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The server checks the user name and the password.
        public static let credentials = Kind(rawValue: "credentials")
        /// The user chooses a second factor from ``SignInStep/factors``.
        public static let factors = Kind(rawValue: "factors")
        /// The user approves on another device, with ``SignInStep/number`` if it is not `nil`.
        public static let push = Kind(rawValue: "push")
        /// The user enters a code; ``SignInStep/factor`` says which.
        public static let code = Kind(rawValue: "code")
        /// The system asks for a passkey.
        public static let passkey = Kind(rawValue: "passkey")
        /// The user signs in in the browser.
        public static let browser = Kind(rawValue: "browser")
    }

    /// The kind of the step.
    public let kind: Kind
    /// The second factor of the step; `nil` for none.
    public let factor: SignInFactor?
    /// The second factors that the user can choose, in the order of ``SignInOptions/secondFactors``; empty before the first factor is
    /// proved.
    public let factors: [SignInFactor]
    /// The number that the user selects on the other device; `nil` without a number.
    public let number: String?

    /// Creates a step.
    public init(_ kind: Kind, factor: SignInFactor? = nil, factors: [SignInFactor] = [], number: String? = nil) {
        self.kind = kind
        self.factor = factor
        self.factors = factors
        self.number = number
    }
}

extension SignInStep: Redacted {
    /// The kind and the factor, without the number.
    public var description: String { [kind.rawValue, factor?.rawValue].compactMap(\.self).joined(separator: " ") }
}

/// The texts that the user types.
public struct SignInForm: Sendable, Equatable {
    /// The user name.
    public var userName = ""
    /// The password. The session clears it as soon as the server has accepted or refused it, and when the sign-in is cancelled, the screen
    /// disappears, or a user is signed in or out. It keeps the password after a network failure.
    public var password = ""
    /// The one-time code or recovery code.
    public var code = ""

    /// Creates an empty form.
    public init() {}

    /// The user name without surrounding spaces, which keyboards add.
    var trimmedUserName: String { userName.trimmingSpaces }

    /// The code without surrounding spaces.
    var trimmedCode: String { code.trimmingSpaces }
}

extension SignInForm: Redacted {}

extension String {
    fileprivate var trimmingSpaces: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
