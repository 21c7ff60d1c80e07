internal import Foundation
internal import SignInPages
internal import Yams

/// Reads the section `branding`.
extension Branding {
    init(_ section: OrgFileSection) {
        self.init(name: section.string("name"), logo: nil)
        logo = section.logo("logo")
        accent = section.color("accent", on: .lightCard, named: "light")
        accentDark = section.color("accent_dark", on: .darkCard, named: "dark")
        if accent != nil, section.value("accent_dark") == nil {
            // A single color is readable in one scheme only. The other scheme gets the nearest readable color.
            accentDark = accent?.readable(on: .darkCard)
        }
        section.reportUnknownKeys()
    }
}

extension OrgFileSection {
    fileprivate func color(_ name: String, on background: BrandColor, named scheme: String) -> BrandColor? {
        guard let node = value(name), let text = string(name) else { return nil }
        guard let color = BrandColor(text) else {
            source.add(
                "“\(text)” is no colour. Write red, green and blue in hexadecimal, in quotes: \"#0f5c5a\".", at: node, key: spelled(name))
            return nil
        }
        let contrast = color.contrast(with: background)
        guard contrast >= BrandColor.leastContrast else {
            let rounded = (contrast * 100).rounded(.down) / 100
            source.add(
                "\(color.hex) is hard to read on \(scheme) pages: its contrast is \(rounded):1, and \(BrandColor.leastContrast):1 is needed. "
                    + "Use \(color.readable(on: background).hex), for example.",
                at: node, key: spelled(name))
            return nil
        }
        return color
    }

    /// Reads an image file. Relative paths start at the org file's folder.
    fileprivate func logo(_ name: String) -> Branding.Logo? {
        guard let node = value(name), let file = string(name) else { return nil }
        let folder = source.folder.map { URL(filePath: $0, directoryHint: .isDirectory) }
        let bytes: [UInt8]
        do {
            // Reads one byte more than the limit, to detect larger files.
            let handle = try FileHandle(forReadingFrom: URL(filePath: file, relativeTo: folder))
            defer { try? handle.close() }
            bytes = Array(try handle.read(upToCount: Branding.Logo.mostBytes + 1) ?? Data())
        } catch {
            source.add("The file “\(file)” can not be read. Name a PNG or SVG file beside this one.", at: node, key: spelled(name))
            return nil
        }
        guard bytes.count <= Branding.Logo.mostBytes else {
            source.add(
                "The file “\(file)” has more than \(Branding.Logo.mostBytes / 1024) KiB. Make the picture smaller: it is shown 32 pixels high.",
                at: node, key: spelled(name))
            return nil
        }
        guard let logo = Branding.Logo(bytes: bytes) else {
            source.add("The file “\(file)” is neither PNG nor SVG. Save the picture as one of them.", at: node, key: spelled(name))
            return nil
        }
        return logo
    }
}
