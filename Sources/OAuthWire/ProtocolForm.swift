internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
package import ServerHTTP

/// The parameters and the unchecked client credentials of a back-channel request.
package struct ProtocolForm: Sendable {
    package var parameters: FormParameters
    package var client: ClientCredentials
    /// Whether the client sent credentials by the `Authorization` header.
    package var triedBasic: Bool

    /// The unchecked client id, for rate limits and the log; `nil` if the request names none.
    var clientID: String? { client.clientID ?? client.basic?.clientID }

    /// Reads a request's body and credentials; throws ``Refusal``. With `acceptsQuery`, a public client may send its `client_id` in the
    /// query. With `acceptsJSON`, the body may also be a JSON object.
    init(reading call: Endpoint.Call, acceptsQuery: Bool = false, acceptsJSON: Bool = false) throws(Refusal) {
        let request = call.request
        guard !request.isTooLarge else {
            throw Refusal(.invalidRequest, "The request's body is larger than this server reads.", reason: "body too large")
        }
        let contentType = request.head.headerFields[.contentType]
        let isJSON = acceptsJSON && Self.isMediaType("application/json", contentType)
        guard isJSON || Self.isForm(contentType) else {
            throw Refusal(
                .invalidRequest,
                "The request's content type must be application/x-www-form-urlencoded\(acceptsJSON ? " or application/json" : "").",
                reason: "content type")
        }
        parameters = try Self.parse(request.body, isJSON: isJSON)
        var clientID = parameters["client_id"]
        if acceptsQuery, let query = request.query, let inQuery = try Self.parse(Array(query.utf8))["client_id"] {
            guard clientID == nil || clientID == inQuery else {
                throw Refusal(.invalidRequest, "The query and the body name different clients.", reason: "two client ids")
            }
            clientID = inQuery
        }
        client = ClientCredentials(
            clientID: clientID, secret: parameters["client_secret"],
            assertionType: parameters["client_assertion_type"], assertion: parameters["client_assertion"],
            endpoint: call.snapshot.origin + request.path)
        switch BasicCredentials.read(request.head.headerFields[.authorization]) {
        case .absent: triedBasic = false
        case .malformed:
            throw Refusal(.invalidClient, "The Authorization header could not be read.", reason: "malformed Basic header")
        case .present(let clientID, let secret):
            triedBasic = true
            client.basic = (clientID, secret)
        }
    }

    private static func parse(_ bytes: [UInt8], isJSON: Bool = false) throws(Refusal) -> FormParameters {
        do {
            return isJSON ? try FormParameters(json: bytes) : try FormParameters(parsing: bytes)
        } catch {
            throw Refusal(.invalidRequest, error.description, reason: error.description)
        }
    }

    /// Returns whether a content type is that of a form. If it names a charset, the charset must be UTF-8.
    package static func isForm(_ contentType: String?) -> Bool {
        isMediaType("application/x-www-form-urlencoded", contentType)
    }

    /// Returns whether a content type is `type`. If it names a charset, the charset must be UTF-8.
    private static func isMediaType(_ type: String, _ contentType: String?) -> Bool {
        guard let contentType else { return false }
        let parts = contentType.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmed().lowercased() }
        guard parts.first == type else { return false }
        return parts.dropFirst().allSatisfy { part in
            !part.hasPrefix("charset=") || part == "charset=utf-8" || part == #"charset="utf-8""#
        }
    }
}

extension Substring {
    fileprivate func trimmed() -> Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return start.prefix(0) }
        return start[...last]
    }
}

/// Reads the client id and secret of an `Authorization: Basic` header (RFC 6749 section 2.3.1).
enum BasicCredentials {
    package enum Reading {
        /// No header, or another scheme.
        case absent
        case malformed
        /// The client id and the secret, form-decoded.
        case present(clientID: String, secret: String)
    }

    static func read(_ header: String?) -> Reading {
        guard let header, header.contains(" ") else { return .absent }
        let value = AuthorizationHeader(header)
        guard value.scheme == "basic" else { return .absent }
        guard let decoded = Data(base64Encoded: String(value.credentials)), let colon = decoded.firstIndex(of: UInt8(ascii: ":")),
            let clientID = try? FormParameters.decode(decoded[..<colon]),
            let secret = try? FormParameters.decode(decoded[decoded.index(after: colon)...]), !clientID.isEmpty
        else { return .malformed }
        return .present(clientID: clientID, secret: secret)
    }
}
