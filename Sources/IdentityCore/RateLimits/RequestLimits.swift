internal import Crypto
internal import Foundation
internal import JOSE

extension Engine {
    /// Counts one request against the limits of its client and its address. Returns the limit with the fewest requests left, for the
    /// response headers; if the request is not admitted, the response has status 429. `clientID` may be unverified; it is `nil` if the
    /// request names no client.
    package func countRequest(clientID: String?, snapshot: OrgSnapshot, context: RequestContext) -> RateLimitStatus {
        let limits = snapshot.rateLimits
        // Only known clients are counted, because an attacker could fill the table with invented names.
        let address = context.address.map { rateLimiter.count(.from($0), limit: limits.perAddress, now: context.now) }
        // A request over the address limit does not count for the client, because one peer could exhaust the limit of all.
        let isRefused = address?.isAdmitted == false
        let client = (isRefused ? nil : clientID).flatMap { snapshot.application($0) }.map {
            rateLimiter.count(.client($0.id), limit: limits.perClient, now: context.now)
        }
        let nearest = [client, address].compactMap { $0 }.min {
            ($0.isAdmitted ? 1 : 0, $0.remaining) < ($1.isAdmitted ? 1 : 0, $1.remaining)
        }
        return nearest ?? rateLimiter.count(.address("unknown"), limit: limits.perAddress, now: context.now)
    }

    /// Counts one sign-in attempt for its address. If the address is within its limit, also counts the attempt for the user name: one peer
    /// cannot exhaust a user's attempts. Attempts with a known device or browser of the user have their own limit, which an attacker
    /// elsewhere cannot exhaust.
    package func countAttempt(
        login: String, of user: User? = nil, from origin: RequestOrigin = .unknown, snapshot: OrgSnapshot, context: RequestContext
    ) -> RateLimitStatus {
        if let refused = refusedAddress(snapshot, context) { return refused }
        return rateLimiter.count(.signIn(as: login, by: user, from: origin), limit: snapshot.rateLimits.perUser, now: context.now)
    }

    /// Counts an attempt that starts a sign-in, before the user is identified.
    package func countFirstAttempt(
        login: String, from origin: RequestOrigin, snapshot: OrgSnapshot, context: RequestContext
    ) async throws -> RateLimitStatus {
        if let refused = refusedAddress(snapshot, context) { return refused }
        let limit = snapshot.rateLimits.perUser
        let status = rateLimiter.count(.signIn(as: login), limit: limit, now: context.now)
        guard !status.isAdmitted, let user = try await user(login: login), user.knownDevice(of: origin) != nil else { return status }
        return rateLimiter.count(.signIn(as: login, by: user, from: origin), limit: limit, now: context.now)
    }

    /// Counts an attempt that starts a sign-in, for a user who was read already. `user` is `nil` for an unknown name.
    package func countFirstAttempt(
        login: String, of user: User?, from origin: RequestOrigin, snapshot: OrgSnapshot, context: RequestContext
    ) -> RateLimitStatus {
        if let refused = refusedAddress(snapshot, context) { return refused }
        let limit = snapshot.rateLimits.perUser
        let status = rateLimiter.count(.signIn(as: login), limit: limit, now: context.now)
        guard !status.isAdmitted, let user, user.knownDevice(of: origin) != nil else { return status }
        return rateLimiter.count(.signIn(as: login, by: user, from: origin), limit: limit, now: context.now)
    }

    /// Counts an attempt for its address. Returns the exceeded limit; `nil` if the attempt is within the limit.
    private func refusedAddress(_ snapshot: OrgSnapshot, _ context: RequestContext) -> RateLimitStatus? {
        guard let address = context.address else { return nil }
        let status = rateLimiter.count(.signIns(from: address), limit: snapshot.rateLimits.perAddressSignIns, now: context.now)
        return status.isAdmitted ? nil : status
    }
}

extension Engine {
    /// Counts a sign-in that starts on the pages against the limit of its address, so that an attacker cannot fill the disk. Returns the
    /// exceeded limit; `nil` if the sign-in is within the limit.
    package func countBeginning(snapshot: OrgSnapshot, context: RequestContext) -> RateLimitStatus? {
        guard let address = context.address else { return nil }
        let status = rateLimiter.count(.beginnings(from: address), limit: snapshot.rateLimits.perAddressSignIns, now: context.now)
        return status.isAdmitted ? nil : status
    }
}

extension RateLimiter.Subject {
    /// Returns the subject of the limit on sign-ins with a user name. Long names are counted by their digest, so that invented names cannot
    /// fill the memory.
    static func signIn(as login: String) -> Self {
        let key = User.key(forLogin: login)
        return .user(key.utf8.count <= 64 ? key : Base64URL.encode(Array(SHA256.hash(data: Array(key.utf8)))))
    }

    /// Returns the subject of the limit on sign-ins of a user. Sign-ins with a known device or browser are counted separately.
    static func signIn(as login: String, by user: User?, from origin: RequestOrigin) -> Self {
        guard let user, let id = user.knownDevice(of: origin) else { return signIn(as: login) }
        return .user("\(user.id) \(id)")
    }

    /// Returns the subject of the limit on sign-in attempts from an address.
    static func signIns(from address: String) -> Self {
        if case .address(let key) = from(address) { .signIns(key) } else { .signIns(address) }
    }

    /// Returns the subject of the limit on sign-ins that start on the hosted pages, from an address.
    static func beginnings(from address: String) -> Self {
        if case .address(let key) = from(address) { .beginnings(key) } else { .beginnings(address) }
    }

    /// Returns the network of an address, as the limits count it: the /64 of an IPv6 address.
    static func network(of address: String) -> String { if case .address(let key) = from(address) { key } else { address } }

    /// Returns the subject of the limit on requests from an address. IPv6 addresses are counted per /64, because a subscriber usually
    /// controls the whole /64. An IPv4-mapped IPv6 address counts as IPv4.
    package static func from(_ address: String) -> Self {
        guard address.utf8.contains(UInt8(ascii: ":")) else { return .address(address) }
        var bytes = [UInt8](repeating: 0, count: 16)
        // The zone id of an address is not parsed.
        guard inet_pton(AF_INET6, String(address.prefix { $0 != "%" }), &bytes) == 1 else { return .address(address) }
        if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            return .address(bytes[12...].map(String.init).joined(separator: "."))
        }
        return .address(bytes[..<8].map { String($0, radix: 16) }.joined(separator: ":") + "/64")
    }
}

extension Refusal {
    /// Returns the error for a request over a limit: `E0000047`, status 429. `reason` names the limit's subject for the log.
    package static func tooManyRequests(_ status: RateLimitStatus?, reason: String) -> Refusal {
        Refusal(.tooManyRequests, "Too many requests. Wait and try again.", reason: reason, rateLimit: status)
    }
}
