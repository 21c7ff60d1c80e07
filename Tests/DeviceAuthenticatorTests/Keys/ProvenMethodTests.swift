import Testing

@testable import DeviceAuthenticator

@Suite("Verification methods that a key proves (Documentation/Protocol/Devices.md §3.7)")
struct ProvenMethodTests {
    @Test(
        "A key proves a verification method only if the key's access control flags require that method",
        arguments: [
            ([.biometryAny], .face), ([.biometryCurrentSet, .privateKeyUsage], .face), ([.devicePasscode], .pin),
            ([.userPresence], .none), ([.biometryAny, .or, .devicePasscode], .none),
            ([.biometryCurrentSet, .or, .applicationPassword], .none),
            ([.biometryAny, .devicePasscode], .none), ([.biometryAny, .and, .devicePasscode], .pin),
            ([.biometryAny, .userPresence], .none),
            ([.devicePasscode, .userPresence], .none), ([.applicationPassword], .none), ([], .none),
        ] as [(SecAccessControlCreateFlags, UserVerification.Method)])
    func proven(flags: SecAccessControlCreateFlags, method: UserVerification.Method) {
        #expect(flags.provenMethod(biometry: .face) == method)
    }

    @Test("On a device without biometrics, a key proves no biometric verification method")
    func noBiometrics() {
        #expect(SecAccessControlCreateFlags.biometryAny.provenMethod(biometry: .none) == .none)
        #expect(SecAccessControlCreateFlags.devicePasscode.provenMethod(biometry: .none) == .pin)
    }
}
