public import AuthFoundation
internal import OAuth2Auth

extension Sandbox {
    /// Signs a user in and returns the credential, for previews and tests of views. The credential is not stored.
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
    /// - Returns: The credential. Its requests reach the sandbox within the process.
    /// - Throws: Errors of the sign-in.
    public func previewCredential(of user: SandboxUser = .jane, in application: SandboxApplication = .password) async throws -> Credential {
        let client = client(application)
        let token = try await ResourceOwnerFlow(client: client).start(username: user.login, password: user.password ?? "")
        return try await Credential(token: token, oauth2: client)
    }
}
