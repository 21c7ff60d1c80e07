internal import AuthFoundation
public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
public import JOSE
#endif

/// What the QR code of a sign-in page says: where this device can be enrolled, as which app, and by which ticket. Beyond the published names.
///
/// A person whose sign-in asks for a second factor that they do not have yet is shown one by Countersign's pages. The ticket is good once, for
/// ten minutes at most, and only as long as that sign-in waits for it. Descriptions never show it. A value; safe from any thread.
public struct EnrollmentLink: Sendable {
    /// The org that the code belongs to.
    public let organizationURL: URL
    /// The client id of the app that it is for. An app refuses a code that is for another.
    public let clientID: String
    let ticket: String

    /// Reads what was scanned.
    ///
    /// - Parameter text: The address that the QR code holds, of the form `https://id.example.com/enroll/{authenticator}#client_id=…&ticket=…`;
    ///   white space around it is passed over.
    /// - Throws: ``DeviceAuthenticatorError/genericError(_:)`` if it is no such address, or is neither https nor on this machine.
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

    /// The authenticator that it is for.
    var authenticator: DeviceAuthenticatorConfig { DeviceAuthenticatorConfig(orgURL: organizationURL, oidcClientId: clientID) }
}

extension EnrollmentLink: Redacted {
    /// Org and app; never the ticket.
    public var description: String { "EnrollmentLink(\(organizationURL.absoluteString), \(clientID))" }
}

/// Beyond the published names.
extension DeviceAuthenticatorProtocol {
    /// Makes this installation an authenticator of the person whose sign-in page shows a QR code. Nobody signs in on this device.
    ///
    /// The ticket is used up by the first call that reaches the org; if enrolling fails after that, the page shows another code. All else is as
    /// with ``enroll(authenticationToken:authenticatorConfig:enrollmentParameters:)``. The sign-in on the page goes on with a push to this
    /// device.
    ///
    /// - Parameters:
    ///   - link: What was scanned. Ask the person whether they are signing in there right now, and show them
    ///     ``EnrollmentLink/organizationURL``.
    ///   - enrollmentParameters: What the enrollment shall have.
    /// - Returns: The enrollment; its ``AuthenticatorEnrollmentProtocol/user`` is who it is for.
    /// - Throws: ``DeviceAuthenticatorError``: its ``DeviceAuthenticatorError/reason-swift.property`` is
    ///   ``DeviceAuthenticatorError/Reason/enrollmentLinkRefused`` for a ticket that is used, too old, another app's, or of a sign-in that is
    ///   over. `CancellationError`.
    public func enroll(_ link: EnrollmentLink, enrollmentParameters: EnrollmentParameters) async throws
        -> any AuthenticatorEnrollmentProtocol
    {
        let token = try await linkToken(for: link)
        return try await enroll(
            authenticationToken: token, authenticatorConfig: link.authenticator, enrollmentParameters: enrollmentParameters)
    }

    private func linkToken(for link: EnrollmentLink) async throws -> AuthToken {
        // Types of the app's own, such as test doubles, have no way to the org of their own.
        guard let device = self as? PushDevice else {
            throw DeviceAuthenticatorError.internalError("Only what DeviceAuthenticatorBuilder makes can exchange the ticket of a code.")
        }
        return try await device.token(for: link)
    }
}

extension PushDevice {
    /// Exchanges the ticket for an access token that is good for one enrollment. It is not kept.
    fileprivate func token(for link: EnrollmentLink) async throws -> AuthToken {
        struct Answer: Decodable {
            var accessToken: String
            enum CodingKeys: String, CodingKey { case accessToken = "access_token" }
        }
        do {
            let data = try await transport.send(
                OrgRequests.enrollmentToken(of: link.organizationURL, clientID: link.clientID, ticket: link.ticket))
            guard let answer = try? JSONDecoder().decode(Answer.self, from: data), answer.accessToken.isHeaderToken else {
                // The decoder's own error may quote the token.
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
