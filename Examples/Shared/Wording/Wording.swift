public import Foundation

/// The texts of an app in the user's language, for all of its user interfaces.
///
/// The key of a text is the English text. On Apple platforms, the system selects the language; elsewhere, the environment does (`LC_ALL`,
/// `LC_MESSAGES`, `LANG`). Without a translation, the text is English.
///
/// ```swift
/// let wording = Wording(bundle: .module)
/// wording("Sign In")                                // "Anmelden"
/// wording("Token refresh failed: %@", message)
/// ```
///
/// `Sendable`; thread-safe.
public struct Wording: Sendable {
    /// The language of the texts, for example `de`; `nil` if the system selects the language.
    public let language: String?
    private let texts: [String: String]?
    private let bundle: Bundle

    /// Creates the texts of an app in one language.
    ///
    /// - Parameters:
    ///   - bundle: The bundle with the app's `Localizable.strings`.
    ///   - language: The language, for example `de`; `nil` for the user's language.
    public init(bundle: Bundle, language: String? = nil) {
        self.bundle = bundle
        #if canImport(Darwin)
        let wanted: String? = language
        #else
        let wanted: String? = language ?? Self.language(of: ProcessInfo.processInfo.environment)
        #endif
        self.language = wanted
        texts = wanted.map { Self.texts(in: bundle, language: $0) }
    }

    /// Returns a text.
    ///
    /// - Parameter key: The English text; `%@` stands for the next value, `%2$@` for the second value.
    /// - Returns: The text in the user's language; the key if there is no translation.
    public func callAsFunction(_ key: String, _ values: String...) -> String {
        let text: String
        if let texts {
            text = texts[key] ?? key
        } else {
            text = bundle.localizedString(forKey: key, value: key, table: nil)
        }
        return Self.text(text, with: values)
    }

    /// Returns a date in the format of the language.
    ///
    /// - Parameters:
    ///   - day: The style of the day.
    ///   - time: The style of the time of day.
    /// - Returns: The formatted date, for example `14.11.2023, 22:13`.
    public func date(
        _ date: Date, day: DateFormatter.Style = .medium, time: DateFormatter.Style = .short, timeZone: TimeZone = .current
    ) -> String {
        let format = DateFormatter()
        format.dateStyle = day
        format.timeStyle = time
        format.timeZone = timeZone
        if let language { format.locale = Locale(identifier: language) }
        return format.string(from: date)
    }

    /// Returns the translated texts of a language by key.
    ///
    /// - Parameter bundle: The bundle with the app's `Localizable.strings`.
    /// - Returns: The texts by key; empty if the app lacks the language.
    public static func texts(in bundle: Bundle, language: String) -> [String: String] {
        guard let file = bundle.url(forResource: "Localizable", withExtension: "strings", subdirectory: nil, localization: language),
            let data = try? Data(contentsOf: file),
            let texts = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: String]
        else { return [:] }
        return texts
    }

    /// Returns the language that an environment selects.
    ///
    /// - Parameter environment: The environment variables.
    /// - Returns: The language code, for example `de` for `de_CH.UTF-8`; `en` by default.
    public static func language(of environment: [String: String]) -> String {
        let asked = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let code = asked.prefix { $0.isLetter }.lowercased()
        return code.isEmpty || code == "c" || code == "posix" ? "en" : code
    }

    /// Inserts values into a text. A `%@` inside a value is not replaced.
    private static func text(_ text: String, with values: [String]) -> String {
        var result = ""
        var rest = text[...]
        var next = 0
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            if rest.hasPrefix("@") {
                result += next < values.count ? values[next] : ""
                next += 1
                rest = rest.dropFirst()
            } else if let place = rest.first?.wholeNumberValue, rest.dropFirst().hasPrefix("$@") {
                result += values.indices.contains(place - 1) ? values[place - 1] : ""
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("%") {
                result += "%"
                rest = rest.dropFirst()
            } else {
                result += "%"
            }
        }
        return result + rest
    }
}
