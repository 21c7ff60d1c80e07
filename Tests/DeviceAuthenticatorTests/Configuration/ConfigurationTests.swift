import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

@Suite("Configuration (D2, D3-4, Documentation/Protocol/Devices.md §1.3)")
struct ConfigurationTests {
    @Test(
        "An org's URL is normalized to scheme, host and port",
        arguments: [
            ("https://org.example", "https://org.example"), ("org.example", "https://org.example"),
            ("http://org.example/x", "https://org.example"), ("org.example/path", "https://org.example"),
            ("https://org.example/", "https://org.example"), ("https://ORG.Example:443/x?y#z", "https://org.example"),
            ("https://org.example:8443", "https://org.example:8443"), ("org.example:8443", "https://org.example:8443"),
            ("org.example:8443/path", "https://org.example:8443"), ("localhost:8443", "https://localhost:8443"),
            ("https://user:password@org.example", "https://org.example"), ("http://localhost:8080/x", "http://localhost:8080"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"), ("http://[::1]:8080/", "http://[::1]:8080"),
            ("http://a.localhost", "http://a.localhost"), ("http://127.0.0.1.evil.example", "https://127.0.0.1.evil.example"),
            ("ftp://org.example", "https://org.example"),
        ])
    func orgURL(given: String, normalized: String) throws {
        let config = DeviceAuthenticatorConfig(orgURL: try url(given), oidcClientId: "c")
        #expect(config.orgURL.absoluteString == normalized)
        #expect(config.authenticatorKey == "custom_app")
        #expect(DeviceAuthenticatorConfig(orgURL: config.orgURL, oidcClientId: "c").orgURL == config.orgURL)
    }

    @Test("A phone can enroll and answer challenges over plain http if the org is on loopback")
    func loopback() async throws {
        let phone = try TestPhone(org: TestOrg("http://localhost:8080"))
        try await phone.enroll()
        try await phone.parse(phone.org.challenge()).resolve(onRemediation: approving)
        #expect(phone.org.requests(.verify).count == 1)
    }

    @Test("The app can read and set each push setting by its older and its newer name (D2-2, D2-3)")
    func pushSettings() {
        let config = ApplicationConfig(applicationName: "a", applicationVersion: "1", applicationGroupId: "g")
        #expect(config.pushSettings.apsEnvironment == .production)
        config.apsEnvironment = .development
        #expect(config.pushSettings.apsEnvironment == .development)
        config.pushSettings.apsEnvironment = .production
        #expect(config.apsEnvironment == .production)
        config.approveActionTitle = "Yes"
        config.pushSettings.denyActionTitle = "No"
        config.userVerificationActionTitle = "Look"
        #expect(config.pushSettings.approveActionTitle == "Yes" && config.denyActionTitle == "No")
        #expect(config.pushSettings.userVerificationActionTitle == "Look")
    }

    #if !canImport(Darwin)
    @Test("The storage folder is named after the application group, and is in XDG_DATA_HOME or in ~/.local/share")
    func folder() throws {
        let given = try StorageLocation.folder(group: "group.com.acme", environment: ["XDG_DATA_HOME": "/data"], home: "/home/ada")
        #expect(given.path == "/data/countersign/devices/group.com.acme")
        for environment in [[:], ["XDG_DATA_HOME": "relative"], ["XDG_DATA_HOME": ""]] {
            let folder = try StorageLocation.folder(group: "g", environment: environment, home: "/home/ada")
            #expect(folder.path == "/home/ada/.local/share/countersign/devices/g")
        }
    }

    @Test(
        "An application group that is not a valid folder name causes an error whose technical description names applicationGroupId",
        arguments: ["", ".", "..", "../x", "a/b", ".hidden", "a b", "ä"])
    func wrongGroup(group: String) throws {
        let config = ApplicationConfig(applicationName: "a", applicationVersion: "1", applicationGroupId: group)
        do {
            _ = try DeviceAuthenticatorBuilder(applicationConfig: config).create()
            Issue.record("the group was accepted")
        } catch DeviceAuthenticatorError.storageError(let error) {
            #expect(error.debugDescription.contains("applicationGroupId"))
        }
    }
    #endif

    @Test("An authenticator keeps the push environment that the configuration had when the authenticator was created")
    func environment() async throws {
        let org = TestOrg()
        let config = ApplicationConfig(
            applicationName: "a", applicationVersion: "1", applicationGroupId: "g", applicationInstallationId: "install-1")
        let folder = TemporaryFolder()
        let authenticator = try DeviceAuthenticatorBuilder(applicationConfig: config).storageDirectory(folder.url).urlSession(org)
            .clock(ManualClock(sleeps: .skipped)).create()
        config.apsEnvironment = .development
        _ = try await authenticator.enroll(
            authenticationToken: TestPhone.token,
            authenticatorConfig: DeviceAuthenticatorConfig(orgURL: try url(org.url), oidcClientId: "c"),
            enrollmentParameters: EnrollmentParameters(deviceToken: .empty))
        let body = try #require(try org.bodies(.enroll).first)
        #expect(body["methods"]?["push"]?["apsEnvironment"] == "production")
        #expect(body["device"]?["authenticatorAppKey"] == "install-1")
        #if os(Linux)
        #expect(body["device"]?["platform"] == "LINUX" && body["device"]?["displayName"]?.stringValue?.isEmpty == false)
        #endif
    }

    @Test("The public constants of DeviceAuthenticator have the published values")
    func constants() {
        #expect(DeviceAuthenticatorConstants.version == "1.1.0" && DeviceAuthenticatorConstants.name == "DeviceAuthenticator")
        #expect(DeviceAuthenticatorConstants.defaultStorageRelativeDirectoryPath == "Library/DeviceSDK/SQLite")
        #expect(DeviceAuthenticatorConstants.defaultStorageName == "db")
        #expect(NotificationCategories.challenge == "OKTA_PUSH_CHALLENGE")
        #expect(NotificationCategories.verificationChallenge == "OKTA_PUSH_UV_CHALLENGE")
        #expect(NotificationCategories.reviewAction == "REVIEW_BUTTON")
    }

    @Test("Published enumerations have the published raw values and decode unknown server values as unknown")
    func enumerations() {
        #expect(UserVerificationChallengeRequirement(rawValue: "PREFERRED") == .preferred)
        #expect(UserVerificationChallengeRequirement(rawValue: "preferred") == .unknown)
        #expect(UserVerificationChallengeRequirement.required.rawValue == "required")
        #expect(_UserMediationType(rawValue: "OPTIONAL") == .optional && _UserMediationType(rawValue: "x") == .unknown)
        #expect(UserVerificationPolicySetting(raw: "ReQuired") == .required)
        #expect(UserVerificationPolicySetting(raw: "maybe") == .unknown("maybe"))
        #expect(TransactionType.login.rawValue == 1 && TransactionType.ciba.rawValue == 2)
        #expect(TransactionType([.login, .ciba]).supportsCIBA && !TransactionType.login.supportsCIBA)
        #expect(UserConsentResponse.approved.rawValue == 0 && UserConsentResponse.none.rawValue == 2)
    }
}
