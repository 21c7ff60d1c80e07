import AuthFoundation
import BrowserSignin
import CountersignSandbox
import DeviceAuthenticator
import Foundation
import JOSE
import TestSupport
import Testing

@Suite("Enrollment of a phone with the QR code of a sign-in page", .timeLimit(.minutes(10)))
struct PhoneByCodeTests {
    /// Returns the content of the QR code on a page. The page also shows the content as text.
    private static func address(on page: HostedPage) -> String? {
        page.text.split(separator: " ").first { $0.contains("/enroll/") && $0.contains("#") }.map(String.init)
    }

    /// Walks to the page with the QR code, and runs the test with it.
    private static func visitor(
        scan: @escaping @Sendable (String) async throws -> HostedPage.Step, push: @escaping @Sendable () async throws -> Void
    ) -> SandboxBrowser.Visitor {
        { page -> HostedPage.Step in
            if let address = address(on: page) { return try await scan(address) }
            if let form = page.forms.first(where: { $0.field(ofType: "password") != nil }) {
                return .submit(form, values: ["username": SandboxUser.jane.login, "password": SandboxUser.jane.password ?? ""])
            }
            if let form = page.forms.first(where: { $0.buttons.contains { $0.value == "push" } }), page.refresh == nil {
                return .submit(form, button: form.buttons.first { $0.value == "push" })
            }
            if page.refresh != nil {
                try await push()
                return .reload()
            }
            guard let form = page.forms.first(where: { $0.action.path().hasSuffix("/enroll-phone") }) else { return .close }
            return .submit(form)
        }
    }

    @Test("A phone that scans the sign-in page's QR code is enrolled without a password, and can approve the sign-in")
    func setsUp() async throws {
        try await withSandbox(.standing()) { sandbox in
            let browser = sandbox.browser(
                visitor: Self.visitor(
                    scan: { address in
                        _ = try await sandbox.phone(for: SandboxUser.jane.login, scanning: address)
                        return .reload()
                    },
                    push: { _ = try await sandbox.phone(for: SandboxUser.jane.login).approveNext() }))
            let token = try await sandbox.browserSignin(in: browser).signIn()
            #expect(Set(token.methods).isSuperset(of: ["pwd", "swk", "mfa"]))
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            #expect(phone.enrollments.map(\.user.name) == [SandboxUser.jane.login])
        }
    }

    @Test("countersign phone enroll --uri enrolls a phone with a QR code's address without a password, and rejects a used address")
    func terminal() async throws {
        try await withSandbox { sandbox in
            let phone = try PhoneFixture(sandbox)
            let browser = phone.sandbox.browser(
                visitor: Self.visitor(
                    scan: { address in
                        let enrolled = try await phone.run("phone", "enroll", "--uri", address, "--json")
                        #expect(enrolled.status == 0, "\(enrolled.errors)")
                        let again = try await phone.run("phone", "enroll", "--uri", address)
                        #expect(again.status != 0 && again.errors.contains("Let the sign-in page show another"), "\(again.errors)")
                        #expect(!again.errors.contains("ticket="))
                        return .reload()
                    },
                    push: {
                        let request = try await phone.pendingRequest()
                        let approved = try await phone.run("phone", "approve", try #require(request["id"]?.stringValue))
                        #expect(approved.status == 0, "\(approved.errors)")
                    }))
            let token = try await phone.sandbox.browserSignin(in: browser).signIn()
            #expect(Set(token.methods).isSuperset(of: ["pwd", "swk", "mfa"]))
            let both = try await phone.run(
                "phone", "enroll", PhoneFixture.jane, "--uri", "https://id.example.com/enroll/a#client_id=c&ticket=t")
            #expect(both.status != 0 && both.errors.contains("Leave out the other"))
        }
    }

    @Test("An enrollment QR code of another issuer is rejected, and a used QR code is rejected for every user")
    func refused() async throws {
        try await withSandbox(.standing()) { sandbox in
            let browser = sandbox.browser(
                visitor: Self.visitor(
                    scan: { address in
                        let elsewhere = address.replacing(sandbox.origin.absoluteString, with: "https://elsewhere.example.com")
                        await #expect(throws: PhoneError.self) {
                            _ = try await sandbox.phone(for: SandboxUser.jane.login, scanning: elsewhere)
                        }
                        _ = try await sandbox.phone(for: SandboxUser.jane.login, scanning: address)
                        let error = await #expect(throws: DeviceAuthenticatorError.self) {
                            _ = try await sandbox.phone(for: SandboxUser.john.login, scanning: address)
                        }
                        #expect(error?.reason == .enrollmentLinkRefused)
                        await #expect(throws: PhoneError.self) {
                            _ = try await sandbox.phone(for: SandboxUser.jane.login, scanning: address)
                        }
                        return .close
                    }, push: {}))
            let signin = try await sandbox.browserSignin(in: browser)
            await #expect(throws: (any Error).self) { _ = try await signin.signIn() }
            #expect(sandbox.allPhones.map(\.login) == [SandboxUser.jane.login])
        }
    }
}
