package import ServerHTTP

/// The endpoints of an authorization server, at the org server.
extension RoutePath {
    package static let authorize: RoutePath = "/oauth2/v1/authorize"
    package static let token: RoutePath = "/oauth2/v1/token"
    package static let keys: RoutePath = "/oauth2/v1/keys"
    package static let introspect: RoutePath = "/oauth2/v1/introspect"
    package static let revoke: RoutePath = "/oauth2/v1/revoke"
    package static let userInfo: RoutePath = "/oauth2/v1/userinfo"
    package static let pushedRequest: RoutePath = "/oauth2/v1/par"
    package static let logout: RoutePath = "/oauth2/v1/logout"
    package static let deviceAuthorize: RoutePath = "/oauth2/v1/device/authorize"
    package static let backchannelAuthorize: RoutePath = "/oauth2/v1/bc/authorize"
}
