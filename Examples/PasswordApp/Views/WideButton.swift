#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import SwiftUI

/// A button as wide as the screen.
struct WideButton: View {
    let title: String
    var systemImage: String?
    let colour: Color
    let action: @MainActor () -> Void

    var body: some View {
        Button {
            action()
        } label: {
            Group {
                if let systemImage { Label(title, systemImage: systemImage) } else { Text(title).fontWeight(.semibold) }
            }
            .frame(maxWidth: .infinity)
            .padding()
            .background(colour)
            .foregroundStyle(.white)
            .cornerRadius(10)
        }
    }
}
#endif
