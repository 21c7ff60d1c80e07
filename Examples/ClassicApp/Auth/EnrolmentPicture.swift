internal import AuthFoundation
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The picture of a code to scan, as text: Countersign's server tells whoever asks for plain text what it says.
enum EnrolmentPicture {
    /// Whether a picture is the organization's own: an address that an answer names can be any, of a machine that only this one reaches too.
    static func isPicture(_ address: URL, of organization: URL) -> Bool {
        guard address.user() == nil, address.password() == nil, let scheme = address.scheme?.lowercased(),
            scheme == organization.scheme?.lowercased(), let host = address.host()?.lowercased(), host == organization.host()?.lowercased(),
            scheme == "https" || (scheme == "http" && ["127.0.0.1", "[::1]", "::1", "localhost"].contains(host))
        else { return false }
        let usual = scheme == "https" ? 443 : 80
        return (address.port ?? usual) == (organization.port ?? usual)
    }

    /// What a picture says. Nil from servers that give the picture only, and if it can't be had.
    static func text(of picture: URL, through session: any URLSessionProtocol) async -> String? {
        var request = URLRequest(url: picture)
        request.setValue("text/plain", forHTTPHeaderField: "Accept")
        request.timeoutInterval = 10
        // Why it can't be had matters to nobody: the address is shown instead.
        guard let (data, response) = try? await session.data(for: request), (response as? HTTPURLResponse)?.statusCode == 200,
            response.mimeType == "text/plain"
        else { return nil }
        return String(data: data, encoding: .utf8)
    }
}
