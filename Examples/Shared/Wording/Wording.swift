public import Foundation

/// The texts of an app in the language of the person who uses it, for all of its faces.
///
/// The key is the English text. On Apple's systems the system chooses the language; elsewhere it is that of the environment (`LC_ALL`,
/// `LC_MESSAGES`, `LANG`), as far as the app speaks it, and otherwise English.
///
/// ```swift
/// let wording = Wording(bundle: .module)
/// wording("Sign In")                                // "Anmelden"
/// wording("Token refresh failed: %@", message)
/// ```
///
/// `Sendable`; safe from any thread or task.
public struct Wording: Sendable {
    /// The language that the texts are in, such as `de`; nil where the system chooses it.
    public let language: String?
    private let texts: [String: String]?
    private let bundle: Bundle

    /// Finds the texts.
    ///
    /// - Parameters:
    ///   - bundle: Where the app's `Localizable.strings` are.
    ///   - language: The language, such as `de`; nil for that of the person.
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

    /// A text.
    ///
    /// - Parameters:
    ///   - key: The English text; `%@` stands for a value, `%2$@` for the second.
    ///   - values: The values.
    /// - Returns: The text in the user's language, or the key without a translation.
    public func callAsFunction(_ key: String, _ values: String...) -> String {
        let text: String
        if let texts {
            text = texts[key] ?? key
        } else {
            text = bundle.localizedString(forKey: key, value: key, table: nil)
        }
        return Self.text(text, with: values)
    }

    /// A date, as people write it in the language of the texts.
    ///
    /// - Parameters:
    ///   - date: The date.
    ///   - day: How long the day is written.
    ///   - time: How long the time of the day is written.
    ///   - timeZone: Where it is read.
    /// - Returns: Such as `14.11.2023, 22:13`.
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

    /// The keys that are translated to a language.
    ///
    /// - Parameters:
    ///   - bundle: Where the app's `Localizable.strings` are.
    ///   - language: The language.
    /// - Returns: The texts by their keys; none if the language is not spoken.
    public static func texts(in bundle: Bundle, language: String) -> [String: String] {
        guard let file = bundle.url(forResource: "Localizable", withExtension: "strings", subdirectory: nil, localization: language),
            let data = try? Data(contentsOf: file),
            let texts = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: String]
        else { return [:] }
        return texts
    }

    /// The language that an environment asks for.
    ///
    /// - Parameter environment: Its variables.
    /// - Returns: Such as `de` for `de_CH.UTF-8`; `en` if it asks for none.
    public static func language(of environment: [String: String]) -> String {
        let asked = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let code = asked.prefix { $0.isLetter }.lowercased()
        return code.isEmpty || code == "c" || code == "posix" ? "en" : code
    }

    /// Puts values in their places. They are taken as they are: a `%@` in one of them stands for nothing.
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
