import AuthFoundation
import CountersignSandbox
import CountersignUI
import Testing

@Suite("Sign-in with a password")
@MainActor
struct PasswordTests {
    @Test("A right password signs the user in, and the tokens are stored as the default credential")
    func signsIn() async throws {
        try await SignInVisit.play { visit in
            #expect(visit.session.state == .signedOut)
            await visit.signIn()
            #expect(visit.session.state == .signedIn && visit.session.isSignedIn)
            #expect(visit.session.problem == nil && !visit.session.isBusy)
            #expect(visit.session.credential === Credential.default)
            #expect(visit.session.displayName == "Jane Doe")
        }
    }
}
