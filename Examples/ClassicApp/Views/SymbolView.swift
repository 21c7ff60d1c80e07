#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import QRCode
internal import SwiftUI

/// A QR code, dark on white in every appearance.
struct SymbolView: View {
    let text: String
    /// The VoiceOver text: the alternative to scanning.
    let label: String

    var body: some View {
        // If the text is too long for a QR code, the user types the text.
        if let symbol = try? QRSymbol(text) {
            VStack(spacing: 0) {
                ForEach(0..<symbol.size, id: \.self) { row in
                    HStack(spacing: 0) {
                        ForEach(0..<symbol.size, id: \.self) { column in
                            (symbol[column, row] ? Color.black : Color.white).frame(width: 5, height: 5)
                        }
                    }
                }
            }
            .padding(20)
            .background(Color.white)
            .spokenAsPicture(label)
        }
    }
}
#endif
