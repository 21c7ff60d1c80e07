// The cases of the error enums of AuthFoundation. See `NamedCase`.
import AuthFoundation

extension APIClientError: NamedCase {
    static let typeName = "APIClientError"
    var caseName: String {
        switch self {
        case .cannotParseResponse: "cannotParseResponse"
        case .httpError: "httpError"
        case .invalidRequestData: "invalidRequestData"
        case .invalidResponse: "invalidResponse"
        case .invalidUrl: "invalidUrl"
        case .missingRefreshSettings: "missingRefreshSettings"
        case .missingResponse: "missingResponse"
        case .statusCode: "statusCode"
        case .unknown: "unknown"
        case .unsupportedContentType: "unsupportedContentType"
        case .validation: "validation"
        }
    }
}

extension ClaimError: NamedCase {
    static let typeName = "ClaimError"
    var caseName: String {
        switch self {
        case .missingRequiredValue: "missingRequiredValue"
        }
    }
}

extension JSONError: NamedCase {
    static let typeName = "JSONError"
    var caseName: String {
        switch self {
        case .invalidJSONValue: "invalidJSONValue"
        case .invalidUTF8String: "invalidUTF8String"
        case .unsupportedRootValue: "unsupportedRootValue"
        }
    }
}

extension CredentialError: NamedCase {
    static let typeName = "CredentialError"
    var caseName: String {
        switch self {
        case .incorrectClientConfiguration: "incorrectClientConfiguration"
        case .metadataConsistency: "metadataConsistency"
        case .missingCoordinator: "missingCoordinator"
        }
    }
}

extension JWTError: NamedCase {
    static let typeName = "JWTError"
    var caseName: String {
        switch self {
        case .badTokenStructure: "badTokenStructure"
        case .cannotCreateKey: "cannotCreateKey"
        case .cannotGenerateHash: "cannotGenerateHash"
        case .exceedsMaxAge: "exceedsMaxAge"
        case .expired: "expired"
        case .invalidAudience: "invalidAudience"
        case .invalidAuthenticationTime: "invalidAuthenticationTime"
        case .invalidBase64Encoding: "invalidBase64Encoding"
        case .invalidIssuer: "invalidIssuer"
        case .invalidKey: "invalidKey"
        case .invalidSigningAlgorithm: "invalidSigningAlgorithm"
        case .invalidSubject: "invalidSubject"
        case .issuedAtTimeExceedsGraceInterval: "issuedAtTimeExceedsGraceInterval"
        case .issuerRequiresHTTPS: "issuerRequiresHTTPS"
        case .nonceMismatch: "nonceMismatch"
        case .signatureInvalid: "signatureInvalid"
        case .signatureVerificationUnavailable: "signatureVerificationUnavailable"
        case .unsupportedAlgorithm: "unsupportedAlgorithm"
        }
    }
}

extension KeychainError: NamedCase {
    static let typeName = "KeychainError"
    var caseName: String {
        switch self {
        case .accessControlInvalid: "accessControlInvalid"
        case .cannotDelete: "cannotDelete"
        case .cannotGet: "cannotGet"
        case .cannotList: "cannotList"
        case .cannotSave: "cannotSave"
        case .cannotUpdate: "cannotUpdate"
        case .invalidAccessibilityOption: "invalidAccessibilityOption"
        case .invalidFormat: "invalidFormat"
        case .missingAccount: "missingAccount"
        case .missingAttribute: "missingAttribute"
        case .missingValueData: "missingValueData"
        case .notFound: "notFound"
        }
    }
}

extension OAuth2Client.PropertyListConfigurationError: NamedCase {
    static let typeName = "OAuth2Client.PropertyListConfigurationError"
    var caseName: String {
        switch self {
        case .cannotParsePropertyList: "cannotParsePropertyList"
        case .defaultPropertyListNotFound: "defaultPropertyListNotFound"
        case .invalidConfiguration: "invalidConfiguration"
        case .invalidPropertyList: "invalidPropertyList"
        case .missingConfigurationValues: "missingConfigurationValues"
        }
    }
}

extension OAuth2Error: NamedCase {
    static let typeName = "OAuth2Error"
    var caseName: String {
        switch self {
        case .cannotComposeUrl: "cannotComposeUrl"
        case .cannotRevoke: "cannotRevoke"
        case .error: "error"
        case .invalidContext: "invalidContext"
        case .invalidUrl: "invalidUrl"
        case .missingClientConfiguration: "missingClientConfiguration"
        case .missingLocationHeader: "missingLocationHeader"
        case .missingOAuth2ResponseKey: "missingOAuth2ResponseKey"
        case .missingOpenIdConfiguration: "missingOpenIdConfiguration"
        case .missingToken: "missingToken"
        case .multiple: "multiple"
        case .network: "network"
        case .redirectUri: "redirectUri"
        case .redirectUriRequired: "redirectUriRequired"
        case .server: "server"
        case .signatureInvalid: "signatureInvalid"
        }
    }
}

extension OAuth2Error.RedirectReason: NamedCase {
    static let typeName = "OAuth2Error.RedirectReason"
    var caseName: String {
        switch self {
        case .codeRequired: "codeRequired"
        case .hostOrPath: "hostOrPath"
        case .invalid: "invalid"
        case .queryArgument: "queryArgument"
        case .scheme: "scheme"
        case .state: "state"
        }
    }
}

extension OAuth2ServerError.Code: NamedCase {
    static let typeName = "OAuth2ServerError.Code"
    var caseName: String {
        switch self {
        case .accessDenied: "accessDenied"
        case .authorizationPending: "authorizationPending"
        case .directAuthAuthorizationPending: "directAuthAuthorizationPending"
        case .expiredToken: "expiredToken"
        case .invalidChallengeTypesSupported: "invalidChallengeTypesSupported"
        case .invalidClient: "invalidClient"
        case .invalidGrant: "invalidGrant"
        case .invalidOTP: "invalidOTP"
        case .invalidRequest: "invalidRequest"
        case .invalidScope: "invalidScope"
        case .invalidToken: "invalidToken"
        case .mfaRequired: "mfaRequired"
        case .oobRejected: "oobRejected"
        case .other: "other"
        case .serverError: "serverError"
        case .slowDown: "slowDown"
        case .temporarilyUnavailable: "temporarilyUnavailable"
        case .unauthorizedClient: "unauthorizedClient"
        case .unsupportedResponseMode: "unsupportedResponseMode"
        case .unsupportedResponseType: "unsupportedResponseType"
        }
    }
}

extension StepUpError: NamedCase {
    static let typeName = "StepUpError"
    var caseName: String {
        switch self {
        case .levelNotReached: "levelNotReached"
        case .otherUser: "otherUser"
        case .tooOld: "tooOld"
        case .unchanged: "unchanged"
        }
    }
}

extension TokenError: NamedCase {
    static let typeName = "TokenError"
    var caseName: String {
        switch self {
        case .cannotReplaceToken: "cannotReplaceToken"
        case .contextMissing: "contextMissing"
        case .duplicateTokenAdded: "duplicateTokenAdded"
        case .invalidConfiguration: "invalidConfiguration"
        case .tokenNotFound: "tokenNotFound"
        }
    }
}
