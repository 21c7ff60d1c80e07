internal import Foundation
internal import JOSE

/// How the hosted pages look for an organization, beyond the server's own looks: a name, a logo, a colour. A value.
///
/// What stands here was checked when it was read; colours that could not be read on the pages do not get here.
package struct Branding: Sendable, Equatable {
    /// A picture of at most ``Logo/mostBytes``.
    package struct Logo: Sendable, Equatable {
        /// What it is, by its media type.
        package enum Kind: String, Sendable {
            /// Scalable; it runs no script, whatever it holds.
            case svg = "image/svg+xml"
            /// Pixels.
            case png = "image/png"
        }

        /// 100 KiB.
        package static let mostBytes = 102_400

        /// What it is.
        package var kind: Kind
        /// The file.
        package var bytes: [UInt8]

        /// Describes a picture that is known to be of that kind.
        package init(kind: Kind, bytes: [UInt8]) {
            self.kind = kind
            self.bytes = bytes
        }

        /// Takes a file's bytes; nil if they are neither PNG nor SVG.
        package init?(bytes: [UInt8]) {
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                self.init(kind: .png, bytes: bytes)
            } else if let text = String(validating: bytes, as: UTF8.self), text.prefix(2_000).contains("<svg"),
                text.drop(while: { $0.isWhitespace || $0 == "\u{FEFF}" }).first == "<"
            {
                self.init(kind: .svg, bytes: bytes)
            } else {
                return nil
            }
        }
    }

    /// What stands at the head of each page; nil for the organization's name.
    package var name: String?
    /// What stands beside it; nil for the server's own mark.
    package var logo: Logo?
    /// The colour of buttons and links on light pages; nil for the server's own.
    package var accent: BrandColor?
    /// The same on dark pages.
    package var accentDark: BrandColor?

    /// Describes looks; the defaults are the server's own.
    package init(name: String? = nil, logo: Logo? = nil, accent: BrandColor? = nil, accentDark: BrandColor? = nil) {
        self.name = name
        self.logo = logo
        self.accent = accent
        self.accentDark = accentDark
    }

    /// What follows the server's own stylesheet.
    var stylesheet: String {
        func rule(_ color: BrandColor) -> String { ":root { --brand: \(color.hex); --brand-ink: \(color.ink.hex); }\n" }
        return (accent.map { "@media (prefers-color-scheme: light) { \(rule($0)) }\n" } ?? "")
            + (accentDark.map { "@media (prefers-color-scheme: dark) { \(rule($0)) }\n" } ?? "")
    }
}

/// A colour of sRGB, and how well it is read (WCAG 2.2, success criterion 1.4.3). A value.
package struct BrandColor: Sendable, Equatable {
    /// The least contrast of text to what is behind it.
    package static let leastContrast = 4.5
    static let white = BrandColor(red: 255, green: 255, blue: 255)
    /// What is behind links and outlined buttons, as the stylesheet has it.
    package static let lightCard = white
    package static let darkCard = BrandColor(red: 0x1B, green: 0x25, blue: 0x22)
    private static let dark = BrandColor(red: 0x06, green: 0x10, blue: 0x0F)

    private let red: UInt8
    private let green: UInt8
    private let blue: UInt8

    private init(red: UInt8, green: UInt8, blue: UInt8) { (self.red, self.green, self.blue) = (red, green, blue) }

    /// Reads `#rrggbb`; nil for all else.
    package init?(_ text: String) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "#"), digits.count == 6, text.dropFirst().allSatisfy(\.isHexDigit),
            let value = UInt32(text.dropFirst(), radix: 16)
        else { return nil }
        self.init(red: UInt8(value >> 16), green: UInt8(value >> 8 & 0xFF), blue: UInt8(value & 0xFF))
    }

    /// It as `#rrggbb`.
    package var hex: String {
        "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// White or nearly black, whichever is read better on it.
    package var ink: BrandColor { contrast(with: .white) >= contrast(with: .dark) ? .white : .dark }

    /// The contrast of two colours: 1 to 21.
    package func contrast(with other: BrandColor) -> Double {
        let (a, b) = (luminance, other.luminance)
        return (max(a, b) + 0.05) / (min(a, b) + 0.05)
    }

    /// The nearest colour towards black or white that is read well on another.
    ///
    /// - Parameter background: What is behind it.
    /// - Returns: It itself if that is enough.
    package func readable(on background: BrandColor) -> BrandColor {
        let end: Double = background.luminance > 0.5 ? 0 : 255
        for step in 0..<100 {
            func moved(_ part: UInt8) -> UInt8 { UInt8(clamping: Double(part) + (end - Double(part)) * Double(step) / 100) }
            let color = BrandColor(red: moved(red), green: moved(green), blue: moved(blue))
            if color.contrast(with: background) >= Self.leastContrast { return color }
        }
        return end == 0 ? .dark : .white
    }

    private var luminance: Double {
        func linear(_ part: UInt8) -> Double {
            let value = Double(part) / 255
            return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }
}
