import AuthFoundation
import Foundation
import JOSE
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Errors (D8-1, Documentation/Protocol/Devices.md §2.12 and §8.4)")
struct ErrorTests {
    private static let result = HTTPURLResult(request: nil, response: nil, data: nil)

    private func refusal(_ status: Int, _ body: JSONValue) throws -> DeviceAuthenticatorError {
        let response = HTTPURLResponse(url: try url("https://id.example.com"), statusCode: status, httpVersion: nil, headerFields: nil)
        return .serverAPIError(
            HTTPURLResult(request: nil, response: response, data: nil), ServerAPIErrorModel(body: body.serialized()))
    }

    @Test("Each error of DeviceAuthenticator has the published code and domain, and a description")
    func codes() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let errors: [DeviceAuthenticatorError] = [
            .serverAPIError(Self.result, nil), .networkError(URLError(.timedOut)), .securityError(.jwtError("x")),
            .storageError(.itemNotFound), .genericError("x"), .internalError("x"),
            .accountNotFoundForChallenge(try phone.parse(phone.org.challenge())), .pushNotRecognized, .noVerificationMethodsToEnroll,
        ]
        #expect(errors.map(\.errorCode) == (1...9).map { -$0 })
        #expect(errors.map { ($0 as NSError).code } == (1...9).map { -$0 })
        #expect(errors.allSatisfy { ($0 as NSError).domain == "DeviceAuthenticator.DeviceAuthenticatorError" })
        #expect(DeviceAuthenticatorErrorDomain == "DeviceAuthenticator.DeviceAuthenticatorError")
        #expect(errors.allSatisfy { $0.errorDescription?.isEmpty == false && $0.localizedDescription == $0.errorDescription })
        for error in errors {
            #expect((error as NSError).localizedRecoverySuggestion == error.recoverySuggestion)
        }
        let unreachable = DeviceAuthenticatorError.networkError(URLError(.cannotConnectToHost))
        #expect(unreachable.userText == .unreachable && unreachable.debugDescription.hasPrefix("The server can't be reached: "))
        #expect(DeviceAuthenticatorError.networkError(URLError(.notConnectedToInternet)).userText == .offline)
        #expect(DeviceAuthenticatorError.networkError(NSError(domain: "transport", code: 1)).userText == .unreachable)
        #expect(DeviceAuthenticatorError.genericError("a") == .genericError("b"))
        #expect(DeviceAuthenticatorError.genericError("a") != .internalError("a"))
    }

    @Test(
        "Each server error code has the published name and sets the published enrollment state",
        arguments: [
            ("E0000007", ServerErrorCode.resourceNotFound, 404, false, false, EnrollmentState.active),
            ("E0000008", .enrollmentNotFound, 404, true, false, .deleted), ("E0000011", .invalidToken, 400, false, false, .active),
            ("E0000152", .deviceSuspended, 403, false, true, .suspended), ("E0000153", .deviceDeleted, 410, true, false, .reset),
            ("E0000154", .enrollmentDeleted, 410, true, false, .reset), ("E0000155", .userSuspended, 423, false, true, .suspended),
            ("E0000156", .userDeleted, 410, true, false, .deleted),
            ("E0000158", .biometricKeyEnrollmentComplianceError, 400, false, false, .active),
            ("E0000180", .enrollmentSuspended, 423, false, true, .suspended),
            ("E0000212", .phishingAttemptDetected, 403, false, false, .active),
            ("E0000999", .unknown("E0000999"), 400, false, false, .active),
        ])
    func serverCodes(raw: String, code: ServerErrorCode, status: Int, deleted: Bool, suspended: Bool, state: EnrollmentState) throws {
        #expect(ServerErrorCode(raw: raw) == code)
        #expect(code.rawValue == raw)
        #expect(code.httpCode() == status)
        #expect(code.isResourceDeleted == deleted && code.isResourceSuspended == suspended && code.enrollmentState == state)
        let coded = try JSONEncoder().encode([code])
        #expect(String(decoding: coded, as: UTF8.self) == "[\"\(raw)\"]")
        #expect(try JSONDecoder().decode([ServerErrorCode].self, from: coded) == [code])
    }

    static let causes: [(JSONValue, DeviceAuthenticatorError.Reason)] = [
        (["reason": "expired"], .expired), (["reason": "answered"], .alreadyAnswered), (["reason": "cancelled"], .cancelled),
        (["errorSummary": "The challenge has expired."], .expired),
        (["errorSummary": "This challenge was already answered."], .alreadyAnswered),
        (["errorSummary": "The transaction was cancelled."], .cancelled), (["errorSummary": "Bad."], .other),
        (["reason": "later", "errorSummary": "Bad."], .other),
    ]

    @Test(
        "The reason why a challenge failed is read from the reason code or from the summary of the server's error cause", arguments: causes)
    func challengeCauses(cause: JSONValue, reason: DeviceAuthenticatorError.Reason) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.org.answer(.verify, .failure("E0000001", status: 400, causes: [7, cause]))
        let challenge = try phone.parse(phone.org.challenge())
        let error = await failure { try await challenge.resolve(onRemediation: approving) }
        #expect(error?.reason == reason)
        #expect(error?.localizedDescription.isEmpty == false)
    }

    @Test("If the server rejects the response to a challenge, the error has the reason, and the enrollment stays active")
    func lifecycle() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let cases: [(String, Int, DeviceAuthenticatorError.Reason)] = [
            ("E0000007", 404, .notFound), ("E0000153", 410, .enrollmentGone), ("E0000154", 410, .enrollmentGone),
            ("E0000180", 423, .enrollmentSuspended), ("E0000155", 423, .enrollmentSuspended), ("E0000047", 429, .tooManyRequests),
            ("E0000157", 409, .alreadyAnswered),
        ]
        for (code, status, reason) in cases {
            phone.org.answer(.verify, .failure(code, status: status))
            let challenge = try phone.parse(phone.org.challenge())
            #expect(await failure { try await challenge.resolve(onRemediation: approving) }?.reason == reason)
        }
        #expect(try phone.authenticator.allEnrollments().count == 1)
        #expect((try phone.authenticator.allEnrollments()[0] as? AuthenticatorEnrollment)?.enrollmentState == .active)
    }

    @Test("The technical description of a server error has the code, the status and the IDs, and the user's text has none of them")
    func serverDetails() throws {
        let response = HTTPURLResponse(
            url: try url("https://id.example.com"), statusCode: 410, httpVersion: nil, headerFields: ["X-Okta-Request-Id": "req-1"])
        let body: JSONValue = ["errorCode": "E0000154", "errorSummary": "Enrollment deleted.", "errorId": "oae1"]
        let error = DeviceAuthenticatorError.serverAPIError(
            HTTPURLResult(request: nil, response: response, data: nil), ServerAPIErrorModel(body: body.serialized()))
        #expect(error.debugDescription.hasSuffix("The server says: Enrollment deleted. (E0000154, status 410, error oae1, request req-1)"))
        #expect(error.userText.description.english == "This account is no longer set up on this device.")
    }

    @Test("The readable members of an error response are decoded, and a body that is no JSON object is ignored")
    func bodies() throws {
        let whole = try #require(
            ServerAPIErrorModel(
                body: Data(
                    #"{"errorCode":"E0000154","errorSummary":"s","errorLink":"l","errorId":"i","status":"S","errorCauses":[{"a":"b","c":1},"x"],"more":[]}"#
                        .utf8)))
        #expect(whole.errorCode == .enrollmentDeleted && whole.errorSummary == "s" && whole.errorLink == "l")
        #expect(whole.errorId == "i" && whole.status == "S" && whole.errorCauses == [["a": "b"]])
        #expect(
            ServerAPIErrorModel(body: Data(#"{"errorCode":"E0000007","errorCauses":"text","status":400}"#.utf8))?.errorCode
                == .resourceNotFound)
        for body in ["", "<html>", "[]", "7"] { #expect(ServerAPIErrorModel(body: Data(body.utf8)) == nil) }
        let again = try JSONDecoder().decode(ServerAPIErrorModel.self, from: JSONEncoder().encode(whole))
        #expect(again.errorCode == whole.errorCode && again.errorCauses == whole.errorCauses)
    }

    @Test(
        "A server error without an error code is classified by its HTTP status",
        arguments: [
            (401, DeviceAuthenticatorError.Reason.tokenRefused), (403, .notPermitted), (404, .notFound), (429, .tooManyRequests),
            (500, .other),
        ])
    func statusOnly(status: Int, reason: DeviceAuthenticatorError.Reason) throws {
        #expect(try refusal(status, [:]).reason == reason)
    }

    @Test("Server errors and their descriptions contain neither the access token nor the request body")
    func noSecrets() async throws {
        let phone = try TestPhone()
        phone.org.answer(.enroll, .failure("E0000006", status: 403))
        let error = try #require(await failure { try await phone.enroll() })
        guard case .serverAPIError(let result, _) = error else {
            Issue.record("unexpected: \(error)")
            return
        }
        #expect(result.request?.url?.path() == "/idp/myaccount/app-authenticators" && result.request?.httpMethod == "POST")
        #expect(result.request?.allHTTPHeaderFields?["Authorization"] == nil && result.request?.httpBody == nil)
        #expect(result.response?.statusCode == 403 && result.data?.isEmpty == false)
        var dumped = ""
        dump(error, to: &dumped)
        #expect(!"\(error) \(String(reflecting: error)) \(error.localizedDescription) \(dumped)".contains("secret"))
        #expect(result.description == "HTTPURLResult(POST /idp/myaccount/app-authenticators, status: 403)")
    }

    @Test("Descriptions and dumps of credentials, access tokens and push tokens do not contain the token")
    func tokens() throws {
        let credential = try JSONDecoder().decode(
            Oauth2Credential.self, from: Data(#"{"access_token":"secret-1","token_type":"Bearer","refresh_token":"secret-2"}"#.utf8))
        var dumped = ""
        dump(credential, to: &dumped)
        dump(AuthToken.bearer("secret-3"), to: &dumped)
        dump(EnrollmentParameters(deviceToken: .tokenString("secret-4")), to: &dumped)
        dumped += "\(credential) \(AuthToken.bearer("secret-3")) \(DeviceToken.tokenString("secret-4")) \(String(reflecting: credential))"
        #expect(!dumped.contains("secret"))
    }

    @Test("Two security errors are equal if their case and content are equal")
    func securityErrors() {
        let failed = UserVerificationFailure.failed
        #expect(SecurityError.localAuthenticationFailed(failed) == .localAuthenticationFailed(failed))
        #expect(SecurityError.localAuthenticationFailed(failed) != .localAuthenticationCancelled(failed))
        #expect(SecurityError.jwtError("a") != .jwtError("b"))
        #expect(SecurityError.generalEncryptionError(1, nil, "a") == .generalEncryptionError(1, nil, "a"))
        #expect(SecurityError.generalEncryptionError(1, nil, "a") != .generalEncryptionError(2, nil, "a"))
        #expect(SecurityError.dataEncryptionDecryptionError(nil) == .dataEncryptionDecryptionError(nil))
        #expect(StorageError.missingAppGroupEntitlement == .missingAppGroupEntitlement)
        let storage = StorageError.generalStorageError("the text")
        #expect((storage as any Error).localizedDescription == storage.userText.description[.current])
        #expect(storage.debugDescription == "the text")
    }

    @Test("An HTTPURLResult can be archived and restored with secure coding")
    func coding() throws {
        let request = URLRequest(url: try url("https://id.example.com/x"))
        let response = HTTPURLResponse(url: try url("https://id.example.com/x"), statusCode: 418, httpVersion: nil, headerFields: nil)
        let result = HTTPURLResult(request: request, response: response, data: Data([1, 2]), error: URLError(.timedOut))
        let data = try NSKeyedArchiver.archivedData(withRootObject: result, requiringSecureCoding: true)
        let again = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPURLResult.self, from: data))
        #expect(again.request?.url == request.url && again.data == Data([1, 2]))
        #expect(again.response?.statusCode == 418)
        #expect((again.error as NSError?)?.code == URLError.Code.timedOut.rawValue)
    }
}
