import AuthFoundation
import Foundation
import OktaAuthSdk

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Shows the QR code and the secret for an authenticator app.
@MainActor
enum EnrolmentCode {
    private static let session = EphemeralSession(isBrowserless: true, keepsCookies: false)

    /// Shows the code for a factor. It sends requests only to the organization where the user signs in.
    static func show(for factor: OktaFactor, user: String?, organization: URL, drawing: QRCodeDrawing) async {
        switch factor {
        case let totp as OktaFactorTotp:
            guard let activation = totp.activation, let secret = activation.sharedSecret else { return }
            let uri = uri(for: activation, issuer: totp.qrCodeLink?.href.host() ?? "Countersign", account: user ?? "account")
            let symbol = uri.flatMap { drawing.symbol(of: $0) }
            if let symbol { Terminal.note(.own(symbol)) }
            let way = symbol == nil ? "Type this secret" : "Scan it, or type this secret"
            Terminal.note("\(way) in your authenticator app: \(secret)")
        case let push as OktaFactorPush:
            guard let link = push.qrCodeLink else { return }
            let isAsked = drawing.colors != nil && isPicture(link.href, of: organization)
            let symbol = isAsked ? await text(of: link.href).flatMap { drawing.symbol(of: $0) } : nil
            if let symbol { Terminal.note(.own(symbol)) }
            let opening = symbol == nil ? "The code to scan with your device is at" : "Scan it with your device; it is also at"
            Terminal.note("\(opening) \(link.href.absoluteString)")
        default: break
        }
    }

    /// Whether a picture's address has the organization's origin. A response can name any address, even one that only this machine can
    /// reach.
    nonisolated static func isPicture(_ address: URL, of organization: URL) -> Bool {
        guard LoopbackRule.isAcceptable(address), address.user() == nil, address.password() == nil,
            let scheme = address.scheme?.lowercased(), scheme == organization.scheme?.lowercased(),
            let host = address.host()?.lowercased(), host == organization.host()?.lowercased()
        else { return false }
        let usual = scheme == "https" ? 443 : 80
        return (address.port ?? usual) == (organization.port ?? usual)
    }

    /// Returns the text in a QR code picture. This project's server returns it for `Accept: text/plain`. The result is `nil` if the server
    /// returns the picture instead, or on an error. Redirects are not followed, because they may lead to another host.
    static func text(of picture: URL) async -> String? {
        var request = URLRequest(url: picture)
        request.setValue("text/plain", forHTTPHeaderField: "Accept")
        request.timeoutInterval = 10
        guard let (data, response) = try? await session.data(for: request),
            (response as? HTTPURLResponse)?.statusCode == 200, response.mimeType == "text/plain"
        else { return nil }
        return String(data: data, encoding: .utf8)
    }

    /// Returns the `otpauth` address for authenticator apps; `nil` for secrets in another encoding.
    static func uri(
        for activation: EmbeddedResponse.Factor.Embedded.Activation, issuer: String, account: String
    ) -> String? {
        guard let secret = activation.sharedSecret, (activation.encoding ?? "base32").lowercased() == "base32" else { return nil }
        func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
        return "otpauth://totp/\(escaped(issuer)):\(escaped(account))?secret=\(escaped(secret))&issuer=\(escaped(issuer))"
            + "&digits=\(activation.keyLength ?? 6)&period=\(activation.timeStep ?? 30)"
    }
}
