internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import ServerHTTP

/// The JSON body of a request to the classic API. Unknown members are ignored.
struct AuthnBody: Sendable {
    private let json: JSONValue

    /// Reads a request's body. Throws `E0000003` if it is too large, of another type, or not a JSON object.
    init(_ request: ServerRequest) throws(ClassicRefusal) {
        // This limit is independent of the server's limit, because requests of this API are small.
        guard !request.isTooLarge, request.body.count <= 64 << 10 else { throw .malformed("body too large") }
        // Protects against CSRF: a page of another site cannot send this content type without a preflight request.
        let type = request.head.headerFields[.contentType]?.prefix { $0 != ";" && $0 != "," }.filter { $0 != " " }.lowercased()
        guard type == "application/json" else { throw .malformed("content type") }
        do {
            json = try JSONValue(parsing: request.body)
        } catch {
            throw .malformed("body: \(error.code.rawValue)")
        }
        guard json.objectValue != nil else { throw .malformed("body is no object") }
    }

    /// Returns a string of the body, or of an object in it; `nil` if it is absent or null. Throws `E0000001` for another type.
    func text(_ name: String, within member: String? = nil, in object: String) throws(ClassicRefusal) -> String? {
        guard let value = (member.map { json[$0] ?? .null } ?? json)[name], !value.isNull else { return nil }
        guard let text = value.stringValue else { throw .invalid(object, ["\(name): The member must be a text."]) }
        return text
    }

    /// Returns the bytes of a string in base64 or base64url; `nil` if it is absent or null. Throws `E0000001` for anything else.
    func bytes(_ name: String, in object: String) throws(ClassicRefusal) -> [UInt8]? {
        guard let text = try text(name, in: object) else { return nil }
        guard let bytes = PasskeyAssertion.decode(text) else { throw .invalid(object, ["\(name): The member must be base64."]) }
        return bytes
    }

    func option(_ name: String) -> Bool { json["options"]?[name]?.boolValue ?? false }

    var deviceToken: String? { json["context"]?["deviceToken"]?.stringValue }

    /// Returns the state token. Throws `E0000001` if there is none.
    func stateToken() throws(ClassicRefusal) -> String {
        guard let token = try text("stateToken", in: "stateToken"), !token.isEmpty else {
            throw .invalid("stateToken", ["stateToken: The member must be there."])
        }
        return token
    }
}

extension ClassicCaller {
    init(_ request: ServerRequest, body: AuthnBody) {
        self.init(
            apiToken: request.sswsToken, deviceCookie: BrowserCookies.value(of: BrowserCookies.deviceTokenName, in: request),
            deviceToken: body.deviceToken,
            // Browsers send `Origin` with every `POST` request.
            isPage: request.head.headerFields[.origin] != nil, autoPush: AutoPushCookie.read(request))
    }
}

/// The cookie with the ids of the browser's automatic push factors, separated by full stops (Documentation/Protocol/Authn.md §5.6).
enum AutoPushCookie {
    /// Returns the factor ids in the cookie; other values are ignored.
    static func read(_ request: ServerRequest) -> [String] {
        guard let value = BrowserCookies.value(of: BrowserCookies.autoPushName, in: request) else { return [] }
        return value.split(separator: ".").map(String.init).filter { id in
            id.utf8.count == 20
                && id.unicodeScalars.allSatisfy { $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil) }
        }
    }
}

/// Requests of trusted back ends (Documentation/Protocol/Authn.md §1.1 and §1.2).
extension ServerRequest {
    /// Returns the request with the end user's address, for limits and the log. A forwarded address counts only if the peer is a gateway of
    /// the trusted caller; otherwise the address is that of the peer.
    func ofEndUser(_ snapshot: OrgSnapshot) -> ServerRequest {
        guard let address = context.address, let caller = sswsToken.flatMap(snapshot.trustedCaller) else { return self }
        let user = PeerAddress.endUser(
            behind: address, unread: unreadForwarded,
            gateways: (caller.gateways ?? []).compactMap(TrustedNetwork.init))
        var request = self
        request.context.address = user
        request.context.backEnd = user == address ? caller.name : nil
        return request
    }
}
