// The cases of the error enums of the flows. See `NamedCase`.
import BrowserSignin
import OAuth2Auth
import OktaAuthSdk
import OktaDirectAuth

extension BrowserSigninError: NamedCase {
    static let typeName = "BrowserSigninError"
    var caseName: String {
        switch self {
        case .authenticationProvider: "authenticationProvider"
        case .cannotComposeAuthenticationURL: "cannotComposeAuthenticationURL"
        case .cannotStartBrowserSession: "cannotStartBrowserSession"
        case .generic: "generic"
        case .genericError: "genericError"
        case .invalidRedirectScheme: "invalidRedirectScheme"
        case .missingIdToken: "missingIdToken"
        case .noAuthenticatorProviderResponse: "noAuthenticatorProviderResponse"
        case .noCompatibleAuthenticationProviders: "noCompatibleAuthenticationProviders"
        case .noSignOutFlowProvided: "noSignOutFlowProvided"
        case .oauth2: "oauth2"
        case .serverError: "serverError"
        case .userCancelledLogin: "userCancelledLogin"
        }
    }
}

extension SystemBrowserError: NamedCase {
    static let typeName = "SystemBrowserError"
    var caseName: String {
        switch self {
        case .cannotListen: "cannotListen"
        case .cannotOpen: "cannotOpen"
        case .timedOut: "timedOut"
        }
    }
}

extension DirectAuthenticationFlowError: NamedCase {
    static let typeName = "DirectAuthenticationFlowError"
    var caseName: String {
        switch self {
        case .bindingCodeMissing: "bindingCodeMissing"
        case .flowNotStarted: "flowNotStarted"
        case .inconsistentContextState: "inconsistentContextState"
        case .invalidContinuationContext: "invalidContinuationContext"
        case .missingArguments: "missingArguments"
        case .network: "network"
        case .oauth2: "oauth2"
        case .other: "other"
        case .pollingTimeoutExceeded: "pollingTimeoutExceeded"
        case .server: "server"
        }
    }
}

extension PasskeyError: NamedCase {
    static let typeName = "PasskeyError"
    var caseName: String {
        switch self {
        case .busy: "busy"
        case .cancelled: "cancelled"
        case .failed: "failed"
        case .noPasskey: "noPasskey"
        case .unusable: "unusable"
        }
    }
}

extension OktaError: NamedCase {
    static let typeName = "OktaError"
    var caseName: String {
        switch self {
        case .alreadyInProgress: "alreadyInProgress"
        case .connectionError: "connectionError"
        case .emptyServerResponse: "emptyServerResponse"
        case .errorBuildingURLRequest: "errorBuildingURLRequest"
        case .internalError: "internalError"
        case .invalidParameters: "invalidParameters"
        case .invalidResponse: "invalidResponse"
        case .responseSerializationError: "responseSerializationError"
        case .serverRespondedWithError: "serverRespondedWithError"
        case .unexpectedResponse: "unexpectedResponse"
        case .unknownStatus: "unknownStatus"
        case .wrongStatus: "wrongStatus"
        }
    }
}
