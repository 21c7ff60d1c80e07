internal import Crypto
internal import Foundation
internal import JOSE

/// The network and the device from which a request comes, as digests. The lockout, the limits on pushes and the queue for password hashing
/// treat a user's known origins separately.
package struct RequestOrigin: Sendable, Hashable, Codable {
    /// The digest of the address, or of its /64 for IPv6; `nil` if the address is unknown.
    var network: String?
    /// The digest of a device's secret; `nil` if the request has no trusted secret.
    var device: String?
    /// The digest of the secret that the hosted pages gave to the browser; `nil` if the request has none.
    package var browser: String?
    /// `true` if the request comes from a back end, whose network all its users share; otherwise `nil`.
    var isBackEnd: Bool?
    /// The name of the authenticated client or caller whose back end sends the request; `nil` for none. It is not stored.
    var backEnd: String?

    private enum CodingKeys: String, CodingKey {
        case network, device, browser, isBackEnd
    }

    /// An origin that never counts as known.
    package static let unknown = RequestOrigin()

    init(network: String? = nil, device: String? = nil) {
        (self.network, self.device) = (network, device)
    }

    /// Creates the origin of a request to sign in to `application`. Only a confidential client can name a device in `X-Device-Token`;
    /// `device` is the digest of a device secret from another source. `isOnPages` means that the user's browser sends the request to the
    /// hosted pages. Other requests of a confidential client come from its back end.
    package init(_ context: RequestContext, application: Application, device: [UInt8]? = nil, isOnPages: Bool = false) {
        network = context.address.map { Self.digest(of: RateLimiter.Subject.network(of: $0)) }
        let named = application.isConfidential ? context.deviceToken.map { Self.digest(of: $0) } : nil
        browser = RequestOrigin(browserOf: context).browser
        self.device = device.map { Self.digest(of: Base64URL.encode($0)) } ?? named
        let client = application.isConfidential && !isOnPages ? "c" + application.id : nil
        backEnd = context.backEnd.map { "s" + $0 } ?? client
        isBackEnd = backEnd == nil ? nil : true
    }

    /// Creates an origin that contains only the browser of a request.
    package init(browserOf context: RequestContext) {
        browser = context.browserDevice.flatMap { BrowserSecrets.isPossible($0) ? Self.digest(of: $0) : nil }
    }

    /// The names by which an account remembers the origin, the device before the network. The network of a back end is excluded, because
    /// its users share it.
    var ids: [String] { [browser.map { "b" + $0 }, device.map { "d" + $0 }, isBackEnd == true ? nil : networkID].compactMap(\.self) }

    var networkID: String? { network.map { "n" + $0 } }

    fileprivate static func digest(of text: String) -> String {
        Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)).prefix(12)))
    }
}

/// An origin from which the user completed a sign-in, with the wrong answers from this origin since then.
struct KnownOrigin: Sendable, Equatable, Codable {
    /// The maximum number of origins per account. Origins with only a password proof are forgotten first, then the least recently used.
    static let most = 20

    /// One of ``RequestOrigin/ids``.
    var id: String
    /// The factors that the user proved in completed sign-ins from this origin.
    var proved: Set<String> = []
    var failures: FailureCounts?
    /// The times of pushes in the last day that this network requested without a proof and that were not approved; `nil` for none.
    var pushes: [Date]?

    /// Whether an attacker who knows only the password could have created this entry.
    fileprivate var isProvedByPasswordAlone: Bool { proved.isSubset(of: [FactorKind.password.rawValue]) }
}

/// A group of callers whose wrong answers are counted together.
enum Callers: Hashable, Sendable {
    /// One origin that the user has used before.
    case known(String)
    /// All other origins.
    case others
}

extension User {
    /// Returns the group of callers of a request. A known device takes precedence over a known network, which others may share.
    func callers(from origin: RequestOrigin) -> Callers {
        origin.ids.first { id in usedOrigins?.contains { $0.id == id } == true }.map(Callers.known) ?? .others
    }

    /// Returns the name of the request's known device or browser; `nil` for none. Networks are excluded, because others may share them: a
    /// response that depends on the network would reveal that the user has signed in from it.
    func knownDevice(of origin: RequestOrigin) -> String? {
        guard case .known(let id) = callers(from: origin), id != origin.networkID else { return nil }
        return id
    }

    /// Returns the name of the request's device or browser, if the user proved more there than the password, which an attacker can know;
    /// otherwise `nil`.
    func provedDevice(of origin: RequestOrigin) -> String? {
        knownDevice(of: origin).flatMap { id in
            usedOrigins?.contains { $0.id == id && !$0.isProvedByPasswordAlone } == true ? id : nil
        }
    }

    /// Whether the user completed a sign-in from the network before.
    func knowsNetwork(of origin: RequestOrigin) -> Bool {
        guard origin.isBackEnd != true, let id = origin.networkID else { return false }
        return usedOrigins?.contains { $0.id == id } == true
    }

    /// Remembers a browser that received this secret after a completed sign-in.
    package mutating func remember(browser secret: String, provedBy factors: Set<String>) {
        var origin = RequestOrigin()
        origin.browser = RequestOrigin.digest(of: secret)
        keep((usedOrigins ?? []) + origin.ids.map { KnownOrigin(id: $0, proved: factors) })
    }

    /// Whether the request has a browser secret that was issued for this user.
    package func knowsBrowser(of origin: RequestOrigin) -> Bool {
        guard let browser = origin.browser else { return false }
        return usedOrigins?.contains { $0.id == "b" + browser } == true
    }

    /// Whether the user completed a sign-in from the origin before.
    package func knows(_ origin: RequestOrigin) -> Bool { callers(from: origin) != .others }

    /// Remembers an origin from which the user completed a sign-in, with its factors. No-op if it is already the most recent one.
    mutating func remember(_ origin: RequestOrigin, provedBy factors: Set<String> = []) {
        let known = usedOrigins ?? []
        // An attacker can plant a cookie, so a browser counts only if its secret was issued for this user.
        let ids = origin.ids.filter { id in !id.hasPrefix("b") || known.contains { $0.id == id } }
        let used = ids.map { id in
            var origin = known.first { $0.id == id } ?? KnownOrigin(id: id)
            origin.proved.formUnion(factors)
            return origin
        }
        guard !used.isEmpty, Array(known.suffix(ids.count)) != used else { return }
        keep(known.filter { !ids.contains($0.id) } + used)
    }

    /// Stores the origins, which are ordered by last use, and forgets those above the maximum. Their counts are added to those of unknown
    /// origins, so that forgetting an origin resets no count.
    private mutating func keep(_ origins: [KnownOrigin]) {
        var kept = origins
        while kept.count > KnownOrigin.most {
            addCounts(of: kept.remove(at: kept.firstIndex(where: \.isProvedByPasswordAlone) ?? 0))
        }
        usedOrigins = kept
    }

    /// Forgets the origins with only a password proof, except `origin`: an attacker who knew the password may have used them.
    mutating func forgetOriginsOfPassword(except origin: RequestOrigin) {
        guard let known = usedOrigins else { return }
        func isForgotten(_ known: KnownOrigin) -> Bool { known.isProvedByPasswordAlone && !origin.ids.contains(known.id) }
        for forgotten in known where isForgotten(forgotten) { addCounts(of: forgotten) }
        let kept = known.filter { !isForgotten($0) }
        usedOrigins = kept.isEmpty ? nil : kept
    }

    /// Adds the counts of a forgotten origin to the counts of unknown origins.
    private mutating func addCounts(of forgotten: KnownOrigin) {
        if let failures = forgotten.failures { self[.others].add(failures, of: forgotten) }
        if let pushes = forgotten.pushes { strangersPushes = ((strangersPushes ?? []) + pushes).sorted() }
    }
}
