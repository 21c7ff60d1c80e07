import IdentityCore
import NIOConcurrencyHelpers

/// A token service with fixed results: codes of the token `known` that begin with `123` are right once, `000000` needs a second code, and
/// `999999` throws an error.
final class ScriptedTokens: TokenService {
    struct Silent: Error {}

    private let asked: NIOLockedValueBox<[String]> = NIOLockedValueBox([])

    /// The recorded requests: provider, token, login and codes.
    var questions: [String] { asked.withLockedValue { $0 } }

    func judge(_ code: TokenCode) async throws -> TokenVerdict {
        let question = [code.provider.rawValue, code.credentialID, code.login, code.passCode, code.nextPassCode].compactMap(\.self)
            .joined(separator: " ")
        let isReplayed = asked.withLockedValue { asked in
            defer { asked.append(question) }
            return asked.contains(question)
        }
        switch code.passCode {
        case "000000": return .needsMore
        case "999999": throw Silent()
        case let text where text.hasPrefix("123"): return code.credentialID == "known" && !isReplayed ? .right : .wrong
        default: return .wrong
        }
    }
}
