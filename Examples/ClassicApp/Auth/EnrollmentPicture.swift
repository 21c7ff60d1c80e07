internal import AuthFoundation
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The content of a QR code picture. Countersign's server returns the content for `Accept: text/plain`.
enum EnrollmentPicture {
    /// Whether a picture belongs to the organization. A response could contain any address, including an address that only this machine can
    /// reach.
    static func isPicture(_ address: URL, of organization: URL) -> Bool {
        guard address.user() == nil, address.password() == nil, let scheme = address.scheme?.lowercased(),
            scheme == organization.scheme?.lowercased(), let host = address.host()?.lowercased(), host == organization.host()?.lowercased(),
            scheme == "https" || (scheme == "http" && isLoopback(host))
        else { return false }
        let usual = scheme == "https" ? 443 : 80
        return (address.port ?? usual) == (organization.port ?? usual)
    }

    /// Whether a host is `localhost` or its subdomain, in 127.0.0.0/8, or `::1`. For these hosts, the client also accepts plain http.
    private static func isLoopback(_ host: String) -> Bool {
        let host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
    }

    /// Returns the content of a picture; `nil` if the server returns only the picture, or the request fails.
    static func text(of picture: URL, through session: any URLSessionProtocol) async -> String? {
        var request = URLRequest(url: picture)
        request.setValue("text/plain", forHTTPHeaderField: "Accept")
        request.timeoutInterval = 10
        // The error is ignored, because the app shows the address instead.
        guard let (data, response) = try? await session.data(for: request), (response as? HTTPURLResponse)?.statusCode == 200,
            response.mimeType == "text/plain"
        else { return nil }
        return String(data: data, encoding: .utf8)
    }
}
