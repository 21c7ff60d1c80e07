extension OrganizationDefinition {
    /// What is allowed, and most likely not meant: for the log of the start.
    ///
    /// - Returns: Every warning, with what to write instead.
    public func warnings() -> [OrganizationError.Problem] {
        guard let classic, classic.enrolling(.question) != .required else { return [] }
        let path: [OrganizationError.Problem.Step] = [.key("classic")]
        return CodeChannel.allCases.compactMap { channel in
            guard classic.recovery.contains(channel),
                let factor = ClassicPolicy.Factor.allCases.first(where: { $0.channel == channel }),
                classic.enrolling(factor) != .notAllowed
            else { return nil }
            let (place, word) = channel == .email ? ("mailbox", "email") : ("telephone", channel == .sms ? "sms" : "call")
            return OrganizationError.Problem(
                path + [.key("recovery")],
                "Whoever has a person's \(place) recovers the password by it, and has the second factor as well: two factors are one. "
                    + "Take \(word) from recovery or from factors, or ask for a question too (factors: question: required).")
        }
    }

    /// What nobody could set up, because nobody judges the codes of such tokens.
    ///
    /// - Returns: A problem for each kind of token of other systems that the definition offers; for a server without a ``TokenService``.
    public func problemsWithoutTokenService() -> [OrganizationError.Problem] {
        guard let classic else { return [] }
        return ClassicPolicy.Factor.allCases.filter { $0.tokenProvider != nil && classic.enrolling($0) != .notAllowed }.map { factor in
            OrganizationError.Problem(
                [.key("classic"), .key("factors"), .key(factor.rawValue)],
                "This server has no service that judges tokens of \(factor.wireName.provider), so nobody could set one up. "
                    + "Write not_allowed, or remove the line; a program that brings such a service starts the server by itself.")
        }
    }
}
