internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import ServerHTTP

/// The file `apple-app-site-association`: the Apple apps that belong to this server. A listed app may handle redirects to https URLs of
/// this server, and may offer passwords that are saved for it.
struct AppleAppAssociation {
    private let applications: [Application]
    private let origin: String

    init(_ snapshot: OrgSnapshot) {
        applications = snapshot.organization.applications.filter { $0.isActive && !$0.appleAppIDs.isEmpty }
        origin = snapshot.origin
    }

    /// The document; `nil` if no application has an Apple app.
    var json: JSONValue? {
        guard !applications.isEmpty else { return nil }
        let ids = applications.flatMap(\.appleAppIDs)
        let links = applications.compactMap { application -> JSONValue? in
            let paths = paths(of: application)
            guard !paths.isEmpty else { return nil }
            return [
                "appIDs": .array(application.appleAppIDs.map(JSONValue.string)),
                "components": .array(paths.map { ["/": .string($0)] }),
            ]
        }
        return ["webcredentials": ["apps": .array(Self.unique(ids).map(JSONValue.string))], "applinks": ["details": .array(links)]]
    }

    /// Returns the paths of the redirect URIs at this server. Other hosts publish their own association file.
    private func paths(of application: Application) -> [String] {
        let own = URLComponents(string: origin)
        return Self.unique(
            (application.redirectURIs + application.postLogoutRedirectURIs).compactMap { uri in
                guard let url = URLComponents(string: uri), url.scheme?.lowercased() == "https",
                    url.host?.lowercased() == own?.host?.lowercased(), url.port ?? 443 == own?.port ?? 443
                else { return nil }
                return url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
            })
    }

    private static func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }
}

extension Endpoint {
    /// Creates the endpoint of the association file. Apple fetches the file at installation and periodically, and follows no redirects.
    static func appleApps(cache: MetadataCache, engine: Engine) -> Endpoint {
        Endpoint("/.well-known/apple-app-site-association", methods: [.get], isCrossOrigin: false) { call in
            let text = cache.text(.appleApps, snapshot: call.snapshot) { AppleAppAssociation(call.snapshot).json?.serialized() ?? [] }
            guard !text.isEmpty else { return ServerResponse.pathNotFound(call.request).counted(call, by: engine) }
            return ServerResponse(json: text, headers: [.cacheControl: "public, max-age=3600"]).counted(call, by: engine)
        }
    }
}
