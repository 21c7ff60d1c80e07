internal import Foundation

/// A language of the texts for users in the client modules.
package enum TextLanguage: String, Sendable, Hashable, CaseIterable {
    case english = "en"
    case german = "de"

    /// The language of a task, for tests. `nil` means the language of the process.
    @TaskLocal package static var ofTask: TextLanguage?

    /// The language for texts: that of the task, or that of the process.
    package static var current: TextLanguage { ofTask ?? ofProcess }

    /// On Apple's systems, the language in which the app itself appears: an app without a German localization shows no German errors.
    /// Elsewhere, it is the language of the environment, by the rules of POSIX and gettext. The default is English.
    private static var ofProcess: TextLanguage {
        #if canImport(Darwin)
        return best(of: Bundle.main.preferredLocalizations)
        #else
        return best(ofEnvironment: ProcessInfo.processInfo.environment)
        #endif
    }

    /// Returns the language of an environment. The first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set names it; if that is `C` or
    /// `POSIX`, the language is English, otherwise the list in `LANGUAGE` takes precedence.
    package static func best(ofEnvironment environment: [String: String]) -> TextLanguage {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let locale = value("LC_ALL") ?? value("LC_MESSAGES") ?? value("LANG") else { return .english }
        let isPlain = ["C", "POSIX"].contains(locale.prefix { $0 != "." })
        let list = isPlain ? nil : value("LANGUAGE")?.split(separator: ":").map(String.init)
        return best(of: list ?? [locale])
    }

    /// Returns the first language in a list that has texts.
    ///
    /// - Parameter tags: Language tags or locales, such as `de-AT` or `de_DE.UTF-8`.
    package static func best(of tags: [String]) -> TextLanguage {
        for tag in tags {
            let language = tag.prefix { $0.isLetter }.lowercased()
            if let known = TextLanguage(rawValue: language) { return known }
        }
        return .english
    }
}

/// A text for users in each language of the client modules. The texts are part of the code, because a program that is moved on Linux loses
/// its resource bundles.
package struct LocalizedText: Sendable, Hashable {
    package let english: String
    package let german: String

    package init(_ english: String, de german: String) {
        self.english = english
        self.german = german
    }

    /// The text in the current language.
    package var text: String { self[.current] }

    package subscript(language: TextLanguage) -> String {
        switch language {
        case .english: english
        case .german: german
        }
    }
}
