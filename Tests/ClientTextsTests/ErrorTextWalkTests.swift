import AuthFoundation
import Foundation
import Testing

@Suite("Error texts of the client modules")
struct ErrorTextWalkTests {
    @Test(
        "Each error has a text for the user in English and German, without codes, type names and protocol terms",
        arguments: ErrorSample.all)
    func texts(sample: ErrorSample) {
        #expect(TextRules.problems(in: sample.error.userText) == [])
    }

    @Test("Each error returns its text in the language of the user", arguments: ErrorSample.all)
    func languages(sample: ErrorSample) {
        let text = sample.error.userText
        for language in TextLanguage.allCases {
            TextLanguage.$ofTask.withValue(language) {
                #expect(sample.error.localizedDescription == text.description[language])
                #expect((sample.error as NSError).localizedRecoverySuggestion == text.suggestion?[language])
            }
        }
    }

    @Test(
        "The technical description of each error is always in English, and has the code, the status and the IDs of the error",
        arguments: ErrorSample.all)
    func technicalDescriptions(sample: ErrorSample) {
        let text = TextLanguage.$ofTask.withValue(.german) { sample.error.debugDescription }
        #expect(text.count > 5 && String(reflecting: sample.error) == text)
        #expect(text == TextLanguage.$ofTask.withValue(.english) { sample.error.debugDescription })
        for detail in sample.details { #expect(text.contains(detail)) }
    }

    @Test("No text and no technical description contains a secret of the error", arguments: ErrorSample.all)
    func secrets(sample: ErrorSample) {
        for text in [sample.error.debugDescription, "\(sample.error)", sample.error.localizedDescription] {
            #expect(!text.contains(ErrorSample.secret))
        }
    }

    @Test("These tests cover each published error, case, code and reason of a client module", arguments: PublishedErrors.modules)
    func complete(module: String) throws {
        let published = Set(try PublishedErrors.names(of: module))
        #expect(!published.isEmpty)
        #expect(published.subtracting(ErrorSample.all.flatMap(\.names)) == [])
    }

    // MARK: - Codes of the server

    @Test("Each error code of the server's API and each HTTP status has a text for the user")
    func apiCodes() {
        for number in 1...250 {
            let code = "E" + String(repeating: "0", count: 7 - "\(number)".count) + "\(number)"
            for causes in [[], ["Use at least 12 characters."]] {
                #expect(TextRules.problems(in: ErrorText(apiCode: code, causes: causes, status: 403)) == [], "\(code)")
            }
        }
        for status in [0, 200, 302, 400, 401, 403, 404, 405, 409, 410, 423, 429, 500, 502, 503, 504, 599] {
            #expect(TextRules.problems(in: ErrorText(status: status)) == [], "\(status)")
        }
    }

    @Test(
        "Each error code of OAuth 2.0, OpenID Connect and its extensions has a text for the user",
        arguments: [
            "access_denied", "account_selection_required", "authorization_pending", "consent_required", "direct_auth_authorization_pending",
            "expired_token", "insufficient_scope", "insufficient_user_authentication", "interaction_required", "invalid_binding_message",
            "invalid_challenge_types_supported", "invalid_client", "invalid_client_metadata", "invalid_dpop_proof", "invalid_grant",
            "invalid_otp", "invalid_request", "invalid_request_object", "invalid_request_uri", "invalid_scope", "invalid_target",
            "invalid_token", "login_required", "mfa_required", "oob_rejected", "registration_required", "request_not_supported",
            "request_uri_not_supported", "server_error", "slow_down", "temporarily_unavailable", "transaction_failed",
            "unauthorized_client", "unknown_user_id", "unsupported_grant_type", "unsupported_response_mode", "unsupported_response_type",
            "unsupported_token_type", "use_dpop_nonce", "a_code_of_the_future",
        ])
    func oauthCodes(code: String) {
        let error = OAuth2ServerError(code: code, description: "Beschreibung des Servers: \(code)")
        #expect(TextRules.problems(in: error.userText) == [])
        #expect(error.debugDescription.contains(code))
    }

    // MARK: - The rules

    @Test(
        "The rules for texts reject codes, protocol terms, type names and unfinished sentences",
        arguments: [
            "", "no capital.", "No end mark", "The token is wrong.", "Tokens are wrong.", "Failed with E0000004.",
            "The error invalid_grant.",
            "The status 403.", "An OktaError occurred.", "The JWT is wrong.", "The redirect failed.", "See MFA_REQUIRED.", "Two  spaces.",
            "Wait...", "“Quoted”.", "Der Schlüsselbund ist gesperrt.", "The issuer is wrong.",
        ])
    func rules(text: String) {
        #expect(TextRules.problems(in: text) != [])
    }

    @Test("The rules for texts reject a text that is not translated, and informal German")
    func translation() {
        #expect(TextRules.problems(in: ErrorText("You are offline.", de: "You are offline.")) != [])
        #expect(TextRules.problems(in: ErrorText("You are offline.", de: "Du bist offline.")) != [])
        #expect(TextRules.problems(in: ErrorText("You are offline.", de: "Sie sind offline.")) == [])
    }
}
