import Testing

@testable import IdentityCore

@Suite("A password hash")
struct PasswordHashTests {
    private let salt = [UInt8](1...16)

    @Test("A password hash matches only its password, and is unchanged after it is written as text and read again")
    func matches() throws {
        let hash = try PasswordHash(deriving: "Correct-Horse-7", logN: 10, salt: salt)
        #expect(hash.text.hasPrefix("$scrypt$ln=10,r=8,p=1$"))
        let read = try #require(PasswordHash(hash.text))
        #expect(read == hash)
        #expect(try read.matches("Correct-Horse-7"))
        #expect(try !read.matches("correct-horse-7"))
        #expect(try !read.matches(""))
    }

    @Test("A password hash equals the vector of RFC 7914 section 12 for N=16384, r=8, p=1")
    func vector() throws {
        let hash = try PasswordHash(deriving: "pleaseletmein", logN: 14, salt: Array("SodiumChloride".utf8))
        let hexadecimal = hash.hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hexadecimal == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")
    }

    @Test(
        "A password hash matches its password at the default cost of 32 MiB, and the hash of an empty password matches only the empty password"
    )
    func costs() throws {
        #expect(try PasswordHash(deriving: "Correct-Horse-7", logN: 15, salt: salt).matches("Correct-Horse-7"))
        let empty = try PasswordHash(deriving: "", logN: 10, salt: salt)
        #expect(try empty.matches("") && !empty.matches("x"))
    }

    @Test("A password matches its hash in composed and in decomposed Unicode form")
    func composition() throws {
        #expect(try PasswordHash(deriving: "pass\u{E9}-mot-de", logN: 10, salt: salt).matches("passe\u{301}-mot-de"))
    }

    @Test(
        "A damaged password hash is rejected",
        arguments: [
            "", "plain", "$scrypt$ln=10,r=8,p=1$AAAA", "$bcrypt$ln=10,r=8,p=1$AAAA$AAAA", "$scrypt$ln=40,r=8,p=1$AAAA$AAAA",
            "$scrypt$ln=x,r=8,p=1$AAAA$AAAA", "$scrypt$r=8,p=1$AAAA$AAAA", "$scrypt$ln=10,r=8,p=1$AAAA$AAAA", "$scrypt$ln=10,r=8,p=1$!$!",
        ])
    func damaged(text: String) {
        #expect(PasswordHash(text) == nil)
    }

    @Test("A password hash needs an update if its cost differs from the policy's cost, or if the hash is damaged")
    func rehash() throws {
        let text = try PasswordHash(deriving: "Correct-Horse-7", logN: 10, salt: salt).text
        #expect(!PasswordHasher.needsRehash(text, logN: 10))
        #expect(PasswordHasher.needsRehash(text, logN: 11))
        #expect(PasswordHasher.needsRehash("damaged", logN: 10))
    }
}
