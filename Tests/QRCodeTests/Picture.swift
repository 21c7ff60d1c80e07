import Foundation
import QRCode
import TestSupport

/// A picture of modules, as a reader sees it.
struct Picture {
    /// Rows of pixels, dark or light.
    var rows: [[Bool]]

    init(rows: [[Bool]]) { self.rows = rows }

    /// The symbol with its quiet zone.
    init(_ symbol: QRSymbol) {
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

    /// What zbar reads in pictures: a text for each QR code that it finds. The texts must hold no line ends.
    static func read(_ pictures: [Picture]) async throws -> [String] {
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
