import IdentityCore
import NIOConcurrencyHelpers

/// A service that knows tokens: the code `123456` of `known` is right once, `000000` wants more, `999999` has no answer.
final class ScriptedTokens: TokenService {
    struct Silent: Error {}

    private let asked: NIOLockedValueBox<[String]> = NIOLockedValueBox([])

    /// Who was asked for what: provider, token, login, codes.
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
