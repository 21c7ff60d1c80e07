internal import Crypto
internal import Foundation

/// The files that the pages load, all of them the server's own: a stylesheet, a script, and the logo.
///
/// Each address holds a digest of all of them, so that browsers may keep a file for good and still have the right one.
struct PageAssets: Sendable {
    /// The addresses, as templates name them.
    struct Addresses: Sendable {
        var style = ""
        var script = ""
        var logo = ""
    }

    struct File: Sendable {
        var type: String
        var bytes: [UInt8]
    }

    /// The addresses, as templates name them.
    let addresses: Addresses
    private let files: [String: File]
    private let digest: String

    init(branding: Branding) {
        let logo = branding.logo ?? Branding.Logo(kind: .svg, bytes: PackageResources.mark_svg)
        files = [
            "pages.css": File(type: "text/css; charset=utf-8", bytes: PackageResources.pages_css + Array(branding.stylesheet.utf8)),
            "pages.js": File(type: "text/javascript; charset=utf-8", bytes: PackageResources.pages_js),
            logo.name: File(type: logo.kind.rawValue, bytes: logo.bytes),
        ]
        var hash = SHA256()
        for (name, file) in files.sorted(by: { $0.key < $1.key }) {
            hash.update(data: Array("\(name) \(file.bytes.count)\n".utf8))
            hash.update(data: file.bytes)
        }
        digest = hash.finalize().prefix(8).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        let folder = "/signin/assets/\(digest)/"
        addresses = Addresses(style: folder + "pages.css", script: folder + "pages.js", logo: folder + logo.name)
    }

    /// Finds a file.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - digest: What the address held.
    /// - Returns: The file, and whether it is what the address promised. Where servers of two versions answer side by side, it may be
    ///   another: better than none, but not to be kept. Nil if there is none of that name.
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
