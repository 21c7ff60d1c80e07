import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Texts of errors")
struct ErrorTextTests {
    // MARK: - The server's error codes

    @Test(
        "The user's text for a rejected grant depends on the grant type of the request",
        arguments: [
            (GrantType.password, ErrorText.wrongPassword), (.otp, .wrongCode), (.otpMFA, .wrongCode), (.webAuthn, .passkeyRefused),
            (.webAuthnMFA, .passkeyRefused), (.refreshToken, .signedOut), (.authorizationCode, .signInExpired), (.oob, .signInExpired),
        ])
    func rejectedGrant(grant: GrantType, text: ErrorText) {
        var error = OAuth2ServerError(code: "invalid_grant", description: "Grant rejected.")
        error.part = SignInPart(parameters: ["grant_type": grant])
        #expect(error.userText == text)
    }

    @Test("A rejected code that the user typed for another device is a wrong code")
    func rejectedBindingCode() {
        var error = OAuth2ServerError(code: "invalid_grant", description: nil)
        error.part = SignInPart(parameters: ["grant_type": GrantType.oobMFA, "binding_code": "12"])
        #expect(error.userText == .wrongCode)
    }

    @Test("A token request with a wrong password and a rejected refresh have different texts for the user")
    func rejectedRequests() async throws {
        let issuer = try IssuerFixture()
        let refusal = ScriptedIssuer.Reply.json(#"{"error":"invalid_grant"}"#, status: 400, headers: ["x-okta-request-id": "req-7"])
        let wrong = await #expect(throws: APIClientError.self) { try await issuer.signIn(refusal) }
        #expect(wrong?.userText == .wrongPassword)
        #expect(wrong?.serverError?.requestId == "req-7")
        let ended = await #expect(throws: APIClientError.self) { try await issuer.client.refresh(Token.fixture()) }
        #expect(ended?.userText == .signedOut)
        #expect(ended?.debugDescription == "The server answered with the error invalid_grant. (status 400, request req-7)")
    }

    @Test("The server's description of an error is in the technical description, and not in the text for the user")
    func serverDescription() {
        let error = OAuth2ServerError(code: "access_denied", description: "Policy evaluation failed for 00u1.")
        for language in TextLanguage.allCases {
            #expect(!error.userText.description[language].contains("Policy"))
        }
        #expect(error.debugDescription == "Policy evaluation failed for 00u1. (access_denied)")
    }

    @Test("A rate limit and a failure of the server have their own texts, whatever the error code is", arguments: [429, 500, 503])
    func statusFirst(status: Int) {
        var error = OAuth2ServerError(code: "invalid_grant", description: nil)
        (error.statusCode, error.part) = (status, .password)
        #expect(error.userText == ErrorText(status: status) && error.userText != .wrongPassword)
    }

    @Test("The user's text for a refused password ends with the rules that the server states, and no other text contains the causes")
    func passwordRules() {
        let rule = "Use at least 12 characters."
        for code in ["E0000014", "E0000080"] {
            let text = ErrorText("Your password was not changed. " + rule, de: "Ihr Passwort wurde nicht geändert. " + rule)
            #expect(ErrorText(apiCode: code, causes: [rule, ""], status: 403) == text)
        }
        #expect(ErrorText(apiCode: "E0000014", status: 403).description.english == "Your password was not changed.")
        #expect(!ErrorText(apiCode: "E0000068", causes: [rule], status: 403).description.english.contains(rule))
    }

    @Test("An API error with an unknown code has the text of its status")
    func unknownCode() {
        #expect(ErrorText(apiCode: "E0009999", status: 503) == .unavailable)
        #expect(ErrorText(apiCode: nil, status: nil) == .refused)
    }

    // MARK: - Errors of the system and of apps

    @Test(
        "A missing connection is described as such in each wrapping error",
        arguments: [
            APIClientError.httpError(URLError(.notConnectedToInternet)) as any Error,
            OAuth2Error.network(error: .httpError(URLError(.notConnectedToInternet))), OAuth2Error.error(URLError(.notConnectedToInternet)),
            APIClientError.validation(error: OAuth2Error.error(URLError(.notConnectedToInternet))),
        ])
    func offline(error: any Error) {
        #expect(ErrorText(of: error) == .offline)
        #expect(technicalText(of: error) == "This device is not connected to the internet. (URL error -1009)")
    }

    private enum Plain: Error { case broken }
    private struct Described: LocalizedError {
        let errorDescription: String?
        var recoverySuggestion: String? { "Take a break." }
    }

    @Test("A nested error of an app keeps its own text, or gets a general text if it has none")
    func foreignErrors() {
        let described = OAuth2Error.error(Described(errorDescription: "The tea is cold."))
        #expect(described.errorDescription == "The tea is cold." && described.recoverySuggestion == "Take a break.")
        let carried = NSError(domain: "app", code: 7, userInfo: [NSLocalizedDescriptionKey: "The tea is cold."])
        #expect(OAuth2Error.error(carried).errorDescription == "The tea is cold.")
        for error in [Plain.broken as any Error, Described(errorDescription: nil), NSError(domain: "app", code: 7)] {
            #expect(ErrorText(of: error) == .somethingWrong)
        }
        #expect(technicalText(of: NSError(domain: "app", code: 7)) == "app error 7")
        #expect(technicalText(of: carried) == "The tea is cold. (app error 7)")
        #expect(ErrorText(of: CancellationError()) == .cancelled)
    }

    @Test("The text of several errors contains a text that they share only once")
    func severalErrors() {
        let error = OAuth2Error.multiple(errors: [.network(error: .statusCode(503)), .network(error: .statusCode(502)), .signatureInvalid])
        #expect(
            error.userText.description.english == "The sign-in service is not available right now. The sign-in could not be verified.")
        #expect(error.userText.suggestion == .tryLater)
    }

    // MARK: - Languages

    @Test("Foundation's localizedDescription is the text for the user, in the language of the task")
    func localizedDescription() {
        let error: any Error = KeychainError.cannotSave(code: KeychainStatus.interactionNotAllowed)
        TextLanguage.$ofTask.withValue(.english) {
            #expect(error.localizedDescription == "This device is locked.")
            #expect((error as NSError).localizedRecoverySuggestion == "Unlock it, then try again.")
        }
        TextLanguage.$ofTask.withValue(.german) { #expect(error.localizedDescription == "Dieses Gerät ist gesperrt.") }
    }

    @Test(
        "The difference of a wrong clock is described in minutes, hours or days",
        arguments: [
            (65.0, "1 minute behind", "1 Minute nach"), (-1200, "20 minutes ahead", "20 Minuten vor"),
            (90_000, "25 hours behind", "25 Stunden nach"), (-864_000, "10 days ahead", "10 Tage vor"),
            (.infinity, "days behind", "Tage nach"),
        ])
    func clocks(offset: TimeInterval, english: String, german: String) {
        let text = ErrorText(clockOffset: offset).description
        #expect(text.english.hasSuffix(english + ".") && text.german.hasSuffix(german + "."), "\(text)")
    }

    // MARK: - Technical descriptions

    @Test("A technical description names the cause of a stored entry's error, unless the message contains it already")
    func causes() {
        let nested = TokenFormatError(version: 9)
        let repeated = VaultError(.newerFormat, entry: "a", "\(nested.debugDescription) The entry is untouched.", underlying: nested)
        #expect(repeated.debugDescription.hasSuffix("The entry is untouched. (newerFormat)"))
        let file = VaultError(.inaccessible, entry: "a", "a can't be read.", underlying: NSError(domain: "disk", code: 5))
        #expect(file.debugDescription == "a can't be read. (inaccessible, disk error 5)")
    }

    @Test("The technical description of a transport error does not contain the query of the URL")
    func failingURL() throws {
        let failing = try #require(URL(string: "https://id.example.com/authorize?code=secret"))
        let error = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: failing])
        let text = technicalText(of: APIClientError.httpError(error))
        #expect(text == "id.example.com did not answer in time. Try again. (URL error -1001)")
    }
}
