import Foundation
import Testing

@testable import OktaDirectAuth

@Suite("Errors of the system's passkeys")
struct PasskeyErrorTests {
    @Test(
        "Each code of ASAuthorizationError has an error that tells the app what to do next",
        arguments: [
            (1001, PasskeyError.cancelled), (1005, .noPasskey), (1004, .unusable("text")), (1000, .failed("text")), (1002, .failed("text")),
            (0, .failed("text")),
        ])
    func codes(code: Int, error: PasskeyError) {
        #expect(PasskeyError(authorizationCode: code, "text") == error)
    }

    @Test(
        "The sentence for the user contains no text of the system, and the technical description does",
        arguments: [PasskeyError.cancelled, .noPasskey, .unusable("code 1004"), .busy, .failed("code 1000")])
    func sentences(error: PasskeyError) {
        #expect(error.localizedDescription.hasSuffix(".") && !error.localizedDescription.contains("code"))
        if case .unusable(let text) = error { #expect(error.debugDescription.contains(text)) }
        if case .failed(let text) = error { #expect(error.debugDescription.contains(text)) }
    }
}
