import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OktaDirectAuth

@Suite("Values of direct authentication")
struct DirectAuthenticationValuesTests {
    @Test("Credential descriptors of unknown types are ignored, and options with only such descriptors are rejected")
    func unknownCredentialTypes() throws {
        func options(_ list: String) throws -> WebAuthn.CredentialRequestOptions {
            let text = #"{"publicKey":{"challenge":"q0x3bX","allowCredentials":[\#(list)]}}"#
            return try JSONDecoder().decode(WebAuthn.CredentialRequestOptions.self, from: Data(text.utf8))
        }
        let (known, unknown) = (#"{"type":"public-key","id":"AQ"}"#, #"{"type":"later","id":7}"#)
        #expect(try options("\(unknown),\(known)").publicKey.allowCredentials?.map(\.id) == ["AQ"])
        #expect(try options("").publicKey.allowCredentials == [])
        #expect(throws: DecodingError.self) { try options(unknown) }
    }

    @Test("Descriptions and mirrors of a text message code factor do not contain the code")
    func hidesCodes() {
        let factor = DirectAuthenticationFlow.ContinuationFactor.prompt(code: "314159")
        var dumped = ""
        dump(factor, to: &dumped)
        for text in ["\(factor)", String(reflecting: factor), dumped] { #expect(!text.contains("314159"), "\(text)") }
    }

    @Test("Descriptions and mirrors of a status do not contain the number of the number challenge")
    func hidesNumber() async throws {
        let server = ScriptedIssuer.directAuthentication()
        server.answer("primary-authenticate", .outOfBand(binding: "transfer", more: #","binding_code":"95731""#))
        let flow = try DirectAuthenticationFlow(client: server.directClient())
        let status = try await flow.start("jane", with: .oob(channel: .push))
        guard case .continuation(.transfer(_, "95731")) = status else { throw DirectAuthenticationFlowError.flowNotStarted }
        var dumped = ""
        dump(status, to: &dumped)
        for text in ["\(status)", String(reflecting: status), dumped] { #expect(!text.contains("95731"), "\(text)") }
    }

    @Test(
        "Passkey options with a timeout of any size are decoded and encoded without an error",
        arguments: ["60000", "1e300", "-1e300", "0.5"])
    func encodesTimeout(timeout: String) throws {
        let text = #"{"publicKey":{"challenge":"q0x3bX","timeout":\#(timeout)}}"#
        let options = try JSONDecoder().decode(WebAuthn.CredentialRequestOptions.self, from: Data(text.utf8))
        _ = try JSONEncoder().encode(options)
    }
}
