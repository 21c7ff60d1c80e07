import Testing

@testable import IdentityCore

@Suite("Texts of recovery codes")
struct SavedCodeTests {
    @Test(
        "A typed recovery code is compared without case, separators and characters that look alike",
        arguments: ["abcd-efgh-jkmn", "ABCD EFGH JKMN", "abcdefghjkmn", " abcd-\tefgh  jkmn\n"])
    func equal(typed: String) {
        #expect(SavedCode.normalized(typed) == "abcdefghjkmn")
    }

    @Test("The characters o, i and l stand for digits")
    func alike() {
        #expect(SavedCode.normalized("OOoo-IiLl-0011") == "000011110011")
    }

    @Test(
        "Other texts are no recovery codes",
        arguments: ["", "123456", "abcd-efgh-jkm", "abcd-efgh-jkmnp", "abcd-efgh-jkmu", "äbcd-efgh-jkmn", "abcd_efgh_jkmn"])
    func others(typed: String) {
        #expect(SavedCode.normalized(typed) == nil)
    }

    @Test("A text of more than 64 bytes is no recovery code, whatever it contains")
    func long() {
        #expect(SavedCode.normalized(String(repeating: " ", count: 60) + "abcdefghjkmn") == nil)
    }

    @Test("A code is shown in groups that its own form accepts")
    func grouped() {
        #expect(SavedCode.grouped("abcdefghjkmn") == "abcd-efgh-jkmn")
        #expect(SavedCode.normalized(SavedCode.grouped("abcdefghjkmn")) == "abcdefghjkmn")
    }
}
