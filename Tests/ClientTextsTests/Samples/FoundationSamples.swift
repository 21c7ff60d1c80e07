import Foundation
import JOSE

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ErrorSample {
    static let joseErrors: [ErrorSample] = [
        JOSEError.Code.malformed, .tooLarge, .tooDeep, .unsupportedAlgorithm, .algorithmNotAllowed, .unknownKey, .invalidKey, .badSignature,
        .criticalHeader, .wrongType, .expired, .notYetValid, .issuedInFuture, .wrongIssuer, .wrongAudience, .missingClaim, .invalidClaim,
    ].map { code in
        ErrorSample(["JOSEError.Code.\(code.rawValue)"], JOSEError(code, "The reason."), [code.rawValue, "The reason."])
    }

    static let foundationErrors: [ErrorSample] =
        tokenErrors + storageErrors + migrationErrors + configurationErrors + requestErrors + flowFailures

    private static let tokenErrors: [ErrorSample] =
        [
            JWTError.invalidBase64Encoding, .badTokenStructure, .invalidIssuer, .invalidAudience, .invalidSubject,
            .invalidAuthenticationTime, .issuerRequiresHTTPS, .invalidSigningAlgorithm, .expired, .issuedAtTimeExceedsGraceInterval,
            .nonceMismatch, .invalidKey, .cannotGenerateHash, .signatureVerificationUnavailable, .signatureInvalid, .exceedsMaxAge,
        ].map { ErrorSample($0) }
        + [
            ErrorSample(JWTError.cannotCreateKey(code: -50, description: "No room."), "-50", "No room."),
            ErrorSample(JWTError.unsupportedAlgorithm(.none), "none"),
            ErrorSample(["ClockSkewError"], ClockSkewError(offset: 1200, underlying: .expired), ["20 minutes behind"]),
            ErrorSample(["ClockSkewError"], ClockSkewError(offset: -400_000, underlying: .expired), ["ahead of"]),
            ErrorSample(ClaimError.missingRequiredValue(key: "sub"), "sub"),
            ErrorSample(["MistypedMemberError"], MistypedMemberError(key: "iat", expected: "a number", found: "a string"), ["iat"]),
            ErrorSample(["TokenFormatError"], TokenFormatError(version: 9), ["format 9"]),
            ErrorSample(TokenError.contextMissing), ErrorSample(TokenError.tokenNotFound(id: "id-1"), "id-1"),
            ErrorSample(TokenError.cannotReplaceToken), ErrorSample(TokenError.duplicateTokenAdded),
            ErrorSample(TokenError.invalidConfiguration),
            ErrorSample(CredentialError.missingCoordinator), ErrorSample(CredentialError.incorrectClientConfiguration),
            ErrorSample(CredentialError.metadataConsistency),
            ErrorSample(StepUpError.levelNotReached("urn:level"), "urn:level"), ErrorSample(StepUpError.levelNotReached(nil)),
            ErrorSample(StepUpError.tooOld), ErrorSample(StepUpError.unchanged), ErrorSample(StepUpError.otherUser),
        ]

    private static let storageErrors: [ErrorSample] =
        [
            VaultError.Code.damagedEntry, .newerFormat, .wrongKey, .keyMissing, .invalidKey, .insecurePermissions, .busy, .inaccessible,
            .invalidIdentifier, VaultError.Code(rawValue: "ofTheFuture"),
        ].map { code in
            let error = VaultError(code, entry: "entry-1", "The entry-1 can't be used.", underlying: NSError(domain: "disk", code: 28))
            return ErrorSample(["VaultError.Code.\(code.rawValue)"], error, [code.rawValue, "entry-1", "disk error 28"])
        }
        + [DPoPError.Code.keyLost, .downgraded, .keyUnusable, DPoPError.Code(rawValue: "ofTheFuture")].map { code in
            ErrorSample(["DPoPError.Code.\(code.rawValue)"], DPoPError(code, "The reason."), [code.rawValue, "The reason."])
        }
        + [KeychainStatus.interactionNotAllowed, KeychainStatus.userCanceled, -34_018].flatMap { code in
            [
                KeychainError.cannotGet(code: code), .cannotList(code: code), .cannotSave(code: code), .cannotDelete(code: code),
                .cannotUpdate(code: code), .accessControlInvalid(code: code, description: nil),
            ].map { ErrorSample($0, "\(code)") }
        }
        + [
            KeychainError.accessControlInvalid(code: -50, description: "The reason."), .notFound, .invalidFormat,
            .invalidAccessibilityOption,
            .missingAccount, .missingValueData, .missingAttribute,
        ].map { ErrorSample($0) }

    private static let configurationErrors: [ErrorSample] =
        [
            ErrorSample(OAuth2Client.PropertyListConfigurationError.defaultPropertyListNotFound, "Okta.plist"),
            ErrorSample(
                OAuth2Client.PropertyListConfigurationError.invalidPropertyList(url: url("file:///app/Other.plist")), "Other.plist"),
            ErrorSample(OAuth2Client.PropertyListConfigurationError.cannotParsePropertyList(nil)),
            ErrorSample(
                OAuth2Client.PropertyListConfigurationError.cannotParsePropertyList(ConfigurationProblem(text: "The scopes are empty.")),
                "The scopes are empty."),
            ErrorSample(OAuth2Client.PropertyListConfigurationError.missingConfigurationValues),
            ErrorSample(OAuth2Client.PropertyListConfigurationError.invalidConfiguration(name: "issuer", value: nil), "issuer"),
            ErrorSample(
                OAuth2Client.PropertyListConfigurationError.invalidConfiguration(name: "issuer", value: "http://a.example"), "http://a"),
            ErrorSample(JSONError.invalidJSONValue), ErrorSample(JSONError.invalidUTF8String), ErrorSample(JSONError.unsupportedRootValue),
            ErrorSample(["CredentialLockedError"], CredentialLockedError(), ["unlock"]),
            ErrorSample(["ClientKeyError"], ClientKeyError(method: .privateKeyJWT), ["private key"]),
            ErrorSample(["ClientKeyError"], ClientKeyError(method: .clientSecretJWT), ["secret"]),
            ErrorSample(
                ["InsecureURLError"], InsecureURLError(url: url("http://id.example.com/x?code=\(secret)")), ["http://id.example.com"]),
            ErrorSample(
                ["IssuerMismatchError"], IssuerMismatchError(expected: url("https://a.example"), found: url("https://b.example")),
                ["https://a.example", "https://b.example"]),
        ]

    private static let migrationErrors: [ErrorSample] = [
        Migration.SkipReason.Code.unreadable, .tooLarge, .incomplete, .otherClient, .otherIssuer, .insecureIssuer, .invalidToken, .expired,
        .boundToKey, .ended, .duplicate, .protectionLost, .storageFailed, Migration.SkipReason.Code(rawValue: "ofTheFuture"),
    ].map { code in
        let cause = code == .storageFailed ? KeychainError.cannotSave(code: -34_018) : nil
        return ErrorSample(
            ["Migration.SkipReason.Code.\(code.rawValue)"], Migration.SkipReason(code, "The reason.", underlying: cause),
            [code.rawValue, "The reason."] + (cause == nil ? [] : ["-34018"]))
    }

    private static let requestErrors: [ErrorSample] =
        [
            ErrorSample(APIClientError.invalidUrl), ErrorSample(APIClientError.missingResponse(request: nil)),
            ErrorSample(APIClientError.missingResponse(request: secretRequest), "id.example.com"),
            ErrorSample(APIClientError.invalidResponse), ErrorSample(APIClientError.invalidRequestData),
            ErrorSample(APIClientError.cannotParseResponse(error: ReadableDecodingError(text: "No “sub”.")), "No “sub”."),
            ErrorSample(APIClientError.missingRefreshSettings),
            ErrorSample(APIClientError.unsupportedContentType(.other("text/csv")), "text/csv"),
            ErrorSample(APIClientError.validation(error: JWTError.signatureInvalid)), ErrorSample(APIClientError.unknown),
            ErrorSample(APIClientError.httpError(NSError(domain: "transport", code: 7)), "transport error 7"),
            ErrorSample(APIClientError.httpError(serverError("invalid_grant", part: .session)), "invalid_grant", "status 400", "req-1"),
        ]
        + [302, 400, 401, 403, 404, 429, 500, 503].map { ErrorSample(APIClientError.statusCode($0), "\($0)") }
        + [
            URLError.Code.notConnectedToInternet, .dataNotAllowed, .networkConnectionLost, .timedOut, .cannotFindHost, .dnsLookupFailed,
            .cannotConnectToHost, .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .serverCertificateHasBadDate, .serverCertificateNotYetValid, .dataLengthExceedsMaximum, .cannotDecodeContentData, .badURL,
            .badServerResponse, .cannotParseResponse, .cancelled, .unknown,
        ].map { code in
            let error = URLError(code, userInfo: [NSURLErrorFailingURLErrorKey: url("https://id.example.com/a?code=\(secret)")])
            return ErrorSample(APIClientError.httpError(error), "URL error \(code.rawValue)")
        }

    private static let flowFailures: [ErrorSample] = [
        ErrorSample(OAuth2Error.invalidUrl), ErrorSample(OAuth2Error.cannotComposeUrl),
        ErrorSample(OAuth2Error.server(error: serverError("access_denied")), "access_denied", "status 400", "req-1"),
        ErrorSample(OAuth2Error.network(error: .statusCode(503)), "503"), ErrorSample(OAuth2Error.missingToken(type: .refreshToken)),
        ErrorSample(OAuth2Error.missingToken(type: .idToken), "id_token"), ErrorSample(OAuth2Error.missingClientConfiguration),
        ErrorSample(OAuth2Error.invalidContext), ErrorSample(OAuth2Error.redirectUriRequired, "redirectUri"),
        ErrorSample(
            OAuth2Error.redirectUri(url("com.example.app:/callback?code=\(secret)&state=\(secret)"), reason: .state(secret)), "state"),
        ErrorSample(OAuth2Error.signatureInvalid), ErrorSample(OAuth2Error.missingLocationHeader),
        ErrorSample(OAuth2Error.missingOAuth2ResponseKey("expires_in"), "expires_in"),
        ErrorSample(OAuth2Error.missingOpenIdConfiguration(attribute: "jwks_uri"), "jwks_uri"),
        ErrorSample(OAuth2Error.error(NSError(domain: "app", code: 3)), "app error 3"), ErrorSample(OAuth2Error.error(CancellationError())),
        ErrorSample(OAuth2Error.cannotRevoke(type: .deviceSecret), "deviceSecret"),
        ErrorSample(OAuth2Error.multiple(errors: [.invalidContext, .network(error: .statusCode(503))]), "503"),
        ErrorSample(OAuth2Error.multiple(errors: [])),
        ErrorSample(OAuth2Error.RedirectReason.invalid), ErrorSample(OAuth2Error.RedirectReason.codeRequired),
        ErrorSample(OAuth2Error.RedirectReason.hostOrPath), ErrorSample(OAuth2Error.RedirectReason.scheme("other"), "other"),
        ErrorSample(OAuth2Error.RedirectReason.queryArgument("code"), "code"), ErrorSample(OAuth2Error.RedirectReason.state(secret)),
    ]

    // MARK: - Errors of the server

    static let serverErrors: [ErrorSample] =
        oauthCodes.flatMap { code in
            [SignInPart?.none, .password, .code, .passkey, .session, .other].map { part in
                ErrorSample(
                    ["OAuth2ServerError.Code.\(code.caseName)"], serverError(code.rawValue, part: part),
                    [code.rawValue, "status 400", "request req-1"])
            }
        }
        + [429, 500, 503].map { status in
            ErrorSample(["OAuth2ServerError"], serverError("invalid_grant", status: status), ["invalid_grant", "status \(status)"])
        }
        + ["E0000004", "E0000011", "E0000014", "E0000047", "E0000080", "E0000999"].map { code in
            ErrorSample(
                ["OktaAPIError"], apiError(code), [code, "status 403", "error oae1", "request req-1", "Use at least 12 characters."])
        }

    private static let oauthCodes: [OAuth2ServerError.Code] = [
        .authorizationPending, .slowDown, .expiredToken, .accessDenied, .invalidClient, .invalidGrant, .invalidRequest, .invalidScope,
        .invalidToken, .serverError, .temporarilyUnavailable, .unsupportedResponseType, .unsupportedResponseMode, .unauthorizedClient,
        .directAuthAuthorizationPending, .mfaRequired, .invalidOTP, .oobRejected, .invalidChallengeTypesSupported,
        .other(code: "login_required"),
    ]

    static func serverError(_ code: String, part: SignInPart? = nil, status: Int = 400) -> OAuth2ServerError {
        var error = OAuth2ServerError(code: code, description: nil, additionalValues: ["mfa_token": secret])
        (error.statusCode, error.requestId, error.part) = (status, "req-1", part)
        return error
    }

    private static func apiError(_ code: String) -> OktaAPIError {
        let body =
            #"{"errorCode":"\#(code)","errorSummary":"The summary.","errorId":"oae1","errorCauses":[{"errorSummary":"Use at least 12 characters."}]}"#
        var error = decoded(OktaAPIError.self, body)
        (error.statusCode, error.requestId) = (403, "req-1")
        return error
    }

    // MARK: - Parts

    static var secretRequest: URLRequest {
        var request = URLRequest(url: url("https://id.example.com/token?code=\(secret)"))
        request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization")
        request.httpBody = Data(secret.utf8)
        return request
    }

    static func url(_ text: String) -> URL {
        guard let url = URL(string: text) else { preconditionFailure("A sample has no URL: \(text)") }
        return url
    }

    static func decoded<Value: Decodable>(_ type: Value.Type, _ text: String) -> Value {
        do { return try JSONDecoder().decode(type, from: Data(text.utf8)) } catch { preconditionFailure("A sample is no JSON: \(error)") }
    }
}
