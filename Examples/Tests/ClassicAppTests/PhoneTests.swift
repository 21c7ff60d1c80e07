import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import OktaAuthSdk
import Testing

@testable import ClassicApp

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@MainActor
@Suite("Phones in the classic app", .timeLimit(.minutes(5)))
struct PhoneTests {
    private static let phones = "sign_on_policy: two-factors\nfactors: { push: optional, totp: not_allowed }"
    private static let address = "The code to scan with your device is at "

    /// Signs in until the page shows the code for a phone.
    private func begin(_ sandbox: Sandbox, session: (any URLSessionProtocol)? = nil) async throws -> ClassicVisit {
        let visit = ClassicVisit(sandbox, session: session)
        await visit.signIn()
        try await visit.take("Set up: push")
        #expect(visit.model.headline == "Activate: push" && visit.model.isWaiting && !visit.titles.contains("Enter the code"))
        return visit
    }

    @Test("A phone that scans the classic app's QR code is enrolled, and the app continues automatically")
    func scanned() async throws {
        try await withSandbox(.classic(Self.phones)) { sandbox in
            let visit = try await begin(sandbox)
            #expect(await eventually { visit.model.symbolText != nil })
            #expect(visit.model.details.last?.hasPrefix("Scan the code with your device; it is also at \(sandbox.origin)/") == true)
            // The waiting status still shows the code.
            let asked = polls(sandbox)
            #expect(await visit.asks { polls(sandbox) > asked + 1 })
            #expect(visit.model.details.last?.hasPrefix("Scan the code with your device; ") == true)
            let uri = try #require(visit.model.symbolText)
            visit.model.openSymbol()
            #expect(visit.model.isSymbolOpen && visit.model.isWaiting)
            let phone = try await sandbox.phone(for: ClassicVisit.jane, scanning: uri)
            #expect(await visit.reaches(.done(hasTokens: false)))
            #expect(!visit.model.isSymbolOpen && visit.model.symbolText == nil)
            let again = ClassicVisit(sandbox)
            await again.signIn()
            try await again.take("push: \(phone.enrollments.isEmpty ? "" : "Virtual phone of ")")
            try await phone.approveNext()
            #expect(await again.reaches(.done(hasTokens: false)))
        }
    }

    @Test(
        "In the classic app, a phone can be enrolled with a link that is sent by text message or mail",
        arguments: [MessageChannel.text, .mail])
    func linked(by channel: MessageChannel) async throws {
        try await withSandbox(.classic(Self.phones)) { sandbox in
            let visit = try await begin(sandbox)
            if channel == .text {
                try await visit.take("Send a link by text message", ["number": "no number"])
                #expect(visit.model.errorMessage?.isEmpty == false && visit.model.openAction != nil)
                visit.model.values["number"] = ClassicVisit.number
                await visit.model.submit()
            } else {
                try await visit.take("Send a link by email")
            }
            #expect(visit.model.errorMessage == nil && visit.model.openAction == nil && visit.model.isWaiting)
            #expect(visit.model.details.last == "We sent you a link. Open it on your device.")
            let link = try #require(try await sandbox.outbox.next(by: channel).link)
            _ = try await sandbox.phone(for: ClassicVisit.jane, scanning: link.absoluteString)
            #expect(await visit.reaches(.done(hasTokens: false)))
        }
    }

    @Test("If the phone is activated while a form is open, the classic app closes the form")
    func formOfFormerState() async throws {
        let settings = "sign_on_policy: two-factors\nfactors: { push: required, question: required, totp: not_allowed }"
        try await withSandbox(.classic(settings)) { sandbox in
            let visit = try await begin(sandbox)
            #expect(await eventually { visit.model.symbolText != nil })
            let uri = try #require(visit.model.symbolText)
            await visit.model.select(try #require(visit.model.actions.first { $0.title == "Send a link by text message" }))
            visit.model.values["number"] = ClassicVisit.number
            #expect(visit.model.canSubmit && visit.model.isWaiting)
            _ = try await sandbox.phone(for: ClassicVisit.jane, scanning: uri)
            #expect(await visit.reaches(.transaction(.MFAEnroll)))
            #expect(visit.model.openAction == nil && visit.model.fields.isEmpty && visit.model.values.isEmpty)
            #expect(visit.titles.contains("Set up: security question (required)"))
        }
    }

    @Test("The classic app reports an expired QR code, and shows a new QR code after the activation is restarted")
    func late() async throws {
        try await withSandbox(.classic(Self.phones)) { sandbox in
            let visit = try await begin(sandbox)
            #expect(await eventually { visit.model.symbolText != nil })
            let first = visit.model.symbolText
            visit.model.openSymbol()
            // Polling extends the sign-in, but not the code.
            #expect(await visit.asks(after: 60) { !visit.model.isWaiting })
            #expect(await eventually { !visit.model.isLoading })
            #expect(visit.model.details.contains("The request expired.") && visit.model.symbolText == nil)
            #expect(!visit.model.isSymbolOpen, "There is no code any more to have the screen to itself.")
            try await visit.take("Restart the activation")
            #expect(await eventually { visit.model.symbolText != nil })
            #expect(visit.model.symbolText != first && visit.model.isWaiting)
            _ = try await sandbox.phone(for: ClassicVisit.jane, scanning: try #require(visit.model.symbolText))
            #expect(await visit.reaches(.done(hasTokens: false)))
        }
    }

    /// Returns the number of the app's polls for the enrollment of a phone.
    private func polls(_ sandbox: Sandbox) -> Int { sandbox.requests.count { $0.path.hasSuffix("/poll") } }

    @Test(
        "If the QR code is not available as text, the classic app shows the QR code's address",
        arguments: [PictureSession.offline, .picture, .otherText])
    func refused(session: PictureSession) async throws {
        try await withSandbox(.classic(Self.phones)) { sandbox in
            let visit = try await begin(sandbox, session: session)
            let line = try #require(visit.model.details.last { $0.hasPrefix(Self.address) })
            #expect(line.contains("\(sandbox.origin)/api/v1/users/"))
            // The test repeats the model's request to check the response itself.
            #expect(await eventually { await session.answers == 1 })
            let picture = try #require(URL(string: String(line.dropFirst(Self.address.count))))
            #expect(await ClassicService(organization: sandbox.origin, session: session).text(ofPicture: picture) == nil)
            #expect(await session.answers == 2)
            #expect(visit.model.symbolText == nil && visit.model.errorMessage == nil)
            visit.model.openSymbol()
            #expect(!visit.model.isSymbolOpen)
            await visit.model.giveUp()
        }
    }

    @Test(
        "The classic app requests an enrollment QR code only from the organization's origin, over https or from a loopback address",
        arguments: [
            ("https://id.example.com", "https://id.example.com/api/v1/qr/1", true),
            ("https://id.example.com", "https://ID.example.com:443/qr", true),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/qr", true),
            ("http://127.0.0.2:8080", "http://127.0.0.2:8080/qr", true),
            ("http://[::1]:8080", "http://[::1]:8080/qr", true),
            ("http://id.localhost:8080", "http://id.LOCALHOST:8080/qr", true),
            ("http://127.0.0.1.example.com", "http://127.0.0.1.example.com/qr", false),
            ("http://127.example.0.1", "http://127.example.0.1/qr", false),
            ("https://id.example.com", "https://example.com/qr", false),
            ("https://id.example.com", "https://id.example.com:8443/qr", false),
            ("https://id.example.com", "http://id.example.com/qr", false),
            ("https://id.example.com", "http://169.254.169.254/latest", false),
            ("https://id.example.com", "https://jane:secret@id.example.com/qr", false),
            ("http://id.example.com", "http://id.example.com/qr", false),
            ("https://id.example.com", "file:///etc/hosts", false),
        ])
    func origin(organization: String, picture: String, isFetched: Bool) async throws {
        let (organization, picture) = (try #require(URL(string: organization)), try #require(URL(string: picture)))
        let session = PictureSession.offline
        let service = ClassicService(organization: organization, session: session)
        #expect(await service.text(ofPicture: picture) == nil)
        #expect(await session.answers == (isFetched ? 1 : 0))
    }

    @Test("The classic app follows no redirect in a request for an enrollment QR code", arguments: [true, false])
    func redirect(hasClient: Bool) async throws {
        try await withSandbox { sandbox in
            // Without a session, the page redirects immediately.
            let elsewhere = "http://127.0.0.1:\(try #require(sandbox.origin.port))/callback"
            let page = sandbox.issuer.appending(path: "v1/authorize").appending(queryItems: [
                URLQueryItem(name: "client_id", value: SandboxApplication.browser.clientID),
                URLQueryItem(name: "response_type", value: "code"), URLQueryItem(name: "scope", value: "openid"),
                URLQueryItem(name: "redirect_uri", value: elsewhere), URLQueryItem(name: "state", value: "s"),
                URLQueryItem(name: "prompt", value: "none"), URLQueryItem(name: "code_challenge_method", value: "S256"),
                URLQueryItem(name: "code_challenge", value: String(repeating: "c", count: 43)),
            ])
            let client = OAuth2Client(sandbox.configuration(.browser), clock: sandbox.clock)
            let service = ClassicService(organization: sandbox.origin, client: hasClient ? client : nil)
            #expect(await service.text(ofPicture: page) == nil)
            #expect(sandbox.requests.map(\.path) == [page.path()])
            #expect(sandbox.requests.first?.status.map { (300..<400).contains($0) } == true)
        }
    }

    @Test("In the classic app, the user can choose each of two phones that have the same name")
    func twins() async throws {
        try await withSandbox(.classic("sign_on_policy: two-factors")) { sandbox in
            let phone = try await sandbox.phone(for: ClassicVisit.jane)
            let visit = ClassicVisit(sandbox)
            let name = "Virtual phone of \(ClassicVisit.jane)"
            try await visit.addPhone(named: name, beside: phone)
            await visit.signIn()
            #expect(visit.titles == ["push: \(name)", "push: \(name) (2)", "Cancel"])
            #expect(Set(visit.model.actions.map(\.id)).count == 3)
            var asked: [Bool] = []
            for title in visit.titles.prefix(2) {
                await visit.model.select(try #require(visit.model.actions.first { $0.title == title }))
                #expect(visit.model.isWaiting)
                asked.append(try await phone.pending().isEmpty == false)
                try await visit.take("Back")
            }
            #expect(asked.sorted { $0 && !$1 } == [true, false], "One is the virtual phone, the other is not.")
            let own = try #require(asked.firstIndex(of: true))
            await visit.model.select(visit.model.actions[own])
            // The phone may also list earlier, cancelled requests.
            try await phone.approve(try #require(try await phone.pending().last).id)
            #expect(await visit.reaches(.done(hasTokens: false)))
        }
    }
}

/// A network session that returns no text for a picture.
struct PictureSession: URLSessionProtocol, CustomTestStringConvertible {
    /// A session without a connection.
    static var offline: PictureSession { PictureSession(testDescription: "offline") }
    /// A session that gets the picture, as from a server that does not return the content as text.
    static var picture: PictureSession {
        PictureSession(testDescription: "a picture") { $0.setValue("image/png", forHTTPHeaderField: "Accept") }
    }
    /// A session that gets another text, as from a server that returns the same page for every request.
    static var otherText: PictureSession {
        PictureSession(testDescription: "another text") {
            $0.url = $0.url.flatMap { URL(string: "/.well-known/openid-configuration", relativeTo: $0) }
        }
    }

    let testDescription: String
    /// A change of each request before it is sent; `nil` if requests cannot be sent.
    private let change: (@Sendable (inout URLRequest) -> Void)?
    private let counter = Counter()

    private init(testDescription: String, change: (@Sendable (inout URLRequest) -> Void)? = nil) {
        (self.testDescription, self.change) = (testDescription, change)
    }

    private actor Counter {
        private(set) var value = 0
        func increase() { value += 1 }
    }

    /// The number of completed requests.
    var answers: Int { get async { await counter.value } }

    var configuration: URLSessionConfiguration { .ephemeral }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        guard let change else {
            await counter.increase()
            throw URLError(.notConnectedToInternet)
        }
        var request = request
        change(&request)
        let session: any URLSessionProtocol = URLSession.shared
        let answer = try await session.data(for: request)
        await counter.increase()
        return answer
    }
}
