import Foundation
import LocalAuthentication
import Security

// No fault: the check must accept this file.
@MainActor
final class Sound: NSObject {
    let context = LAContext()

    func find(_ query: [String: Any]) -> Data? {
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess else { return nil }
        return found as? Data
    }
}
