public import AuthFoundation
internal import Foundation

extension Sandbox {
    /// Signs a user in and returns the credential, for previews and tests of views. It is not stored.
    ///
    /// The body of `#Preview` cannot wait, so use a view:
    ///
    /// ```swift
    /// struct SignedInPreview: View {
    ///     @State private var sandbox: Sandbox?  // held as long as the preview is shown
    ///     @State private var credential: Credential?
    ///
    ///     var body: some View {
    ///         Group {
    ///             if let credential { ProfileView(credential: credential) } else { ProgressView() }
    ///         }
    ///         .task {
    ///             sandbox = try? await Sandbox.start()
    ///             credential = try? await sandbox?.previewCredential()
    ///         }
    ///     }
    /// }
    ///
    /// #Preview { SignedInPreview() }
    /// ```
    ///
    /// - Parameter application: An application that allows the password grant with one factor.
    /// - Returns: The credential; its requests reach the sandbox within the process.
    /// - Throws: Errors of the sign-in.
    public func previewCredential(of user: SandboxUser = .jane, in application: SandboxApplication = .password) async throws -> Credential {
        let client = client(application)
        let request = PasswordRequest(
            openIdConfiguration: try await client.openIdConfiguration(), clientConfiguration: client.configuration, user: user)
        let token = try await client.exchange(token: request).result
        return try await Credential(token: token, oauth2: client)
    }
}

/// A password grant request (RFC 6749, 4.3).
private struct PasswordRequest: OAuth2TokenRequest {
    let openIdConfiguration: OpenIdConfiguration
    let clientConfiguration: OAuth2Client.Configuration
    let user: SandboxUser

    var bodyParameters: [String: any APIRequestArgument]? {
        var parameters = clientConfiguration.parameters(for: .token) ?? [:]
        parameters["grant_type"] = "password"
        parameters["username"] = user.login
        parameters["password"] = user.password ?? ""
        return parameters
    }
}
