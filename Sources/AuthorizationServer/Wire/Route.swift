internal import AuthnAPI
internal import DeviceAPI
internal import OAuthEndpoints
internal import SignInPages

/// Where a request goes.
enum Route: Equatable {
    /// An endpoint below an authorization server's base; `server` is nil for the org server.
    case endpoint(String, server: String?)
    /// A discovery document.
    case discovery(MetadataDocument.Kind, server: String?)
    /// What devices call.
    case device(DeviceRoute)
    /// The hosted sign-in pages.
    case signIn(SignInRoute)
    /// The classic sign-in API.
    case authn(AuthnRoute)
    /// What who opens the QR code of a phone in a browser sees.
    case enrollHere(authenticator: String)
    /// Where a session token becomes a session.
    case session(SessionRoute)
    /// What is loaded while a factor is set up.
    case userFactor(UserFactorRoute)
    /// What back ends ask about a person.
    case user(UserRoute)
    /// Where the codes of devices are entered.
    case activate
    /// Which apps on Apple's systems belong to this server.
    case appleApps
    /// Whether the process runs.
    case live
    /// Whether it can answer.
    case ready

    /// Finds the route of a path; nil for a path that is nothing.
    ///
    /// - Parameter path: Its components, as ``ServerRequest/components`` has them.
    init?(_ path: [Substring]) {
        if let device = DeviceRoute(path) {
            self = .device(device)
            return
        }
        if let authn = AuthnRoute(path) {
            self = .authn(authn)
            return
        }
        if let session = SessionRoute(path) {
            self = .session(session)
            return
        }
        if let factor = UserFactorRoute(path) {
            self = .userFactor(factor)
            return
        }
        if let user = UserRoute(path) {
            self = .user(user)
            return
        }
        if let signIn = SignInRoute(path) {
            self = .signIn(signIn)
            return
        }
        switch path.count {
        case 2 where path[0] == "health" && path[1] == "live": self = .live
        case 2 where path[0] == "health" && path[1] == "ready": self = .ready
        case 2 where path[0] == ".well-known" && path[1] == "apple-app-site-association": self = .appleApps
        case 2 where path[0] == ".well-known":
            guard let kind = MetadataDocument.Kind(rawValue: String(path[1])) else { return nil }
            self = .discovery(kind, server: nil)
        case 3 where path[0] == "oauth2" && path[1] == "v1":
            self = .endpoint(String(path[2]), server: nil)
        case 1 where path[0] == "activate": self = .activate
        case 2 where path[0] == "enroll": self = .enrollHere(authenticator: String(path[1]))
        case 4 where path[0] == "oauth2" && path[1] == "v1" && Self.groups.contains(path[2]):
            self = .endpoint("\(path[2])/\(path[3])", server: nil)
        case 5 where path[0] == "oauth2" && path[2] == "v1" && Self.groups.contains(path[3]):
            guard let id = Self.serverID(path[1]) else { return nil }
            self = .endpoint("\(path[3])/\(path[4])", server: id)
        case 4 where path[0] == "oauth2" && path[2] == "v1":
            guard let id = Self.serverID(path[1]) else { return nil }
            self = .endpoint(String(path[3]), server: id)
        case 4 where path[0] == "oauth2" && path[2] == ".well-known":
            guard let kind = MetadataDocument.Kind(rawValue: String(path[3])), let id = Self.serverID(path[1]) else { return nil }
            self = .discovery(kind, server: id)
        case 4 where path[0] == ".well-known" && path[2] == "oauth2":
            // RFC 8414 section 3.1: the well-known part is inserted between the host and the issuer's path.
            guard path[1] == MetadataDocument.Kind.oauth.rawValue, let id = Self.serverID(path[3]) else { return nil }
            self = .discovery(.oauth, server: id)
        default: return nil
        }
    }

    /// What endpoints with a name of two components begin with.
    private static let groups: Set<Substring> = ["bc", "device"]

    private static func serverID(_ component: Substring) -> String? {
        component.isEmpty || component.utf8.count > 100 ? nil : String(component)
    }
}
