package import IdentityCore
internal import OAuthWire
package import ServerHTTP

extension Endpoint {
    /// Returns the endpoints of the authorization servers, except those with pages.
    package static func oauth(_ engine: Engine, _ polls: HeldPolls?) -> [Endpoint] {
        let cache = MetadataCache()
        return [
            .token(engine, polls), .introspect(engine), .keys(cache: cache, engine: engine),
            .discovery(
                .openID, "/.well-known/openid-configuration", "/oauth2/{server}/.well-known/openid-configuration", cache: cache,
                engine: engine),
            // RFC 8414 section 3.1 inserts the well-known part between the host and the issuer's path.
            .discovery(
                .oauth, "/.well-known/oauth-authorization-server", "/oauth2/{server}/.well-known/oauth-authorization-server",
                "/.well-known/oauth-authorization-server/oauth2/{server}", cache: cache, engine: engine),
            .revoke(engine), .userInfo(engine), .challenge(engine), .primaryAuthenticate("/oauth2/v1/primary-authenticate", engine),
            .primaryAuthenticate("/oauth2/v1/oob-authenticate", engine), .backchannelAuthorize(engine),
            .pushAuthorizationRequest(engine), .deviceAuthorize(engine), .appleApps(cache: cache, engine: engine),
            .relatedOrigins(cache: cache, engine: engine), .passkeyEndpoints(engine: engine),
        ]
    }
}
