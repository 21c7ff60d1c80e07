import Delivery
import Logging
import Testing

@Suite("Configuration of the push service")
struct APNsConfigurationTests {
    let logger = RecordedLogs().logger

    @Test("The default push service is Apple's of each environment")
    func defaults() {
        let configuration = APNsSender.Configuration()
        #expect(configuration.productionOrigin == "https://api.push.apple.com")
        #expect(configuration.developmentOrigin == "https://api.sandbox.push.apple.com")
        #expect(configuration.additionalTrustRootsPEM == nil)
    }

    @Test(
        "An invalid origin causes an error with the fix",
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

    @Test("Invalid trust roots are an error", arguments: ["", "no certificate"])
    func trustRoots(_ text: String) {
        let error = #expect(throws: APNsConfigurationError.self) {
            _ = try APNsSender(APNsSender.Configuration(additionalTrustRootsPEM: text), logger: logger)
        }
        #expect(error?.code == .invalidTrustRoots)
    }
}
