internal import Foundation
public import QRCode

/// A picture of QR code modules, as a QR code reader sees it.
public struct Picture: Sendable {
    /// The rows of pixels; true is dark.
    public var rows: [[Bool]]

    /// Creates a picture from rows of pixels; true is dark.
    public init(rows: [[Bool]]) { self.rows = rows }

    /// Creates the picture of a symbol with its quiet zone.
    public init(_ symbol: QRSymbol) {
        rows = (-4..<symbol.size + 4).map { row in (-4..<symbol.size + 4).map { symbol[$0, row] } }
    }

    /// The picture as a portable bitmap, with modules three pixels wide.
    private var bitmap: Data {
        let scale = 3
        let width = (rows.first?.count ?? 0) * scale
        var text = "P1\n\(width) \(rows.count * scale)\n"
        for row in rows {
            let line = row.map { String(repeating: $0 ? "1" : "0", count: scale) }.joined() + "\n"
            text += String(repeating: line, count: scale)
        }
        return Data(text.utf8)
    }

    /// Reads pictures with zbar and returns the text of each QR code that it finds.
    ///
    /// - Parameter pictures: Pictures whose texts contain no line ends.
    public static func read(_ pictures: [Picture]) async throws -> [String] {
        let name = "countersign-pictures-\(ProcessInfo.processInfo.globallyUniqueString)"
        let folder = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = pictures.indices.map { folder.appending(path: "\($0).pbm") }
        for (picture, file) in zip(pictures, files) { try picture.bitmap.write(to: file) }
        let result = try await ForeignProgram.run(
            .zbar, ["--quiet", "--raw", "--nodbus", "-Sdisable", "-Sqrcode.enable"] + files.map(\.path), input: "")
        return result.output.split(separator: "\n").map(String.init)
    }
}
