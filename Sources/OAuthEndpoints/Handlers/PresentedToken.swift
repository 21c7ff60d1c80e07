internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import ServerHTTP

extension PresentedToken {
    /// Reads the `Authorization` header, or the form of a `POST` (RFC 6750 sections 2.1 and 2.2). Returns `nil` without a token. Throws
    /// `invalid_request` for more than one token, which RFC 6750 section 2 forbids.
    static func read(_ request: ServerRequest) throws(Refusal) -> PresentedToken? {
        let header = request.head.headerFields[.authorization].map(AuthorizationHeader.init)
        let inHeader = header.flatMap { $0.credentials.isEmpty ? nil : PresentedToken($0) }
        let inForm = inForm(request).map(PresentedToken.bearer)
        guard inHeader == nil || inForm == nil else {
            throw Refusal(.invalidRequest, "The request carries more than one access token.", reason: "two tokens")
        }
        return inHeader ?? inForm
    }

    private static func inForm(_ request: ServerRequest) -> String? {
        guard request.head.method == .post, ProtocolForm.isForm(request.head.headerFields[.contentType]) else { return nil }
        // A body that is not a form contains no token.
        return (try? FormParameters(parsing: request.body))?["access_token"]
    }
}
