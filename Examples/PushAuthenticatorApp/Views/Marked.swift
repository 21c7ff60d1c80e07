#if canImport(SwiftUI) && canImport(UIKit)
internal import Interface
internal import SwiftUI

/// A text with a symbol that says nothing more, so that VoiceOver passes it over.
struct Marked: View {
    let text: String
    let symbol: String

    var body: some View {
        Label {
            Text(verbatim: text)
        } icon: {
            Image(systemName: symbol).silent()
        }
    }
}

/// A setting. A button rather than a switch: what it does may be refused, or only begin, and then nothing has moved.
struct SettingButton: View {
    let title: String
    let isOn: Bool
    let change: @MainActor () -> Void

    var body: some View {
        Button(action: change) {
            Marked(text: title, symbol: isOn ? "checkmark.circle.fill" : "circle")
        }
        .chosen(isOn)
    }
}
#endif
