extension Refusal {
    /// The one answer to a wrong password, an unknown name, an account that is locked or closed or has no password.
    static func wrongCredentials(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The credentials provided were invalid.", reason: reason)
    }

    /// The client named a person, and somebody else signed in.
    static let otherPerson = Refusal(
        .loginRequired, "Another person than the one that the application named signed in.", reason: "id_token_hint names another user")

    /// Two factors are asked for and the person, or the client, has no second one: asking would lead nowhere.
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
