import Foundation
import OktaAuthSdk
import QRCode

/// Shows what an authenticator app needs: a code to scan, and the secret to type.
@MainActor
enum EnrolmentCode {
    static func show(for factor: OktaFactor, user: String?) {
        switch factor {
        case let totp as OktaFactorTotp:
            guard let activation = totp.activation, let secret = activation.sharedSecret else { return }
            if let uri = uri(for: activation, issuer: totp.qrCodeLink?.href.host() ?? "Countersign", account: user ?? "account") {
                draw(uri)
            }
            Terminal.note("Scan it with your authenticator app, or type the secret there: \(Terminal.printableLine(secret))")
        case let push as OktaFactorPush:
            guard let link = push.qrCodeLink else { return }
            Terminal.note("The code to scan with your device is at \(Terminal.printableLine(link.href.absoluteString))")
        default: break
        }
    }

    private static func draw(_ text: String) {
        // What is too long for a code can be typed.
        guard Terminal.notesAreSeen, let symbol = try? QRSymbol(text) else { return }
        Terminal.note(symbol.terminalText())
    }

    /// The way in which authenticator apps take a secret; nil for secrets in another encoding.
    static func uri(
        for activation: EmbeddedResponse.Factor.Embedded.Activation, issuer: String, account: String
    ) -> String? {
        guard let secret = activation.sharedSecret, (activation.encoding ?? "base32").lowercased() == "base32" else { return nil }
        func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
        return "otpauth://totp/\(escaped(issuer)):\(escaped(account))?secret=\(escaped(secret))&issuer=\(escaped(issuer))"
            + "&digits=\(activation.keyLength ?? 6)&period=\(activation.timeStep ?? 30)"
    }
}
