import Foundation
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Binding of a sign-in to a browser")
struct BrowserBindingTests {
    private static let start = String(repeating: "s", count: 43)

    @Test(
        "After the user proves a factor, the sign-in is bound to the secret of the browser with the proof, and no longer to the start secret"
    )
    func proof() {
        var binding = BrowserBinding(Self.start)
        #expect(binding.secret(of: BrowserSecrets(browser: Self.start)) == Self.start)
        let proved = String(repeating: "p", count: 43)
        binding.bind(to: proved)
        #expect(binding.secret(of: BrowserSecrets(browser: Self.start)) == nil)
        #expect(binding.startSecret(of: BrowserSecrets(browser: Self.start)) == Self.start)
        #expect(binding.secret(of: BrowserSecrets(signIn: proved)) == proved)
        #expect(binding.secret(of: BrowserSecrets(browser: proved, session: proved)) == nil)
        #expect(!binding.unproved.isProved && binding.unproved.isBound(to: Self.start))
    }

    @Test("A sign-in accepts only the browser secrets of its four most recent proofs")
    func bounded() {
        var binding = BrowserBinding(Self.start)
        let secrets = (1...5).map { String(repeating: "\($0)", count: 43) }
        for secret in secrets { binding.bind(to: secret) }
        #expect(secrets.map(binding.isBound) == [false, true, true, true, true])
    }

    @Test("A stored sign-in with only the digest of the browser's secret is decoded as a sign-in without a proof")
    func earlierRecords() throws {
        var binding = BrowserBinding(Self.start)
        let earlier = try JSONEncoder().encode(TicketDigest(of: Self.start).bytes)
        #expect(try JSONDecoder().decode(BrowserBinding.self, from: earlier) == binding)
        binding.bind(to: String(repeating: "p", count: 43))
        #expect(try JSONDecoder().decode(BrowserBinding.self, from: JSONEncoder().encode(binding)) == binding)
    }
}
