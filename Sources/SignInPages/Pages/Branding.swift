internal import Foundation
internal import JOSE

/// The look of an organization's pages: name, logo and colours. The values were validated when they were read: the colours have enough
/// contrast.
package struct Branding: Sendable, Equatable {
    /// An image of at most ``Logo/mostBytes`` bytes.
    package struct Logo: Sendable, Equatable {
        /// The image's format, by its media type.
        package enum Kind: String, Sendable {
            /// Vector graphics. Scripts in them do not run.
            case svg = "image/svg+xml"
            case png = "image/png"
        }

        /// The maximum size in bytes: 100 KiB.
        package static let mostBytes = 102_400

        package var kind: Kind
        package var bytes: [UInt8]

        package init(kind: Kind, bytes: [UInt8]) {
            self.kind = kind
            self.bytes = bytes
        }

        /// Detects the format of a file; `nil` if it is neither PNG nor SVG.
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

    /// The name in the page header; `nil` for the organization's name.
    package var name: String?
    /// The logo in the page header; `nil` for the server's own.
    package var logo: Logo?
    /// The colour of buttons and links on light pages; `nil` for the server's own.
    package var accent: BrandColor?
    /// The colour of buttons and links on dark pages; `nil` for the server's own.
    package var accentDark: BrandColor?

    package init(name: String? = nil, logo: Logo? = nil, accent: BrandColor? = nil, accentDark: BrandColor? = nil) {
        (self.name, self.logo, self.accent, self.accentDark) = (name, logo, accent, accentDark)
    }

    /// The CSS rules that are appended to the server's own stylesheet.
    var stylesheet: String {
        func rule(_ color: BrandColor) -> String { ":root { --brand: \(color.hex); --brand-ink: \(color.ink.hex); }\n" }
        return (accent.map { "@media (prefers-color-scheme: light) { \(rule($0)) }\n" } ?? "")
            + (accentDark.map { "@media (prefers-color-scheme: dark) { \(rule($0)) }\n" } ?? "")
    }
}

/// An sRGB colour. Its contrast to other colours is computed according to WCAG 2.2, success criterion 1.4.3.
package struct BrandColor: Sendable, Equatable {
    /// The minimum contrast between text and background.
    package static let leastContrast = 4.5
    static let white = BrandColor(red: 255, green: 255, blue: 255)
    /// The background of links and outlined buttons on light pages.
    package static let lightCard = white
    /// The background of links and outlined buttons on dark pages.
    package static let darkCard = BrandColor(red: 0x1B, green: 0x25, blue: 0x22)
    private static let dark = BrandColor(red: 0x06, green: 0x10, blue: 0x0F)

    private let red: UInt8
    private let green: UInt8
    private let blue: UInt8

    private init(red: UInt8, green: UInt8, blue: UInt8) { (self.red, self.green, self.blue) = (red, green, blue) }

    /// Reads `#rrggbb`; `nil` for other text.
    package init?(_ text: String) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "#"), digits.count == 6, text.dropFirst().allSatisfy(\.isHexDigit),
            let value = UInt32(text.dropFirst(), radix: 16)
        else { return nil }
        self.init(red: UInt8(value >> 16), green: UInt8(value >> 8 & 0xFF), blue: UInt8(value & 0xFF))
    }

    package var hex: String {
        "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The text colour on this colour: white or nearly black, whichever has more contrast.
    package var ink: BrandColor { contrast(with: .white) >= contrast(with: .dark) ? .white : .dark }

    /// Returns the contrast ratio of two colours, from 1 to 21.
    package func contrast(with other: BrandColor) -> Double {
        let (a, b) = (luminance, other.luminance)
        return (max(a, b) + 0.05) / (min(a, b) + 0.05)
    }

    /// Returns this colour, darkened or lightened only as much as its contrast to the background requires.
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
