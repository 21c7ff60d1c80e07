import AuthFoundation
import Foundation

@testable import BrowserSignin
@testable import OAuth2Auth
@testable import OktaAuthSdk
@testable import OktaDirectAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ErrorSample {
    static let flowErrors: [ErrorSample] = oauthErrors + browserErrors + directErrors

    private static let oauthErrors: [ErrorSample] = [
        ErrorSample(
            ["AuthorizationIssuerError"], AuthorizationIssuerError(expected: url("https://a.example"), found: "https://b.example"),
            ["https://a.example", "https://b.example"]),
        ErrorSample(["AuthorizationIssuerError"], AuthorizationIssuerError(expected: url("https://a.example"), found: nil)),
        ErrorSample(["DeviceCodeExpiredError"], DeviceCodeExpiredError()),
    ]

    private static let browserErrors: [ErrorSample] = [
        ErrorSample(BrowserSigninError.noCompatibleAuthenticationProviders),
        ErrorSample(BrowserSigninError.noSignOutFlowProvided, "logoutRedirectUri"),
        ErrorSample(BrowserSigninError.cannotStartBrowserSession), ErrorSample(BrowserSigninError.cannotComposeAuthenticationURL),
        ErrorSample(BrowserSigninError.authenticationProvider(error: NSError(domain: "browser", code: 2)), "browser error 2"),
        ErrorSample(BrowserSigninError.noAuthenticatorProviderResponse),
        ErrorSample(BrowserSigninError.serverError(serverError("access_denied")), "access_denied", "status 400", "req-1"),
        ErrorSample(BrowserSigninError.invalidRedirectScheme("com.example.app"), "com.example.app"),
        ErrorSample(BrowserSigninError.userCancelledLogin()),
        ErrorSample(BrowserSigninError.userCancelledLogin("The app closed it."), "The app closed it."),
        ErrorSample(BrowserSigninError.missingIdToken), ErrorSample(BrowserSigninError.oauth2(error: .invalidContext)),
        ErrorSample(BrowserSigninError.generic(error: URLError(.timedOut)), "-1001"),
        ErrorSample(BrowserSigninError.genericError(message: "The message."), "The message."),
        ErrorSample(SystemBrowserError.cannotListen(port: 8080, reason: "Address in use"), "8080", "Address in use"),
        ErrorSample(SystemBrowserError.cannotListen(port: nil, reason: "Permission denied"), "Permission denied"),
        ErrorSample(SystemBrowserError.cannotOpen(commands: ["firefox"]), "firefox"),
        ErrorSample(SystemBrowserError.timedOut(seconds: 600), "600"),
    ]

    private static let directErrors: [ErrorSample] = [
        ErrorSample(DirectAuthenticationFlowError.pollingTimeoutExceeded), ErrorSample(DirectAuthenticationFlowError.bindingCodeMissing),
        ErrorSample(DirectAuthenticationFlowError.invalidContinuationContext), ErrorSample(DirectAuthenticationFlowError.flowNotStarted),
        ErrorSample(DirectAuthenticationFlowError.inconsistentContextState),
        ErrorSample(DirectAuthenticationFlowError.missingArguments(["mfa_token"]), "mfa_token"),
        ErrorSample(DirectAuthenticationFlowError.network(error: .statusCode(503)), "503"),
        ErrorSample(DirectAuthenticationFlowError.oauth2(error: .invalidContext)),
        ErrorSample(DirectAuthenticationFlowError.server(error: serverError("expired_token")), "expired_token", "status 400", "req-1"),
        ErrorSample(DirectAuthenticationFlowError.other(error: CancellationError())),
        ErrorSample(DirectAuthenticationFlowError.other(error: NSError(domain: "app", code: 4)), "app error 4"),
        ErrorSample(PasskeyError.cancelled), ErrorSample(PasskeyError.noPasskey), ErrorSample(PasskeyError.busy),
        ErrorSample(PasskeyError.unusable("error 1004"), "1004"), ErrorSample(PasskeyError.failed("error 1000"), "1000"),
    ]

    static let classicErrors: [ErrorSample] =
        [
            ErrorSample(OktaError.errorBuildingURLRequest("its body can't be written as JSON"), "its body"),
            ErrorSample(OktaError.connectionError(URLError(.notConnectedToInternet)), "-1009"),
            ErrorSample(OktaError.connectionError(NSError(domain: "transport", code: 9)), "transport error 9"),
            ErrorSample(OktaError.emptyServerResponse), ErrorSample(OktaError.invalidResponse("it has no state token"), "no state token"),
            ErrorSample(OktaError.responseSerializationError(NSError(domain: "format", code: 1), Data(secret.utf8)), "format error 1"),
            ErrorSample(OktaError.unexpectedResponse), ErrorSample(OktaError.wrongStatus("there is no link"), "there is no link"),
            ErrorSample(OktaError.alreadyInProgress),
            ErrorSample(
                OktaError.unknownStatus(decoded(OktaAPISuccessResponse.self, #"{"status":"CONSENT_REQUIRED","stateToken":"\#(secret)"}"#)),
                "CONSENT_REQUIRED"),
            ErrorSample(OktaError.internalError("the factor belongs to no status"), "the factor belongs"),
            ErrorSample(OktaError.invalidParameters("no name"), "no name"),
            ErrorSample(OktaError.serverRespondedWithError(decoded(OktaAPIErrorResponse.self, "{}"))),
        ]
        + ["E0000004", "E0000014", "E0000047", "E0000068", "E0000069", "E0000080", "E0000119", "E0000999"].map { code in
            ErrorSample(
                OktaError.serverRespondedWithError(refusal(code)), code, "The summary.", "Use at least 12 characters.", "status 403",
                "error oae1", "request req-1")
        }

    private static func refusal(_ code: String) -> OktaAPIErrorResponse {
        let body =
            #"{"errorCode":"\#(code)","errorSummary":"The summary.","errorId":"oae1","errorCauses":[{"errorSummary":"Use at least 12 characters."}]}"#
        var refusal = decoded(OktaAPIErrorResponse.self, body)
        (refusal.statusCode, refusal.requestId) = (403, "req-1")
        return refusal
    }
}
