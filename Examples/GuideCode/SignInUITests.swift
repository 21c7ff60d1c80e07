// A library can import XCTest only where Xcode builds tests. There, this file is empty unless it is a part of a UI test.
#if os(iOS) && canImport(XCTest)
import Foundation
import XCTest

final class SignInUITests: XCTestCase {
    private let sandbox = SandboxControl()

    /// Starts the app as a client of the sandbox.
    @MainActor
    private func launch(_ clientID: String, sessionToken: String? = nil) -> XCUIApplication {
        continueAfterFailure = false
        let app = XCUIApplication()
        app.launchArguments = ["-AppleLanguages", "(en)"]
        app.launchEnvironment = [
            "COUNTERSIGN_ISSUER": "http://localhost:8080/oauth2/default",
            "COUNTERSIGN_CLIENT_ID": clientID,
            "COUNTERSIGN_SCOPES": "openid profile offline_access",
            "COUNTERSIGN_REDIRECT_URI": "com.example.app:/callback",
        ]
        app.launchEnvironment["UI_TEST_SESSION_TOKEN"] = sessionToken
        app.launch()
        return app
    }

    @MainActor
    func testAPasswordAndAPushSignIn() async throws {
        try await sandbox.post("sandbox/reset")
        try await sandbox.post("sandbox/phones", #"{"login": "jane.doe@example.com"}"#)

        let app = launch("directauth-app")
        let userName = app.textFields["User name"]
        XCTAssertTrue(userName.waitForExistence(timeout: 10))
        userName.tap()
        userName.typeText("jane.doe@example.com")
        app.secureTextFields["Password"].tap()
        app.secureTextFields["Password"].typeText("Correct-Horse-7")
        app.buttons["Sign in"].tap()

        // Waits for the push, and approves it on Jane's phone.
        try await sandbox.post("sandbox/phones/jane.doe@example.com/approve", #"{"within": 30}"#)
        XCTAssertTrue(app.staticTexts["Hello, Jane Doe!"].waitForExistence(timeout: 10))
    }

    @MainActor
    func testTheBrowserSignsIn() async throws {
        try await sandbox.post("sandbox/reset")
        try await sandbox.post(
            "sandbox/applications",
            #"""
            {"id": "ui-test-app", "name": "UI tests", "type": "native", "grant_types": ["authorization_code", "refresh_token"],
             "redirect_uris": ["com.example.app:/callback"], "sign_on_policy": "one-factor", "assignment": "everyone"}
            """#)
        let token = try await sandbox.sessionToken("jane.doe@example.com", "Correct-Horse-7")

        let app = launch("ui-test-app", sessionToken: token)
        let signIn = app.buttons["Continue in the browser"]
        XCTAssertTrue(signIn.waitForExistence(timeout: 10))
        signIn.tap()

        // The system asks whether the app may use the server. The alert belongs to the home screen's process.
        let springboard = XCUIApplication(bundleIdentifier: "com.apple.springboard")
        let consent = springboard.buttons["Continue"]
        XCTAssertTrue(consent.waitForExistence(timeout: 10))
        consent.tap()

        // The web sheet opens. The server recognizes the session token, and redirects to the app without a page.
        XCTAssertTrue(app.staticTexts["Hello, Jane Doe!"].waitForExistence(timeout: 20))
    }
}

/// Sends requests to `countersign sandbox`.
struct SandboxControl: Sendable {
    struct Refused: Error { let answer: String }

    /// Sends JSON, and returns the answer. Throws the server's reason for any status but 200.
    @discardableResult
    func post(_ path: String, _ json: String = "{}") async throws -> Data {
        guard let url = URL(string: "http://localhost:8080/\(path)") else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(json.utf8)
        let (data, response) = try await URLSession.shared.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw Refused(answer: String(decoding: data, as: UTF8.self)) }
        return data
    }

    /// Returns a token that signs the user in once, without a page. It is valid for five minutes.
    func sessionToken(_ login: String, _ password: String) async throws -> String {
        struct Answer: Decodable { let sessionToken: String }
        let data = try await post("api/v1/authn", #"{"username": "\#(login)", "password": "\#(password)"}"#)
        return try JSONDecoder().decode(Answer.self, from: data).sessionToken
    }
}
#endif
