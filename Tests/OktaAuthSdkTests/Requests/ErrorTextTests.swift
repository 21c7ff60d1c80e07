import AuthFoundation
import Foundation
import OktaAuthSdk
import Testing

@Suite("Errors of the classic API")
struct ErrorTextTests {
    private static func decoded<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    @Test("Each OktaError has a different description, and localizedDescription is the text for the user")
    func texts() throws {
        let refusal = try Self.decoded(OktaAPIErrorResponse.self, Answers.refusal("E0000011", "The token is invalid."))
        let answer = try Self.decoded(OktaAPISuccessResponse.self, #"{"status":"CONSENT_REQUIRED"}"#)
        let failure = URLError(.timedOut)
        let errors: [OktaError] = [
            .errorBuildingURLRequest("reason"), .connectionError(failure), .emptyServerResponse, .invalidResponse("reason"),
            .responseSerializationError(failure, Data("secret".utf8)), .serverRespondedWithError(refusal), .unexpectedResponse,
            .wrongStatus("reason"), .alreadyInProgress, .unknownStatus(answer), .internalError("reason"), .invalidParameters("reason"),
        ]
        for error in errors {
            let text = error.description
            #expect(!text.isEmpty && !text.contains("secret"))
            #expect("\(error)" == text && !error.debugDescription.contains("secret"))
            let shown = error.userText.description[.current]
            #expect(error.localizedDescription == shown && error.errorDescription == shown)
            #expect((error as any Error).localizedDescription == shown)
        }
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect(errors[5].description == "The token is invalid." && errors[9].description.contains("CONSENT_REQUIRED"))
    }

    @Test("A wrong password, a locked account and a wrong code have texts for the user that do not depend on the server's text")
    func serverErrors() throws {
        func text(_ code: String, _ causes: [String] = []) throws -> LocalizedText {
            let refusal = try Self.decoded(OktaAPIErrorResponse.self, Answers.refusal(code, "Authentication failed", causes: causes))
            return OktaError.serverRespondedWithError(refusal).userText.description
        }
        #expect(try text("E0000004").english == "The user name or password is wrong.")
        #expect(try text("E0000119").german == "Ihr Konto ist gesperrt.")
        #expect(try text("E0000068", ["Your passcode doesn't match our records."]).english == "The code or answer is wrong.")
    }

    @Test("The text for a refused password contains the organization's rules, which only the server's answer states")
    func passwordRules() throws {
        let rules = "Password requirements were not met. Use at least 12 characters."
        let refusal = try Self.decoded(
            OktaAPIErrorResponse.self, Answers.refusal("E0000080", "The password does not meet the requirements.", causes: [rules]))
        #expect(OktaError.serverRespondedWithError(refusal).userText.description.english == "Your password was not changed. \(rules)")
    }

    @Test("A connection error has the text of its cause, and a transport error of the app the text for an unreachable service")
    func connection() {
        #expect(OktaError.connectionError(URLError(.notConnectedToInternet)).userText == .offline)
        #expect(OktaError.connectionError(NSError(domain: "transport", code: 1)).userText == .unreachable)
    }
}
