import AuthFoundation
import Foundation

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ErrorSample {
    static let deviceErrors: [ErrorSample] = moduleErrors + refusals + securityErrors + storedErrors

    private static let moduleErrors: [ErrorSample] = [
        device(.networkError(URLError(.notConnectedToInternet)), "-1009"),
        device(.networkError(NSError(domain: "transport", code: 5)), "transport error 5"),
        device(.securityError(.localAuthenticationFailed(UserVerificationFailure.failed))),
        device(.securityError(.localAuthenticationCancelled(UserVerificationFailure.cancelled))),
        device(.securityError(.localAuthenticationPasscodeNotSet(UserVerificationFailure.unavailable))),
        device(.securityError(.keyCorrupted(DeviceKeyError.missing(tag: "tag-1"))), "tag-1"), device(LocalFailure.expired),
        device(LocalFailure.notVerified, "JWT verification failed"), device(.storageError(.itemNotFound)),
        device(.storageError(.deviceLocked), "Unlock it"), device(.storageError(.sqliteError("The reason.")), "The reason."),
        device(.genericError("The reason."), "The reason."), device(.internalError("The reason."), "The reason."),
        device(.accountNotFoundForChallenge(Challenge())), device(.pushNotRecognized), device(.noVerificationMethodsToEnroll),
        device(.genericError(LocalFailure.possessionKeyMissing)), device(.genericError(LocalFailure.numberNotPicked)),
        device(.genericError(LocalFailure.notAnswered)), device(.genericError(LocalFailure.noEnrollmentLink)),
        device(.genericError(LocalFailure.enrollmentLinkRefused)),
    ]

    private static let refusals: [ErrorSample] =
        [
            ("E0000007", 404), ("E0000008", 404), ("E0000011", 401), ("E0000152", 403), ("E0000153", 410), ("E0000154", 410),
            ("E0000155", 423), ("E0000156", 410), ("E0000158", 400), ("E0000180", 423), ("E0000212", 403), ("E0000001", 400),
            ("E0000006", 403), ("E0000015", 401), ("E0000047", 429), ("E0000157", 409), ("E0000009", 500), ("E0000999", 400),
        ].map { code, status in
            device(refusal(code, status), code, "status \(status)", "error oae1", "request req-1", "The summary.")
        }
        + ["expired", "answered", "cancelled"].map { device(refusal("E0000001", 400, reason: $0), "E0000001", "status 400") }
        + [
            SecurityError.localAuthenticationFailed(UserVerificationFailure.failed),
            SecurityError.localAuthenticationCancelled(UserVerificationFailure.cancelled), DeviceClockError(offset: 90_000),
        ].map { (cause: any Error) in device(refusal(nil, 401, cause: cause), "status 401") }
        + [device(.serverAPIError(HTTPURLResult(request: secretRequest, response: nil, data: nil), nil))]

    private static let securityErrors: [ErrorSample] = [
        ErrorSample(SecurityError.failedToSignPayload("The reason."), "The reason."),
        ErrorSample(SecurityError.keyGenFailed(-50, "The reason."), "-50", "The reason."),
        ErrorSample(SecurityError.keyCorrupted(DeviceKeyError.damaged(tag: "tag-1")), "tag-1"),
        ErrorSample(SecurityError.localAuthenticationCancelled(UserVerificationFailure.cancelled)),
        ErrorSample(SecurityError.localAuthenticationPasscodeNotSet(UserVerificationFailure.unavailable)),
        ErrorSample(SecurityError.localAuthenticationFailed(UserVerificationFailure.failed)),
        ErrorSample(SecurityError.generalEncryptionError(-1, NSError(domain: "crypto", code: 6), "The reason."), "-1", "crypto error 6"),
        ErrorSample(SecurityError.jwkError("The reason."), "The reason."), ErrorSample(SecurityError.jwtError("No kid."), "No kid."),
        ErrorSample(SecurityError.jwtError(LocalFailure.expiredText)),
        ErrorSample(SecurityError.dataEncryptionDecryptionError(NSError(domain: "crypto", code: 6)), "crypto error 6"),
        ErrorSample(SecurityError.dataEncryptionDecryptionError(nil)),
        ErrorSample(DeviceKeyError.missing(tag: "tag-1"), "tag-1"), ErrorSample(DeviceKeyError.damaged(tag: "tag-1"), "tag-1"),
        ErrorSample(UserVerificationFailure.cancelled), ErrorSample(UserVerificationFailure.failed),
        ErrorSample(UserVerificationFailure.unavailable),
    ]

    private static let storedErrors: [ErrorSample] = [
        ErrorSample(StorageError.itemNotFound), ErrorSample(StorageError.missingAppGroupEntitlement),
        ErrorSample(StorageError.storageMigrationError("The entry e is of format 9."), "The entry e"),
        ErrorSample(StorageError.sqliteError("The reason."), "The reason."),
        ErrorSample(StorageError.generalStorageError("The file f can't be read."), "The file f"),
    ]

    /// Returns a sample with the name of the error's reason.
    private static func device(_ error: DeviceAuthenticatorError, _ details: String...) -> ErrorSample {
        ErrorSample([error.name, "DeviceAuthenticatorError.Reason.\(error.reason.rawValue)"], error, details)
    }

    private static func refusal(
        _ code: String?, _ status: Int, reason: String? = nil, cause: (any Error)? = nil
    ) -> DeviceAuthenticatorError {
        let response = HTTPURLResponse(
            url: url("https://id.example.com"), statusCode: status, httpVersion: nil, headerFields: ["X-Okta-Request-Id": "req-1"])
        let causes = reason.map { #"[{"reason":"\#($0)"}]"# } ?? "[]"
        let name = code.map { #""errorCode":"\#($0)","# } ?? ""
        let model = decoded(
            ServerAPIErrorModel.self, #"{\#(name)"errorSummary":"The summary.","errorId":"oae1","errorCauses":\#(causes)}"#)
        return .serverAPIError(HTTPURLResult(request: secretRequest, response: response, data: Data(secret.utf8), error: cause), model)
    }

    private struct Challenge: ChallengeProtocol {
        let transactionId = secret
        let originURL: URL? = nil
        let transactionTime = Date(timeIntervalSince1970: 0)
        let appInstanceName: String? = nil

        func resolve(
            onRemediation: @escaping @Sendable (RemediationStep) -> Void,
            onCompletion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
        ) {}
    }
}
