internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import ServerHTTP

extension PasskeyPolicy {
    /// The content of `/.well-known/webauthn` (WebAuthn Level 3 section 5.11.1): the other web origins that may use the passkeys; `nil` if
    /// there are none. Browsers do not ask for the origins of Android apps.
    fileprivate var relatedOrigins: JSONValue? {
        let web = origins.filter { $0.hasPrefix("https://") }
        return web.isEmpty ? nil : ["origins": JSONValue(web)]
    }
}

extension Endpoint {
    /// Creates the endpoint of the related origins. Browsers fetch the file from the host of the RP ID, and follow no redirects.
    static func relatedOrigins(cache: MetadataCache, engine: Engine) -> Endpoint {
        Endpoint("/.well-known/webauthn", methods: [.get], isCrossOrigin: false) { call in
            let text = cache.text(.relatedOrigins, snapshot: call.snapshot) {
                call.snapshot.organization.passkeys?.relatedOrigins?.serialized() ?? []
            }
            guard !text.isEmpty else { return ServerResponse.pathNotFound(call.request).counted(call, by: engine) }
            return ServerResponse(json: text, headers: [.cacheControl: "public, max-age=3600"]).counted(call, by: engine)
        }
    }

    /// Creates the endpoint that says that the organization offers passkeys (W3C, A Well-Known URL for Relying Party Passkey Endpoints).
    /// The document is empty, because passkeys are created during a sign-in only.
    static func passkeyEndpoints(engine: Engine) -> Endpoint {
        Endpoint("/.well-known/passkey-endpoints", methods: [.get], isCrossOrigin: false) { call in
            guard call.snapshot.organization.passkeys != nil else {
                return ServerResponse.pathNotFound(call.request).counted(call, by: engine)
            }
            return ServerResponse(json: Array("{}".utf8), headers: [.cacheControl: "public, max-age=3600"]).counted(call, by: engine)
        }
    }
}
