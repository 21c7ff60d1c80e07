internal import Foundation
public import QRCode

/// A picture of modules, as a reader sees it.
public struct Picture: Sendable {
    /// Rows of pixels, dark or light.
    public var rows: [[Bool]]

    /// Takes a picture as it is.
    ///
    /// - Parameter rows: Rows of pixels, dark or light.
    public init(rows: [[Bool]]) { self.rows = rows }

    /// The symbol with its quiet zone.
    ///
    /// - Parameter symbol: The symbol.
    public init(_ symbol: QRSymbol) {
        rows = (-4..<symbol.size + 4).map { row in (-4..<symbol.size + 4).map { symbol[$0, row] } }
    }

    /// As a portable bitmap, each module three pixels wide.
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

    /// What zbar reads in pictures.
    ///
    /// - Parameter pictures: The pictures. Their texts must hold no line ends.
    /// - Returns: A text for each QR code that it finds.
    /// - Throws: If it can't be run.
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
