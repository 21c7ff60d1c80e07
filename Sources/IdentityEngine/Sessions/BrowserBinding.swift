/// The browser that a sign-in, or a recovery on the pages, continues in.
///
/// At first that is the browser in which it began. The first proof binds it to a new secret, which only the browser gets that sent the proof.
struct BrowserBinding: Sendable, Equatable, Codable {
    /// The most secrets that are good at the same time: a form that is sent twice gives two.
    private static let most = 4

    /// The digest of the secret of the browser in which it began.
    var start: [UInt8]
    /// The digests of the secrets that browsers got for a proof, the latest last; empty before the first proof.
    private(set) var proved: [[UInt8]] = []

    /// Binds to the browser in which a sign-in begins.
    ///
    /// - Parameter secret: The browser's secret.
    init(_ secret: String) { start = TicketDigest(of: secret).bytes }

    /// Whether something was proved, so that ``start`` is not enough any more.
    var isProved: Bool { !proved.isEmpty }

    /// The secret by which a browser continues; nil for another browser.
    func secret(of browser: BrowserSecrets) -> String? {
        guard isProved else { return startSecret(of: browser) }
        return browser.possibleSignIn.flatMap { isBound(to: $0) ? $0 : nil }
    }

    /// The secret of the browser in which it began; nil for another browser. After a proof an attacker may know it as well.
    func startSecret(of browser: BrowserSecrets) -> String? {
        browser.possibleBrowser.flatMap { TicketDigest(of: $0).bytes == start ? $0 : nil }
    }

    /// Whether it continues by a secret.
    func isBound(to secret: String) -> Bool {
        let digest = TicketDigest(of: secret).bytes
        return isProved ? proved.contains(digest) : digest == start
    }

    /// Binds to the browser that proved something.
    ///
    /// - Parameter secret: The new secret, which only that browser gets.
    mutating func bind(to secret: String) { proved = proved.suffix(Self.most - 1) + [TicketDigest(of: secret).bytes] }

    /// The same browser before any proof, for a sign-in that begins again.
    var unproved: BrowserBinding {
        var binding = self
        binding.proved = []
        return binding
    }

    private enum CodingKeys: String, CodingKey { case start, proved }

    init(from decoder: any Decoder) throws {
        // Records of before the first proof had a secret of its own hold the digest alone.
        if let digest = try? decoder.singleValueContainer().decode([UInt8].self) {
            start = digest
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        start = try container.decode([UInt8].self, forKey: .start)
        proved = try container.decodeIfPresent([[UInt8]].self, forKey: .proved) ?? []
    }
}
