internal import HTTPTypes
internal import IdentityEngine

/// Access tokens in requests, and the challenges for those without (RFC 6750).
enum BearerToken {
    /// What a request carried.
    enum Reading: Equatable {
        case absent
        /// More than one token, which RFC 6750 section 2 forbids.
        case ambiguous
        case present(String)
    }

    /// Reads the `Authorization` header, or the form of a `POST` (sections 2.1 and 2.2).
    static func read(_ request: ServerRequest) -> Reading {
        let inHeader = request.head.headerFields[.authorization].flatMap(token)
        let inForm = inForm(request)
        return switch (inHeader, inForm) {
        case (nil, nil): .absent
        case (let token?, nil), (nil, let token?): .present(token)
        default: .ambiguous
        }
    }

    private static func token(_ header: String) -> String? {
        guard let space = header.firstIndex(of: " "), header[..<space].lowercased() == "bearer" else { return nil }
        let token = header[space...].drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }

    private static func inForm(_ request: ServerRequest) -> String? {
        guard request.head.method == .post, ProtocolForm.isForm(request.head.headerFields[.contentType]) else { return nil }
        return (try? FormParameters(parsing: request.body))?["access_token"]
    }

    /// The `WWW-Authenticate` header (section 3).
    ///
    /// - Parameter refusal: Why; nil when there was no token, which is no error and has no code.
    /// - Returns: The header's value. The description is quoted and holds printable ASCII only, as the grammar asks.
    static func challenge(_ refusal: Refusal?) -> String {
        guard let refusal else { return #"Bearer realm="countersign""# }
        let description = String(
            String.UnicodeScalarView(
                refusal.description.unicodeScalars.filter { (0x20...0x7E).contains($0.value) && $0 != "\"" && $0 != "\\" }))
        return #"Bearer error="\#(refusal.code.rawValue)", error_description="\#(description)""#
    }
}
