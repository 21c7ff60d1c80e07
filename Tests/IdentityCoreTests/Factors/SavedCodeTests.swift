import Testing

@testable import IdentityCore

@Suite("Texts of recovery codes")
struct SavedCodeTests {
    @Test(
        "A typed recovery code is compared without case, separators and characters that look alike",
        arguments: ["abcd-efgh-jkmn-pqrs", "ABCD EFGH JKMN PQRS", "abcdefghjkmnpqrs", " abcd-\tefgh  jkmn pqrs\n"])
    func equal(typed: String) {
        #expect(SavedCode.normalized(typed) == "abcdefghjkmnpqrs")
    }

    @Test("The characters o, i and l stand for digits")
    func alike() {
        #expect(SavedCode.normalized("OOoo-IiLl-0011-abcd") == "000011110011abcd")
    }

    @Test(
        "Other texts are no recovery codes",
        arguments: [
            "", "123456", "abcd-efgh-jkmn-pqr", "abcd-efgh-jkmn-pqrst", "abcd-efgh-jkmn-pqru", "äbcd-efgh-jkmn-pqrs", "abcd_efgh_jkmn_pqrs",
        ])
    func others(typed: String) {
        #expect(SavedCode.normalized(typed) == nil)
    }

    @Test("A text of more than 64 bytes is no recovery code, whatever it contains")
    func long() {
        #expect(SavedCode.normalized(String(repeating: " ", count: 60) + "abcdefghjkmnpqrs") == nil)
    }

    @Test("A code is shown in groups that its own form accepts")
    func grouped() {
        #expect(SavedCode.grouped("abcdefghjkmnpqrs") == "abcd-efgh-jkmn-pqrs")
        #expect(SavedCode.normalized(SavedCode.grouped("abcdefghjkmnpqrs")) == "abcdefghjkmnpqrs")
    }
}
