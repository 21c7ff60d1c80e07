import Testing

@testable import DeviceAuthenticator

@Suite("Console log of DeviceAuthenticator")
struct ConsoleLoggerTests {
    @Test(
        "The console shows a server's message on one line without terminal control characters",
        arguments: [
            ("The server says: no", "The server says: no"), ("a\u{1B}[2Jb", "a\u{FFFD}[2Jb"),
            ("a\r\nDeviceAuthenticator: b", "a\u{FFFD} DeviceAuthenticator: b"),
            ("a\u{9B}31mb\u{7}", "a\u{FFFD}31mb\u{FFFD}"), ("a\u{202E}b\u{2066}c", "a\u{FFFD}b\u{FFFD}c"), ("Zoë 登录", "Zoë 登录"),
        ])
    func line(message: String, shown: String) {
        #expect(ConsoleLogger.line("warning", "challenge", message) == "DeviceAuthenticator warning: challenge: \(shown)\n")
        #expect(ConsoleLogger.line("error", message, nil) == "DeviceAuthenticator error: \(shown)\n")
    }
}
