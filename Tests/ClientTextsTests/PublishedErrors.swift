import Foundation

/// The errors in the lists of the public API.
enum PublishedErrors {
    /// The client modules. OktaAuthNative is another name of OktaAuthSdk.
    static let modules = [
        "JOSE", "JSON", "AuthFoundation", "OAuth2Auth", "BrowserSignin", "OktaDirectAuth", "DeviceAuthenticator", "OktaAuthSdk",
    ]

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "API")

    /// Returns the names of all cases of a module's error enums, of its other errors, and of the codes and reasons of errors.
    static func names(of module: String) throws -> [String] {
        let text = try String(contentsOf: folder.appending(path: "\(module).txt"), encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.components(separatedBy: " | ") }.filter { $0.count == 2 }
        let errors = lines.filter { $0[1] == ": Error" }.map { $0[0] }
        return errors.flatMap { error in
            let cases = members(of: error, in: lines) { $0.hasPrefix("case ") }
            let codes = ["\(error).Code", "\(error).Reason"].flatMap { code in
                members(of: code, in: lines) { $0.hasPrefix("case ") || $0.hasPrefix("static let ") }
            }
            return cases.isEmpty && codes.isEmpty ? [error] : cases + codes
        }
    }

    /// Returns the names of a type's own members with such a declaration, without parameters.
    private static func members(of type: String, in lines: [[String]], _ isWanted: (String) -> Bool) -> [String] {
        lines.filter { $0[0].hasPrefix(type + ".") && isWanted($0[1]) }
            .map { String($0[0].prefix { $0 != "(" }) }
            .filter { !$0.dropFirst(type.count + 1).contains(".") }
    }
}
