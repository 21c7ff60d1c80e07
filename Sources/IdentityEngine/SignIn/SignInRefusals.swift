extension Refusal {
    /// The same refusal for a wrong password, an unknown name, and an account that is locked, closed or without a password.
    static func wrongCredentials(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The credentials provided were invalid.", reason: reason)
    }

    /// The refusal if the client named a user and another user signed in.
    static let otherPerson = Refusal(
        .loginRequired, "Another person than the one that the application named signed in.", reason: "id_token_hint names another user")

    /// The refusal if two factors are required and the user or the client has no second factor.
    static func noSecondFactor(decision: SignOnDecision, demanded: Bool) -> Refusal {
        guard decision.assurance == .twoFactors || demanded else {
            return Refusal(
                .unmetAuthenticationRequirements, "The requested authentication needs a second factor, and none can be used.",
                reason: "acr_values asks for two factors; no usable second factor")
        }
        return Refusal(
            .accessDenied, "This application needs a second factor, and none can be used. Set one up and sign in again.",
            reason: decision.reason + "; no usable second factor")
    }
}
