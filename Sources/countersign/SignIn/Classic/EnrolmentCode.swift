import AuthFoundation
import Foundation
import OktaAuthSdk

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Shows what an authenticator app needs: a code to scan, and the secret to type.
@MainActor
enum EnrolmentCode {
    private static let session = EphemeralSession(isBrowserless: true, keepsCookies: false)

    /// Shows it. No other place than the organization where the person signs in is asked for anything.
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

    /// Whether a picture is the organization's own: an address that an answer names can be any, of a machine that only this one reaches too.
    nonisolated static func isPicture(_ address: URL, of organization: URL) -> Bool {
        guard LoopbackRule.isAcceptable(address), address.user() == nil, address.password() == nil,
            let scheme = address.scheme?.lowercased(), scheme == organization.scheme?.lowercased(),
            let host = address.host()?.lowercased(), host == organization.host()?.lowercased()
        else { return false }
        let usual = scheme == "https" ? 443 : 80
        return (address.port ?? usual) == (organization.port ?? usual)
    }

    /// What a picture says: our server tells whoever asks for plain text. Nil from others, who give the picture, and if it can't be had.
    /// A redirect is not followed: it may lead to any machine, as the picture's address may not.
    static func text(of picture: URL) async -> String? {
        var request = URLRequest(url: picture)
        request.setValue("text/plain", forHTTPHeaderField: "Accept")
        request.timeoutInterval = 10
        guard let (data, response) = try? await session.data(for: request),
            (response as? HTTPURLResponse)?.statusCode == 200, response.mimeType == "text/plain"
        else { return nil }
        return String(data: data, encoding: .utf8)
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
