import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The classification of an error of a refresh or revocation.
struct RefreshFailure {
    enum Meaning {
        /// The server permanently rejected the refresh token.
        case ended(OAuth2ServerError)
        /// A retry can succeed.
        case unreachable(any Error)
        /// The error is unrelated to the session, for example a usage error or a cancellation.
        case nothing
    }

    let error: any Error

    init(_ error: any Error) {
        self.error = Self.innermost(error)
    }

    var meaning: Meaning {
        if let refusal = error as? OAuth2ServerError {
            return refusal.code == .invalidGrant && !refusal.isTransient ? .ended(refusal) : .unreachable(refusal)
        }
        // Without its key, a refresh token is useless.
        if let loss = error as? DPoPError, loss.isFinal {
            return .ended(OAuth2ServerError(code: "invalid_dpop_proof", description: loss.message))
        }
        return isOfServerOrNetwork ? .unreachable(error) : .nothing
    }

    var ending: OAuth2ServerError? {
        if case .ended(let error) = meaning { error } else { nil }
    }

    /// Whether the server may have processed the request although its response was lost. False if no connection was established.
    var isAnswerLost: Bool {
        switch error {
        case let error as URLError:
            switch error.code {
            case .networkConnectionLost, .badServerResponse, .cannotParseResponse, .timedOut, .cannotDecodeContentData,
                .cannotDecodeRawData, .dataLengthExceedsMaximum, .zeroByteResource:
                true
            #if canImport(FoundationNetworking)
            // FoundationNetworking uses `unknown` for other failures, such as a truncated response.
            case .unknown: true
            #endif
            default: false
            }
        case APIClientError.missingResponse, APIClientError.cannotParseResponse, APIClientError.invalidResponse: true
        default: false
        }
    }

    /// Whether the server permanently rejected the request, so that a retry is pointless.
    var isRefusal: Bool {
        switch error {
        case let error as OAuth2ServerError: !error.isTransient
        case OAuth2Error.missingToken, OAuth2Error.missingOpenIdConfiguration, OAuth2Error.cannotRevoke: true
        case OAuth2Error.multiple(let errors): errors.allSatisfy { RefreshFailure($0).isRefusal }
        default: false
        }
    }

    private var isOfServerOrNetwork: Bool {
        if case OAuth2Error.missingToken = error { return false }
        return error is URLError || error is APIClientError || error is OktaAPIError || error is OAuth2Error
    }

    private static func innermost(_ error: any Error) -> any Error {
        switch error {
        case OAuth2Error.server(let inner): inner
        case OAuth2Error.network(let inner): innermost(inner)
        case OAuth2Error.error(let inner): innermost(inner)
        case APIClientError.httpError(let inner): innermost(inner)
        default: error
        }
    }
}
