internal import Crypto
internal import Foundation
internal import ServerHTTP

/// The files that the pages load: a stylesheet, the scripts, and the logo. Each URL contains a digest of all files, so that browsers can cache
/// them permanently.
struct PageAssets: Sendable {
    /// The URLs, as templates name them.
    struct Addresses: Sendable {
        var style = ""
        var script = ""
        /// The script of the pages that ask for a passkey.
        var passkeys = ""
        var logo = ""
    }

    struct File: Sendable {
        var type: String
        var bytes: [UInt8]
    }

    let addresses: Addresses
    private let files: [String: File]
    private let digest: String

    init(branding: Branding) {
        let logo = branding.logo ?? Branding.Logo(kind: .svg, bytes: PackageResources.mark_svg)
        files = [
            "pages.css": File(type: "text/css; charset=utf-8", bytes: PackageResources.pages_css + Array(branding.stylesheet.utf8)),
            "passkeys.js": File(type: "text/javascript; charset=utf-8", bytes: PackageResources.passkeys_js),
            "pages.js": File(type: "text/javascript; charset=utf-8", bytes: PackageResources.pages_js),
            logo.name: File(type: logo.kind.rawValue, bytes: logo.bytes),
        ]
        var hash = SHA256()
        for (name, file) in files.sorted(by: { $0.key < $1.key }) {
            hash.update(data: Array("\(name) \(file.bytes.count)\n".utf8))
            hash.update(data: file.bytes)
        }
        digest = hash.finalize().prefix(8).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        addresses = Addresses(
            style: RoutePath.asset(digest, "pages.css"), script: RoutePath.asset(digest, "pages.js"),
            passkeys: RoutePath.asset(digest, "passkeys.js"), logo: RoutePath.asset(digest, logo.name))
    }

    /// Returns the file with this name, and whether the digest in its URL matches; `nil` for an unknown name. The digest can differ while
    /// servers of two versions run. Browsers must not cache the file then.
    func file(_ name: String, digest: String) -> (file: File, isPromised: Bool)? {
        files[name].map { ($0, digest == self.digest) }
    }
}

extension Branding.Logo {
    fileprivate var name: String {
        switch kind {
        case .svg: "logo.svg"
        case .png: "logo.png"
        }
    }
}
