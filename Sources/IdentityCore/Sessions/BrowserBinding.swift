internal import Store

/// The browser in which a sign-in, or a recovery on the pages, continues: until the first proof, the browser that started it. Each proof
/// binds the sign-in to a new secret, which only the proving browser gets.
package struct BrowserBinding: Sendable, Equatable, Codable {
    /// The maximum number of valid secrets: each submission of a form creates one.
    private static let most = 4

    /// The digest of the secret of the browser that started the sign-in.
    package var start: [UInt8]
    /// The digests of the secrets that browsers got for a proof, the most recent last; empty before the first proof.
    private(set) var proved: [[UInt8]] = []

    /// Creates a binding to the browser with this secret, which starts a sign-in.
    package init(_ secret: String) { start = TicketDigest(of: secret).bytes }

    /// Whether a proof was completed, so that ``start`` is no longer sufficient.
    package var isProved: Bool { !proved.isEmpty }

    /// Returns the secret by which the browser continues the sign-in; `nil` for another browser.
    package func secret(of browser: BrowserSecrets) -> String? {
        guard isProved else { return startSecret(of: browser) }
        return browser.possibleSignIn.flatMap { isBound(to: $0) ? $0 : nil }
    }

    /// Returns the secret of the browser that started the sign-in; `nil` for another browser. An attacker may know this secret.
    package func startSecret(of browser: BrowserSecrets) -> String? {
        browser.possibleBrowser.flatMap { TicketDigest(of: $0).bytes == start ? $0 : nil }
    }

    package func isBound(to secret: String) -> Bool {
        let digest = TicketDigest(of: secret).bytes
        return isProved ? proved.contains(digest) : digest == start
    }

    /// Binds to the browser that completed a proof. Only this browser gets the new secret.
    package mutating func bind(to secret: String) { proved = proved.suffix(Self.most - 1) + [TicketDigest(of: secret).bytes] }

    /// The binding to the browser that started the sign-in, without the proofs, for a sign-in that restarts.
    package var unproved: BrowserBinding {
        var binding = self
        binding.proved = []
        return binding
    }

    private enum CodingKeys: String, CodingKey { case start, proved }

    package init(from decoder: any Decoder) throws {
        // Records of earlier versions contain only the digest.
        if let digest = try? decoder.singleValueContainer().decode([UInt8].self) {
            start = digest
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        start = try container.decode([UInt8].self, forKey: .start)
        proved = try container.decodeIfPresent([[UInt8]].self, forKey: .proved) ?? []
    }
}
