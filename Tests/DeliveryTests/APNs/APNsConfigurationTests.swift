import Delivery
import Logging
import Testing

@Suite("Configuration of the push service")
struct APNsConfigurationTests {
    let logger = RecordedLogs().logger

    @Test("The default push service origins are Apple's production and sandbox servers")
    func defaults() {
        let configuration = APNsSender.Configuration()
        #expect(configuration.productionOrigin == "https://api.push.apple.com")
        #expect(configuration.developmentOrigin == "https://api.sandbox.push.apple.com")
        #expect(configuration.additionalTrustRootsPEM == nil)
    }

    @Test(
        "An invalid push service origin causes an error that shows a valid origin",
        arguments: [
            "", "api.push.apple.com", "http://localhost", "https://", "https:///", "https://a/b", "https://a?b", "https://a b",
            "https://u@a",
        ])
    func origins(_ origin: String) {
        let error = #expect(throws: APNsConfigurationError.self) {
            _ = try APNsSender(APNsSender.Configuration(developmentOrigin: origin), logger: logger)
        }
        #expect(error?.code == .invalidOrigin)
        #expect(error?.message.contains("development push service") == true)
        #expect(error?.message.contains("https://push.example:443") == true)
    }

    @Test("Invalid PEM trust roots of the push service cause an error", arguments: ["", "no certificate"])
    func trustRoots(_ text: String) {
        let error = #expect(throws: APNsConfigurationError.self) {
            _ = try APNsSender(APNsSender.Configuration(additionalTrustRootsPEM: text), logger: logger)
        }
        #expect(error?.code == .invalidTrustRoots)
    }
}
