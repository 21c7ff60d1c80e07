/// The authentication contexts that a client can ask for by `acr_values` (OpenID Connect Core section 3.1.2.1).
enum AuthenticationContextClass: String, Sendable, CaseIterable {
    case oneFactor = "urn:okta:loa:1fa:any"
    case password = "urn:okta:loa:1fa:pwd"
    case twoFactors = "urn:okta:loa:2fa:any"
    case twoFactorsIfPossible = "urn:okta:loa:2fa:any:ifpossible"

    /// The first of the values asked for that this server knows; others are ignored.
    static func preferred(of values: [String]) -> AuthenticationContextClass? {
        values.lazy.compactMap(AuthenticationContextClass.init(rawValue:)).first
    }

    /// What it asks for beyond the application's policy.
    ///
    /// - Parameter hasSecondFactor: Whether the person has a second factor that the client can use.
    /// - Returns: One factor or two.
    func assurance(hasSecondFactor: Bool) -> SignOnRule.Assurance {
        switch self {
        case .oneFactor, .password: .oneFactor
        case .twoFactors: .twoFactors
        case .twoFactorsIfPossible: hasSecondFactor ? .twoFactors : .oneFactor
        }
    }
}

extension IdentityEngine {
    /// The authentication contexts that can be asked for, the weakest first.
    public static var supportedContextClasses: [String] { AuthenticationContextClass.allCases.map(\.rawValue) }
}
