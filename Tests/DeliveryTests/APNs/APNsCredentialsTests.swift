import Delivery
import Foundation
import JOSE
import Testing

@Suite("Credentials of the push service")
struct APNsCredentialsTests {
    let pem: String

    init() throws {
        pem = try #require(SigningKey.generate(.es256).privatePEM)
    }

    @Test("A team ID, a key ID and a P-256 key in PEM are valid APNs credentials")
    func areRead() throws {
        let credentials = try APNsCredentials(teamID: "TEAM123456", keyID: "KEY1234567", privateKeyPEM: pem)
        #expect(credentials.teamID == "TEAM123456")
        #expect(credentials.keyID == "KEY1234567")
    }

    @Test(
        "An invalid APNs team ID causes an error that says where to find the team ID",
        arguments: ["", "TEAM12345", "TEAM1234567", "TEAM 12345", "TÉAM12345"])
    func teamID(_ teamID: String) {
        let error = #expect(throws: APNsConfigurationError.self) {
            try APNsCredentials(teamID: teamID, keyID: "KEY1234567", privateKeyPEM: pem)
        }
        #expect(error?.code == .invalidTeamID)
        #expect(error?.message.contains("team id") == true)
        #expect(error?.message.contains("developer account") == true)
    }

    @Test("An invalid APNs key ID causes an error that shows the start of the invalid value")
    func keyID() {
        let error = #expect(throws: APNsConfigurationError.self) {
            try APNsCredentials(teamID: "TEAM123456", keyID: "AuthKey_KEY1234567.p8", privateKeyPEM: pem)
        }
        #expect(error?.code == .invalidKeyID)
        #expect(error?.message.contains("\"AuthKey_KEY1…\"") == true)
    }

    @Test("An APNs key of another type or a damaged key causes an error that names the key ID and the .p8 file")
    func privateKey() throws {
        let other = try #require(SigningKey.generate(.es384).privatePEM)
        for text in ["", "not a key", other, pem.replacingOccurrences(of: "A", with: "_")] {
            let error = #expect(throws: APNsConfigurationError.self) {
                try APNsCredentials(teamID: "TEAM123456", keyID: "KEY1234567", privateKeyPEM: text)
            }
            #expect(error?.code == .invalidPrivateKey)
            #expect(error?.message.contains("KEY1234567") == true)
            #expect(error?.message.contains(".p8") == true)
        }
    }

    @Test("If a private key is passed as the APNs team ID, the error does not contain the key")
    func misplacedKey() {
        let error = #expect(throws: APNsConfigurationError.self) {
            try APNsCredentials(teamID: pem, keyID: "KEY1234567", privateKeyPEM: pem)
        }
        #expect(error?.message.contains(pem.split(separator: "\n")[1]) == false)
    }

    @Test("No description of APNs credentials contains the private key")
    func descriptions() throws {
        let credentials = try APNsCredentials(teamID: "TEAM123456", keyID: "KEY1234567", privateKeyPEM: pem)
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"] {
            #expect(text.contains("KEY1234567"))
            for line in pem.split(separator: "\n") { #expect(!text.contains(line)) }
            #expect(!text.contains("signingKey"))
        }
    }

    @Test("APNs credentials are equal if and only if team ID, key ID and private key are equal")
    func equality() throws {
        let credentials = try APNsCredentials(teamID: "TEAM123456", keyID: "KEY1234567", privateKeyPEM: pem)
        let otherPEM = try #require(SigningKey.generate(.es256).privatePEM)
        #expect(try credentials == APNsCredentials(teamID: "TEAM123456", keyID: "KEY1234567", privateKeyPEM: pem))
        #expect(try credentials != APNsCredentials(teamID: "TEAM123457", keyID: "KEY1234567", privateKeyPEM: pem))
        #expect(try credentials != APNsCredentials(teamID: "TEAM123456", keyID: "KEY1234568", privateKeyPEM: pem))
        #expect(try credentials != APNsCredentials(teamID: "TEAM123456", keyID: "KEY1234567", privateKeyPEM: otherPEM))
    }
}
