import Foundation
import OktaAuthSdk
import Testing

@Suite("Errors of the classic API")
struct ErrorTextTests {
    private static func decoded<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    @Test("Each OktaError has a different text, which all description properties return")
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
            #expect(error.localizedDescription == text && error.errorDescription == text && "\(error)" == text)
            #expect((error as any Error).localizedDescription == text)
        }
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect(errors[5].description == "The token is invalid." && errors[9].description.contains("CONSENT_REQUIRED"))
    }
}
