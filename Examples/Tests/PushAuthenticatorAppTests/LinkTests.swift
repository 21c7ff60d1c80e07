import BrowserSignin
import CountersignSandbox
import CountersignUI
import ExampleTestSupport
import Foundation
import Testing

@testable import PushAuthenticatorApp

@MainActor
@Suite("Enrollment links in the push authenticator app", .timeLimit(.minutes(5)))
struct LinkTests {
    /// Returns a visitor that signs Jane in on the pages. The pages require a second factor, which she enrolls with the QR code.
    nonisolated private static func visitor(
        scan: @escaping @Sendable (String) async throws -> Void, approve: @escaping @Sendable () async throws -> Void
    ) -> SandboxBrowser.Visitor {
        { page -> HostedPage.Step in
            if let address = page.text.split(separator: " ").first(where: { $0.contains("/enroll/") && $0.contains("#") }) {
                try await scan(String(address))
                return .reload()
            }
            if let form = page.forms.first(where: { $0.field(ofType: "password") != nil }) {
                let jane = SandboxUser.jane
                return .submit(form, values: ["username": jane.login, "password": jane.password ?? ""])
            }
            if page.refresh != nil {
                try await approve()
                return .reload()
            }
            let push = page.forms.first { $0.buttons.contains { $0.value == "push" } }
            guard let form = push ?? page.forms.first(where: { $0.action.path().hasSuffix("/enroll-phone") }) else { return .close }
            return .submit(form, button: form.buttons.first { $0.value == "push" })
        }
    }

    @Test("An enrollment link is valid once and adds an account without a password, and the new account can approve the page's sign-in")
    func goodLink() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            let again = try PhoneVisit(sandbox)
            let browser = sandbox.browser(
                visitor: Self.visitor(
                    scan: { address in
                        await visit.use(link: address)
                        await again.use(link: address)
                    },
                    approve: {
                        let request = try await visit.request()
                        await visit.model.requestModel.approve(request.id)
                    }))
            let token = try await sandbox.browserSignin(in: browser).signIn()
            #expect(token.idToken != nil)
            #expect(visit.model.accounts.map(\.name) == [PhoneVisit.jane.login] && visit.model.front == .home)
            #expect(visit.model.notice == "Approved" && visit.model.link.isEmpty && visit.model.errorMessage == nil)
            #expect(again.model.accounts.isEmpty && again.model.front == .change(.enroll))
            #expect(again.model.errorMessage?.contains("Show a new code on the sign-in page") == true, "\(again.model.errorMessage ?? "")")
        }
    }
}
