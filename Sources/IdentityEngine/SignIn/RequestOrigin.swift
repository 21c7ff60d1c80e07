internal import Crypto
internal import Foundation
internal import JOSE

/// The network and the device that a request comes from, as digests.
///
/// The lockout, the limits on pushes and the queue for password hashing treat a user's known origins apart from all others.
struct RequestOrigin: Sendable, Hashable, Codable {
    /// The address; of IPv6, its /64. `nil` if the server does not know the address.
    var network: String?
    /// The secret that a device keeps; `nil` if the request brings none that can be trusted.
    var device: String?
    /// The secret that the hosted pages gave a browser; `nil` if it brings none.
    var browser: String?
    /// Whether the network is the one of a client's back end, which all users of the client share; `nil` if not.
    var isBackEnd: Bool?

    /// An origin that is never known.
    static let unknown = RequestOrigin()

    init(network: String? = nil, device: String? = nil) {
        (self.network, self.device) = (network, device)
    }

    /// The origin of a request.
    ///
    /// - Parameters:
    ///   - context: The request.
    ///   - application: The application that the user signs in to. Only a confidential client can name a device in `X-Device-Token`.
    ///   - device: The digest of the secret that the device brought by another way; `nil` for none.
    ///   - isOnPages: Whether the user's browser sends the request to the hosted pages. Other requests of a confidential client come from
    ///     its back end.
    init(_ context: RequestContext, application: Application, device: [UInt8]? = nil, isOnPages: Bool = false) {
        network = context.address.map { Self.digest(of: RateLimiter.Subject.network(of: $0)) }
        let named = application.isConfidential ? context.deviceToken.map { Self.digest(of: $0) } : nil
        browser = RequestOrigin(browserOf: context).browser
        self.device = device.map { Self.digest(of: Base64URL.encode($0)) } ?? named
        isBackEnd = context.isBackEnd || application.isConfidential && !isOnPages ? true : nil
    }

    /// The browser that a request comes from.
    init(browserOf context: RequestContext) {
        browser = context.browserDevice.flatMap { BrowserSecrets.isPossible($0) ? Self.digest(of: $0) : nil }
    }

    /// The names by which an account remembers the origin; the device, which is more specific than the network, is first. The network of a
    /// back end is not the user's.
    var ids: [String] { [browser.map { "b" + $0 }, device.map { "d" + $0 }, isBackEnd == true ? nil : networkID].compactMap(\.self) }

    /// The name of the network.
    var networkID: String? { network.map { "n" + $0 } }

    fileprivate static func digest(of text: String) -> String {
        Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)).prefix(12)))
    }
}

/// An origin from which the user completed a sign-in, and the wrong answers given from there since.
struct KnownOrigin: Sendable, Equatable, Codable {
    /// The most that an account remembers. Those where only the password was proved are forgotten first, and of them the one that was
    /// unused for the longest time.
    static let most = 20

    /// One of ``RequestOrigin/ids``.
    var id: String
    /// The factors that the user proved in completed sign-ins from there.
    var proved: Set<String> = []
    /// `nil` for none.
    var failures: FailureCounts?
    /// When callers without a proof sent pushes from this network that the user did not approve, in the last day; `nil` for none.
    var pushes: [Date]?

    /// Whether an attacker who knows the password can have it remembered.
    fileprivate var isProvedByPasswordAlone: Bool { proved.isSubset(of: [FactorKind.password.rawValue]) }
}

/// The requests whose wrong answers are counted together.
enum Callers: Hashable, Sendable {
    /// Requests from one origin that the user has used before.
    case known(String)
    /// Requests from all other origins.
    case others
}

extension User {
    /// The callers that a request belongs to. A known device goes before a known network, which others may share.
    func callers(from origin: RequestOrigin) -> Callers {
        origin.ids.first { id in usedOrigins?.contains { $0.id == id } == true }.map(Callers.known) ?? .others
    }

    /// The name of a device or a browser of the user that a request brings; `nil` if it brings none. A network, which others may share, is
    /// none: an answer that depends on it tells them that the user has signed in from there.
    func knownDevice(of origin: RequestOrigin) -> String? {
        guard case .known(let id) = callers(from: origin), id != origin.networkID else { return nil }
        return id
    }

    /// Remembers a browser that gets this secret now, after a completed sign-in.
    mutating func remember(browser secret: String, provedBy factors: Set<String>) {
        var origin = RequestOrigin()
        origin.browser = RequestOrigin.digest(of: secret)
        keep((usedOrigins ?? []) + origin.ids.map { KnownOrigin(id: $0, proved: factors) })
    }

    /// Whether the user's browser brings a secret that it got for this user.
    func knowsBrowser(of origin: RequestOrigin) -> Bool {
        guard let browser = origin.browser else { return false }
        return usedOrigins?.contains { $0.id == "b" + browser } == true
    }

    /// Whether the user completed a sign-in from there before.
    func knows(_ origin: RequestOrigin) -> Bool { callers(from: origin) != .others }

    /// Remembers an origin from which the user completed a sign-in by some factors. Changes nothing if it was the last one.
    mutating func remember(_ origin: RequestOrigin, provedBy factors: Set<String> = []) {
        let known = usedOrigins ?? []
        // Somebody else can plant a cookie: of browsers, only those count that got their secret for this user.
        let ids = origin.ids.filter { id in !id.hasPrefix("b") || known.contains { $0.id == id } }
        let used = ids.map { id in
            var origin = known.first { $0.id == id } ?? KnownOrigin(id: id)
            origin.proved.formUnion(factors)
            return origin
        }
        guard !used.isEmpty, Array(known.suffix(ids.count)) != used else { return }
        keep(known.filter { !ids.contains($0.id) } + used)
    }

    /// Keeps as many origins as an account remembers, the last one being the last that was used. What is counted of a forgotten one is added
    /// to the counts of unknown origins, so that forgetting resets no count.
    private mutating func keep(_ origins: [KnownOrigin]) {
        var kept = origins
        while kept.count > KnownOrigin.most {
            let forgotten = kept.remove(at: kept.firstIndex(where: \.isProvedByPasswordAlone) ?? 0)
            if let failures = forgotten.failures { self[.others].add(failures, of: forgotten) }
            if let pushes = forgotten.pushes { strangersPushes = ((strangersPushes ?? []) + pushes).sorted() }
        }
        usedOrigins = kept
    }
}
