import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What an error of a refresh, or of a revocation, says of the session on the server.
struct RefreshFailure {
    enum Meaning {
        /// The server refuses the refresh token for good.
        case ended(OAuth2ServerError)
        /// It can work later.
        case unreachable(any Error)
        /// It says nothing of the session: a mistake on this side, a cancellation.
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
        // Without its key a refresh token is as good as refused.
        if error as? DPoPError == .keyLost {
            return .ended(OAuth2ServerError(code: "invalid_dpop_proof", description: error.localizedDescription))
        }
        return isOfServerOrNetwork ? .unreachable(error) : .nothing
    }

    var ending: OAuth2ServerError? {
        if case .ended(let error) = meaning { error } else { nil }
    }

    /// Whether the server may have acted and its answer got lost. Where no connection came about, it has not.
    var isAnswerLost: Bool {
        switch error {
        case let error as URLError:
            switch error.code {
            case .networkConnectionLost, .badServerResponse, .cannotParseResponse, .timedOut, .cannotDecodeContentData,
                .cannotDecodeRawData, .dataLengthExceedsMaximum, .zeroByteResource:
                true
            #if canImport(FoundationNetworking)
            // What that implementation has no code for, such as an answer that breaks off in the middle.
            case .unknown: true
            #endif
            default: false
            }
        case APIClientError.missingResponse, APIClientError.cannotParseResponse, APIClientError.invalidResponse: true
        default: false
        }
    }

    /// Whether the server has answered that it never will do it, so that asking again is in vain.
    var isRefusal: Bool {
        switch error {
        case let error as OAuth2ServerError: !error.isTransient
        case OAuth2Error.missingToken, OAuth2Error.missingOpenIdConfiguration, OAuth2Error.cannotRevoke: true
        case OAuth2Error.multiple(let errors): errors.allSatisfy { RefreshFailure($0).isRefusal }
        default: false
        }
    }

    private var isOfServerOrNetwork: Bool {
        error is URLError || error is APIClientError || error is OktaAPIError || error is OAuth2Error && !isMistake
    }

    private var isMistake: Bool {
        if case OAuth2Error.missingToken = error { true } else { false }
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
