import Testing

@testable import DeviceAuthenticator

@Suite("What a key's flags prove of how the person was verified (Documentation/Protocol/Devices.md §3.7)")
struct ProvenMethodTests {
    @Test(
        "a method is claimed only if the key can't be used without it",
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

    @Test("without biometrics on the device none are claimed")
    func noBiometrics() {
        #expect(SecAccessControlCreateFlags.biometryAny.provenMethod(biometry: .none) == .none)
        #expect(SecAccessControlCreateFlags.devicePasscode.provenMethod(biometry: .none) == .pin)
    }
}
