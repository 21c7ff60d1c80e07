internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import ServerHTTP

/// The body of a request to the classic API: a JSON object whose members are texts, booleans and objects; what is not known is passed
/// over.
struct AuthnBody: Sendable {
    private let json: JSONValue

    /// Reads a request's body.
    ///
    /// - Throws: ``ClassicRefusal`` with `E0000003` if it is too large, of another type, or no JSON object.
    init(_ request: ServerRequest) throws(ClassicRefusal) {
        // Whatever the server's own limit is: nothing that a client sends comes near this.
        guard !request.isTooLarge, request.body.count <= 64 << 10 else { throw .malformed("body too large") }
        // What a page of another site can make a browser send unasked says that it is something else, or says nothing.
        let type = request.head.headerFields[.contentType]?.prefix { $0 != ";" && $0 != "," }.filter { $0 != " " }.lowercased()
        guard type == "application/json" else { throw .malformed("content type") }
        do {
            json = try JSONValue(parsing: request.body)
        } catch {
            throw .malformed("body: \(error.code.rawValue)")
        }
        guard json.objectValue != nil else { throw .malformed("body is no object") }
    }

    /// A text, of the body or of an object in it; nil if it is absent or null.
    ///
    /// - Throws: ``ClassicRefusal`` with `E0000001` if it is something else.
    func text(_ name: String, within member: String? = nil, in object: String) throws(ClassicRefusal) -> String? {
        guard let value = (member.map { json[$0] ?? .null } ?? json)[name], !value.isNull else { return nil }
        guard let text = value.stringValue else { throw .invalid(object, ["\(name): The member must be a text."]) }
        return text
    }

    /// A boolean among the options; false if it is absent.
    func option(_ name: String) -> Bool { json["options"]?[name]?.boolValue ?? false }

    /// What the caller says of the device.
    var deviceToken: String? { json["context"]?["deviceToken"]?.stringValue }

    /// The state token.
    ///
    /// - Throws: ``ClassicRefusal`` with `E0000001` if there is none.
    func stateToken() throws(ClassicRefusal) -> String {
        guard let token = try text("stateToken", in: "stateToken"), !token.isEmpty else {
            throw .invalid("stateToken", ["stateToken: The member must be there."])
        }
        return token
    }
}

extension ClassicCaller {
    /// Who a request to the classic API is from.
    init(_ request: ServerRequest, body: AuthnBody) {
        self.init(
            apiToken: request.sswsToken, deviceCookie: DeviceCookie.read(request), deviceToken: body.deviceToken,
            // Browsers say so with every request that is no plain form.
            isPage: request.head.headerFields[.origin] != nil, autoPush: AutoPushCookie.read(request))
    }
}

/// The cookie in which a browser keeps which push factors its client asks by itself (authn reference 5.6): their ids, parted by full stops.
enum AutoPushCookie {
    /// What a request's cookie holds; nothing of what is no id.
    static func read(_ request: ServerRequest) -> [String] {
        guard let value = BrowserCookies.value(of: BrowserCookies.autoPushName, in: request) else { return [] }
        return value.split(separator: ".").map(String.init).filter { id in
            id.utf8.count == 20
                && id.unicodeScalars.allSatisfy { $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil) }
        }
    }
}

/// The cookie by which a device is known again (authn reference 1.1 and 6.4).
enum DeviceCookie {
    /// What a request's cookie holds; nil if there is none, or more than one.
    static func read(_ request: ServerRequest) -> String? { BrowserCookies.value(of: BrowserCookies.deviceTokenName, in: request) }
}

/// Requests of back ends that the organization trusts (authn reference 1.1 and 1.2).
extension ServerRequest {
    /// The request as it is counted and logged: of a trusted caller at one of its gateways, from the address that it forwards; of
    /// everybody else, from where it came.
    ///
    /// - Parameter snapshot: The configuration.
    /// - Returns: The request, from its end user.
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
