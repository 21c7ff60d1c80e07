internal import Foundation
internal import OktaAuthSdk
internal import Wording

/// The QR code that enrolls an authenticator app or a push device.
@MainActor
struct EnrollmentCode {
    /// The content of the QR code; `nil` if the app cannot draw the code.
    private(set) var symbolText: String?
    /// The details for the user.
    let lines: [String]
    /// The accessibility text of the QR code.
    let spoken: String
    /// The address of the organization's picture of the QR code; `nil` without a picture or if its content is known.
    private(set) var picture: URL?

    /// Creates the code of a state; `nil` if the state has no code.
    ///
    /// - Parameters:
    ///   - status: The state.
    ///   - pictures: The known contents of the organization's pictures, by address.
    init?(_ status: OktaAuthStatus, pictures: [URL: String]) {
        guard let status = status as? OktaAuthStatusFactorEnrollActivate else { return nil }
        switch status.factor {
        case let totp as OktaFactorTotp:
            guard let activation = totp.activation, let secret = activation.sharedSecret else { return nil }
            symbolText = Self.uri(
                for: activation, issuer: totp.qrCodeLink?.href.host() ?? "Countersign", account: status.user?.profile?.login ?? "account")
            lines = [
                symbolText == nil
                    ? words("Type this secret in your authenticator app: %@", secret)
                    : words("Scan the code with your authenticator app, or type this secret: %@", secret)
            ]
            spoken = words("QR code for an authenticator app. Alternatively, enter the secret above.")
        case let push as OktaFactorPush:
            guard let address = push.qrCodeLink?.href else { return nil }
            symbolText = pictures[address]
            if symbolText == nil { picture = address }
            lines = [
                symbolText == nil
                    ? words("The code to scan with your device is at %@", address.absoluteString)
                    : words("Scan the code with your device; it is also at %@", address.absoluteString)
            ]
            spoken = words("QR code for your device. Alternatively, send a link to it.")
        default: return nil
        }
    }

    /// Returns the `otpauth` URI of a secret; `nil` for secrets in another encoding.
    ///
    /// The URI is as short as possible, so that the code fits a small terminal: default parameters are omitted, and only necessary
    /// characters are escaped.
    private static func uri(
        for activation: EmbeddedResponse.Factor.Embedded.Activation, issuer: String, account: String
    ) -> String? {
        guard let secret = activation.sharedSecret, (activation.encoding ?? "base32").lowercased() == "base32" else { return nil }
        func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }
        let secretText = escaped(secret.filter { $0 != "=" })
        var uri = "otpauth://totp/\(escaped(issuer)):\(escaped(account))?secret=\(secretText)&issuer=\(escaped(issuer))"
        if let digits = activation.keyLength, digits != 6 { uri += "&digits=\(digits)" }
        if let period = activation.timeStep, period != 30 { uri += "&period=\(period)" }
        return uri
    }

    /// The characters that need no escaping in a path and in a query (RFC 3986, section 3.3), except separators.
    private static let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~@")
}
