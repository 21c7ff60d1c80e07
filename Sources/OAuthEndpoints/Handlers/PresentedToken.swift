internal import Foundation
internal import HTTPTypes
internal import OAuthWire
package import ServerHTTP

/// The access token of a request: by the scheme `Bearer` (RFC 6750 section 2) or `DPoP` (RFC 9449 section 7.1), or in a form.
package enum PresentedToken: Equatable {
    case absent
    /// More than one token, which RFC 6750 section 2 forbids.
    case ambiguous
    case bearer(String)
    case dpop(String)

    /// Reads the `Authorization` header, or the form of a `POST` (sections 2.1 and 2.2).
    package init(_ request: ServerRequest) {
        let inHeader = request.head.headerFields[.authorization].flatMap(Self.token)
        let inForm = Self.inForm(request)
        self =
            switch (inHeader, inForm) {
            case (nil, nil): .absent
            case (let token?, nil): token
            case (nil, let token?): .bearer(token)
            default: .ambiguous
            }
    }

    private static func token(_ header: String) -> PresentedToken? {
        guard let space = header.firstIndex(of: " ") else { return nil }
        let token = header[space...].drop { $0 == " " }
        guard !token.isEmpty else { return nil }
        return switch header[..<space].lowercased() {
        case "bearer": .bearer(String(token))
        case "dpop": .dpop(String(token))
        default: nil
        }
    }

    private static func inForm(_ request: ServerRequest) -> String? {
        guard request.head.method == .post, ProtocolForm.isForm(request.head.headerFields[.contentType]) else { return nil }
        // A body that is no form holds no token.
        return (try? FormParameters(parsing: request.body))?["access_token"]
    }
}
