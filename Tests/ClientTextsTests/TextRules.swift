import AuthFoundation
import Foundation

/// The rules for the texts that users read.
enum TextRules {
    /// Words of protocols, formats and programs, in English and German.
    private static let jargon = [
        "access control", "algorithm", "api", "assertion", "attribute", "audience", "authentication", "authenticator", "authorization",
        "base64", "bearer", "callback", "challenge", "claim", "client", "configuration", "credential", "decode", "developer mode", "dpop",
        "endpoint", "enrollment", "entitlement", "exception", "factor", "grant", "handler", "header", "http", "https", "issuer", "json",
        "jwt", "key", "keychain", "localhost", "loopback", "nil", "nonce", "null", "oauth", "okta", "openid", "otp", "parameter", "parse",
        "payload", "pkce", "plist", "proof", "query", "redirect", "refresh", "response", "scope", "sdk", "server", "session", "signature",
        "state", "status", "string", "swift", "token", "transaction", "type", "unknown", "uri", "url", "value", "vault",
        "Algorithmus", "Antwortcode", "Authentifizierung", "Autorisierung", "Endpunkt", "Faktor", "Fehlercode", "Herausgeber",
        "Konfiguration",
        "Parameter", "Registrierung", "Schlüssel", "Schlüsselbund", "Signatur", "Sitzung", "Transaktion", "Umleitung", "Weiterleitung",
        "Zertifikat", "Zugriffstoken",
    ]

    private static let codes = [
        #"E\d{7}"#, #"[A-Z]{2,}_"#, #"\b[a-z]+_[a-z_]+\b"#, #"\b\d{3,}\b"#, #"[a-z][A-Z]"#, #"\b(?!SMS\b)[A-Z]{2,}\b"#,
        #"[{}\[\]<>“”"`\\|]"#,
        #"\.\.|  |\s$|^\s"#,
    ]

    /// Returns the violations of a text in both languages, such as "en: “token”".
    static func problems(in text: ErrorText) -> [String] {
        let sentences = [text.description, text.suggestion].compactMap { $0 }
        var problems = TextLanguage.allCases.flatMap { language in
            sentences.flatMap { Self.problems(in: $0[language]) }.map { "\(language.rawValue): \($0)" }
        }
        for sentence in sentences {
            if sentence.english == sentence.german { problems.append("both languages: \(sentence.english)") }
            if matches(sentence.german, #"\b(du|dein\w*|dich|dir)\b"#) { problems.append("de: informal: \(sentence.german)") }
        }
        return problems
    }

    /// Returns the violations of a text in one language.
    static func problems(in text: String) -> [String] {
        var problems: [String] = []
        if text.isEmpty { problems.append("empty") }
        if text.first?.isUppercase != true { problems.append("no capital first: \(text)") }
        if !text.hasSuffix(".") { problems.append("no end mark: \(text)") }
        if matches(text, #"\b(\#(jargon.joined(separator: "|")))(s|e|en|n|ed)?\b"#) { problems.append("a term of protocols: \(text)") }
        for pattern in codes where matches(text, pattern, caseSensitive: true) { problems.append("/\(pattern)/: \(text)") }
        return problems
    }

    private static func matches(_ text: String, _ pattern: String, caseSensitive: Bool = false) -> Bool {
        text.range(of: pattern, options: caseSensitive ? .regularExpression : [.regularExpression, .caseInsensitive]) != nil
    }
}
