internal import Crypto
internal import Foundation
internal import JOSE

/// Where sign-ins come from: what makes one risky, and what the person is told.
enum SignInOrigin {
    /// The most that are remembered of a person.
    private static let most = 20

    /// What a request's address and, from a back end that is trusted, its device are remembered by. A device token of a public client
    /// could be anybody's. `nil` for a back end that names no device: all users of the client share its address.
    static func fingerprint(of context: RequestContext, application: Application, isBackEnd: Bool = false) -> String? {
        let device = application.isConfidential ? context.deviceToken ?? "" : ""
        if isBackEnd, device.isEmpty { return nil }
        let text = "\(context.address ?? "")\u{0}\(device)"
        return Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)).prefix(12)))
    }

    /// Whether the person signed in from there before.
    static func isKnown(_ fingerprint: String?, to user: User) -> Bool {
        fingerprint.flatMap { user.knownOrigins?.contains($0) } ?? false
    }

    /// The person with one more origin that they signed in from; the longest unused is forgotten.
    static func remembering(_ fingerprint: String, of user: User) -> User {
        var user = user
        guard user.knownOrigins?.last != fingerprint else { return user }
        var known = user.knownOrigins ?? []
        known.removeAll { $0 == fingerprint }
        user.knownOrigins = known.suffix(most - 1) + [fingerprint]
        return user
    }

    /// What a device shows of the request.
    static func description(of context: RequestContext, application: Application) -> PushChallenge.Origin {
        PushChallenge.Origin(
            applicationName: String(application.name.prefix(60)), clientOS: operatingSystem(context.userAgent),
            clientLocation: context.address)
    }

    /// The browser and the system that a `User-Agent` names, in words of ours: what a stranger wrote stands on no page that asks a question.
    package static func browser(_ userAgent: String?) -> String? {
        guard let text = userAgent?.prefix(300).lowercased() else { return nil }
        // Most of them name those that they are like as well, so that the order counts.
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

    /// The system that a `User-Agent` names.
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
