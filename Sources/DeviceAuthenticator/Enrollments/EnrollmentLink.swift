internal import AuthFoundation
public import Foundation
public import JOSE

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The content of a sign-in page's QR code: the org, the app, and a ticket for enrollment. An extension of this project. Countersign's
/// pages show the code to a user who needs a second factor and has none. The ticket is valid once, for at most ten minutes, and only while
/// the sign-in waits for it. Descriptions redact it. A value type; safe from any thread.
public struct EnrollmentLink: Sendable {
    /// The org that the code belongs to.
    public let organizationURL: URL
    /// The client id of the app that the code is for. An app must reject a code for another app.
    public let clientID: String
    let ticket: String

    /// Parses a scanned code.
    /// - Parameter text: The URL in the QR code, of the form `https://id.example.com/enroll/{authenticator}#client_id=…&ticket=…`.
    ///   Surrounding white space is ignored.
    /// - Throws: ``DeviceAuthenticatorError/genericError(_:)`` if the text is not such a URL, or if the URL is neither https nor on this
    ///   machine.
    public init(_ text: String) throws {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.utf8.count <= Self.longest, let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["https", "http"].contains(scheme), let url = parts.url, LoopbackRule.isAcceptable(url), parts.user == nil,
            parts.path.hasPrefix("/enroll/"), let fragment = parts.percentEncodedFragment
        else { throw DeviceAuthenticatorError.genericError(LocalFailure.noEnrollmentLink) }
        var values = URLComponents()
        values.percentEncodedQuery = fragment
        func value(_ name: String) -> String? {
            let all = (values.queryItems ?? []).filter { $0.name == name }
            return all.count == 1 ? all[0].value.flatMap { $0.isEmpty ? nil : $0 } : nil
        }
        guard let clientID = value("client_id"), let ticket = value("ticket") else {
            throw DeviceAuthenticatorError.genericError(LocalFailure.noEnrollmentLink)
        }
        organizationURL = OrganizationURL.normalized(url)
        self.clientID = clientID
        self.ticket = ticket
    }

    private static let longest = 2_000

    var authenticator: DeviceAuthenticatorConfig { DeviceAuthenticatorConfig(orgURL: organizationURL, oidcClientId: clientID) }
}

extension EnrollmentLink: Redacted {
    /// The org and the app, without the ticket.
    public var description: String { "EnrollmentLink(\(organizationURL.absoluteString), \(clientID))" }
}

/// Enrollment by QR code, an extension of this project.
extension DeviceAuthenticatorProtocol {
    /// Enrolls this installation for the user whose sign-in page shows the QR code. The user does not sign in on this device. The sign-in
    /// on the page continues with a push to this device. The first request that reaches the org consumes the ticket. If enrollment fails
    /// after that, the page shows a new code. Apart from the ticket, the enrollment works like
    /// ``enroll(authenticationToken:authenticatorConfig:enrollmentParameters:)``.
    /// - Parameters:
    ///   - link: The scanned code. First show ``EnrollmentLink/organizationURL`` and ask whether the user is signing in to this org now.
    ///   - enrollmentParameters: The push token and options of the enrollment.
    /// - Returns: The enrollment; its ``AuthenticatorEnrollmentProtocol/user`` is the enrolled user.
    /// - Throws: ``DeviceAuthenticatorError``; its ``DeviceAuthenticatorError/reason-swift.property`` is
    ///   ``DeviceAuthenticatorError/Reason/enrollmentLinkRefused`` if the ticket is consumed, expired, for another app, or of a sign-in
    ///   that has ended. `CancellationError`.
    public func enroll(_ link: EnrollmentLink, enrollmentParameters: EnrollmentParameters) async throws
        -> any AuthenticatorEnrollmentProtocol
    {
        let token = try await linkToken(for: link)
        return try await enroll(
            authenticationToken: token, authenticatorConfig: link.authenticator, enrollmentParameters: enrollmentParameters)
    }

    private func linkToken(for link: EnrollmentLink) async throws -> AuthToken {
        // An app's own types, such as test doubles, cannot send requests to the org.
        guard let device = self as? PushDevice else {
            throw DeviceAuthenticatorError.internalError("Only what DeviceAuthenticatorBuilder makes can exchange the ticket of a code.")
        }
        return try await device.token(for: link)
    }
}

extension PushDevice {
    /// Exchanges the ticket for an access token, which permits one enrollment. The token is not stored.
    fileprivate func token(for link: EnrollmentLink) async throws -> AuthToken {
        struct Answer: Decodable {
            var accessToken: String
            enum CodingKeys: String, CodingKey { case accessToken = "access_token" }
        }
        do {
            let data = try await transport.send(
                OrgRequests.enrollmentToken(of: link.organizationURL, clientID: link.clientID, ticket: link.ticket))
            guard let answer = try? JSONDecoder().decode(Answer.self, from: data), answer.accessToken.isHeaderToken else {
                // The decoder's error may quote the token.
                throw DeviceAuthenticatorError.internalError("The answer of the token endpoint is no token.")
            }
            return .bearer(answer.accessToken)
        } catch DeviceAuthenticatorError.serverAPIError(let result, let model)
            where result.response?.statusCode == 400 && model?.errorSummary?.hasPrefix("invalid_grant") == true
        {
            throw DeviceAuthenticatorError.genericError(LocalFailure.enrollmentLinkRefused)
        } catch {
            throw DeviceAuthenticatorError.reporting(error)
        }
    }
}
