// expects: cannot find 'SecItemCopyMatch' in scope
import Foundation
import Security

func find(_ query: [String: Any]) -> OSStatus {
    var found: CFTypeRef?
    return SecItemCopyMatch(query as CFDictionary, &found)
}
