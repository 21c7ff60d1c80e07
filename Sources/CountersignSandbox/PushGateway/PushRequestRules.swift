internal import Foundation
internal import JOSE

/// The push service's rules for requests, except the provider token (Documentation/Protocol/Devices.md §9.2 and §9.3).
struct PushRequestRules {
    static let pushTypes: Set<String> = [
        "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk",
    ]
    static let maximumPayload = 4096

    let request: PushGatewayRequest

    /// Returns the refusal for a problem that is checked before the provider token; `nil` without a problem.
    func refusalOfAddress() -> PushGatewayAnswer? {
        guard let deviceToken = request.deviceToken else { return .refused(404, "BadPath") }
        guard request.method == "POST" else { return .refused(405, "MethodNotAllowed") }
        guard !deviceToken.isEmpty else { return .refused(400, "MissingDeviceToken") }
        let names = request.headers.map(\.name).filter { $0.hasPrefix("apns-") || $0 == "authorization" }
        guard Set(names).count == names.count else { return .refused(400, "DuplicateHeaders") }
        return nil
    }

    /// Returns the refusal for a problem of the headers, the payload or the format of the device token; `nil` without a problem.
    func refusal(allowing topics: Set<String>) -> PushGatewayAnswer? {
        refusalOfTopic(topics) ?? refusalOfHeaders() ?? refusalOfPayload() ?? refusalOfDeviceToken()
    }

    private func refusalOfTopic(_ topics: Set<String>) -> PushGatewayAnswer? {
        guard let topic = request.header("apns-topic") else { return .refused(400, "MissingTopic") }
        guard topic.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), topic.utf8.count <= 255 else { return .refused(400, "BadTopic") }
        return topics.contains(topic) ? nil : .refused(400, "TopicDisallowed")
    }

    private func refusalOfHeaders() -> PushGatewayAnswer? {
        guard let type = request.header("apns-push-type"), Self.pushTypes.contains(type) else { return .refused(400, "InvalidPushType") }
        let priority = request.header("apns-priority") ?? "10"
        guard ["1", "5", "10"].contains(priority), type != "background" || priority != "10" else { return .refused(400, "BadPriority") }
        if let expiration = request.header("apns-expiration"), UInt32(expiration) == nil { return .refused(400, "BadExpirationDate") }
        if let id = request.header("apns-id"), UUID(uuidString: id) == nil { return .refused(400, "BadMessageId") }
        if let collapseID = request.header("apns-collapse-id"), collapseID.utf8.count > 64 { return .refused(400, "BadCollapseId") }
        return nil
    }

    private func refusalOfPayload() -> PushGatewayAnswer? {
        guard !request.body.isEmpty else { return .refused(400, "PayloadEmpty") }
        return request.body.count <= Self.maximumPayload ? nil : .refused(413, "PayloadTooLarge")
    }

    private func refusalOfDeviceToken() -> PushGatewayAnswer? {
        let token = request.deviceToken ?? ""
        let isToken =
            token.utf8.count % 2 == 0
            && token.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 }
        return isToken ? nil : .refused(400, "BadDeviceToken")
    }
}

/// The push service's rules for provider tokens (Documentation/Protocol/Devices.md §9.2): signature, team, age and renewal frequency.
struct ProviderTokenRules {
    private struct Provider {
        let key: VerificationKey
        let teamID: String
        let topics: Set<String>
    }

    private struct Use {
        let token: String
        let teamID: String
        let since: Date
    }

    /// The maximum age of a token, in seconds.
    static let lifetime: TimeInterval = 60 * 60
    /// The accepted clock skew of a provider, in seconds.
    static let leeway: TimeInterval = 5 * 60
    /// The minimum time between two tokens on a connection, in seconds.
    static let shortestRenewal: TimeInterval = 20 * 60

    private var providers: [String: Provider] = [:]
    /// The token that each connection uses.
    private var uses: [Int: Use] = [:]

    mutating func trust(teamID: String, keyID: String, publicKey: JSONWebKey, topics: Set<String>) throws {
        providers[keyID] = Provider(key: try VerificationKey(publicKey, algorithm: .es256), teamID: teamID, topics: topics)
    }

    mutating func forget(connection: Int) {
        uses[connection] = nil
    }

    /// Checks the header `authorization`. Returns the topics that the provider may push to, or a refusal.
    mutating func check(_ authorization: String?, connection: Int, now: Date) -> Result<Set<String>, Refusal> {
        guard let authorization else { return .failure(.init(.refused(403, "MissingProviderToken"))) }
        let invalid = Refusal(.refused(403, "InvalidProviderToken"))
        let parts = authorization.split(separator: " ", maxSplits: 1).map(String.init)
        // All other defects of the token get the same response.
        guard parts.count == 2, parts[0].lowercased() == "bearer", let signature = try? JSONWebSignature(parsing: parts[1]),
            signature.algorithm == .es256, let keyID = signature.keyID, let provider = providers[keyID],
            (try? signature.verify(with: provider.key)) != nil, let claims = try? signature.unverifiedClaims(),
            claims.issuer == provider.teamID, let issuedAt = claims.issueDate
        else { return .failure(invalid) }
        let age = now.timeIntervalSince(issuedAt)
        guard age <= Self.lifetime else { return .failure(.init(.refused(403, "ExpiredProviderToken"))) }
        guard age >= -Self.leeway else { return .failure(invalid) }
        return use(parts[1], of: provider, on: connection, now: now)
    }

    /// Enforces that a connection belongs to one team, and uses one token at a time.
    private mutating func use(_ token: String, of provider: Provider, on connection: Int, now: Date) -> Result<Set<String>, Refusal> {
        if let use = uses[connection], use.token != token {
            guard use.teamID == provider.teamID else { return .failure(.init(.refused(403, "InvalidProviderToken"))) }
            guard now.timeIntervalSince(use.since) >= Self.shortestRenewal else {
                return .failure(.init(.refused(429, "TooManyProviderTokenUpdates")))
            }
        }
        if uses[connection]?.token != token { uses[connection] = Use(token: token, teamID: provider.teamID, since: now) }
        return .success(provider.topics)
    }

    /// A response that ends the checks.
    struct Refusal: Error {
        let answer: PushGatewayAnswer

        init(_ answer: PushGatewayAnswer) { self.answer = answer }
    }
}
