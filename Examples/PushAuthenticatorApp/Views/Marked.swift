#if canImport(SwiftUI) && canImport(UIKit) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI

/// A text with a decorative symbol that VoiceOver skips.
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

/// A setting. It is a button rather than a switch, because the change may fail or need a sign-in first.
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
