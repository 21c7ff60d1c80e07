internal import Crypto
internal import Foundation
internal import JOSE

/// The origin of a sign-in, used to rate its risk and to describe it to the user.
enum SignInOrigin {
    /// The maximum number of known origins of a user.
    private static let most = 20

    /// Returns the digest of a request's address and, for a confidential client, its device token. A public client could send any device
    /// token. `nil` for a back end that names no device, because all its users share its address.
    static func fingerprint(of context: RequestContext, application: Application, isBackEnd: Bool = false) -> String? {
        let device = application.isConfidential ? context.deviceToken ?? "" : ""
        if isBackEnd, device.isEmpty { return nil }
        let text = "\(context.address ?? "")\u{0}\(device)"
        return Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)).prefix(12)))
    }

    /// Whether the user approved a push for a sign-in from this origin before.
    static func isKnown(_ fingerprint: String?, to user: User) -> Bool {
        fingerprint.flatMap { user.knownOrigins?.contains($0) } ?? false
    }

    /// Returns the user with one more known origin; the least recently used one is evicted.
    static func remembering(_ fingerprint: String, of user: User) -> User {
        var user = user
        guard user.knownOrigins?.last != fingerprint else { return user }
        var known = user.knownOrigins ?? []
        known.removeAll { $0 == fingerprint }
        user.knownOrigins = known.suffix(most - 1) + [fingerprint]
        return user
    }

    /// Returns the description of the origin that the device shows.
    static func description(of context: RequestContext, application: Application) -> PushChallenge.Origin {
        PushChallenge.Origin(
            applicationName: String(application.name.prefix(60)), clientOS: operatingSystem(context.userAgent),
            clientLocation: context.address)
    }

    /// Returns the browser and operating system of a `User-Agent`, in fixed words: text from an unauthenticated request must not appear on
    /// a confirmation page. `nil` if both are unknown.
    package static func browser(_ userAgent: String?) -> String? {
        guard let text = userAgent?.prefix(300).lowercased() else { return nil }
        // The order matters, because most browsers also name the browsers with which they are compatible.
        let browsers = [
            ("edg", "Edge"), ("opr/", "Opera"), ("firefox/", "Firefox"), ("fxios/", "Firefox"), ("crios/", "Chrome"), ("chrome/", "Chrome"),
            ("safari/", "Safari"),
        ]
        let systems = [
            "IOS": "iOS", "ANDROID": "Android", "WINDOWS": "Windows", "MAC_OS_X": "macOS", "CHROME_OS": "ChromeOS", "LINUX": "Linux",
        ]
        let parts = [browsers.first { text.contains($0.0) }?.1, operatingSystem(userAgent).flatMap { systems[$0] }].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// Returns the operating system of a `User-Agent`; `nil` if unknown.
    static func operatingSystem(_ userAgent: String?) -> String? {
        guard let text = userAgent?.prefix(300).lowercased() else { return nil }
        let names = [
            ("iphone", "IOS"), ("ipad", "IOS"), ("ios/", "IOS"), ("android", "ANDROID"), ("windows", "WINDOWS"), ("macos", "MAC_OS_X"),
            ("mac os x", "MAC_OS_X"), ("cros", "CHROME_OS"), ("linux", "LINUX"),
        ]
        return names.first { text.contains($0.0) }?.1
    }
}

extension User {
    /// Records that the user approved a challenge on a device.
    mutating func rememberApproval(of challenge: PushChallenge, isProvedWhole: Bool, by proofs: [SignInTransaction.Proof]) {
        if let fingerprint = challenge.fingerprint { self = SignInOrigin.remembering(fingerprint, of: self) }
        forgetPush(challenge)
        if isProvedWhole, let origin = challenge.askedFrom { completeSignIn(by: proofs, from: origin) }
    }
}
