import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OktaDirectAuth

@Suite("Values of direct authentication")
struct DirectAuthenticationValuesTests {
    @Test("No description or mirror of a response contains its code")
    func hidesCodes() {
        let factor = DirectAuthenticationFlow.ContinuationFactor.prompt(code: "314159")
        var dumped = ""
        dump(factor, to: &dumped)
        for text in ["\(factor)", String(reflecting: factor), dumped] { #expect(!text.contains("314159"), "\(text)") }
    }

    @Test("No description or mirror of a status contains the number of the challenge")
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

    @Test("A passkey timeout of any size is passed on", arguments: ["60000", "1e300", "-1e300", "0.5"])
    func encodesTimeout(timeout: String) throws {
        let text = #"{"publicKey":{"challenge":"q0x3bX","timeout":\#(timeout)}}"#
        let options = try JSONDecoder().decode(WebAuthn.CredentialRequestOptions.self, from: Data(text.utf8))
        _ = try JSONEncoder().encode(options)
    }
}
