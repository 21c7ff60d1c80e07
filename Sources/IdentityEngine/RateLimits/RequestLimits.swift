extension IdentityEngine {
    /// Counts one request against the limits of its client and of its address.
    ///
    /// - Parameters:
    ///   - clientID: The client that the request names, checked or not; nil if it names none.
    ///   - snapshot: The configuration that the request is answered by.
    ///   - context: The request's time and address.
    /// - Returns: The limit that is nearest to its end, for the answer's headers; when it is not admitted, the front
    ///   door answers 429.
    public func countRequest(clientID: String?, snapshot: OrgSnapshot, context: RequestContext) -> RateLimitStatus {
        let limits = snapshot.rateLimits
        // Unknown names are not counted as clients: a stranger's inventions must not crowd the table.
        let client = clientID.flatMap { snapshot.application($0) }.map {
            rateLimiter.count(.client($0.id), limit: limits.perClient, now: context.now)
        }
        let address = context.address.map { rateLimiter.count(.address($0), limit: limits.perAddress, now: context.now) }
        let nearest = [client, address].compactMap { $0 }.min {
            ($0.isAdmitted ? 1 : 0, $0.remaining) < ($1.isAdmitted ? 1 : 0, $1.remaining)
        }
        return nearest ?? rateLimiter.count(.address("unknown"), limit: limits.perAddress, now: context.now)
    }

    /// Counts one sign-in attempt for a user name.
    func countAttempt(login: String, snapshot: OrgSnapshot, context: RequestContext) -> RateLimitStatus {
        rateLimiter.count(.user(User.key(forLogin: login)), limit: snapshot.rateLimits.perUser, now: context.now)
    }
}

extension Refusal {
    /// The refusal of a request that is over a limit.
    ///
    /// - Parameters:
    ///   - status: The limit that was met.
    ///   - reason: Whose limit it is, for the log.
    /// - Returns: `E0000047`, status 429.
    public static func tooManyRequests(_ status: RateLimitStatus?, reason: String) -> Refusal {
        Refusal(.tooManyRequests, "Too many requests. Wait and try again.", reason: reason, rateLimit: status)
    }
}
