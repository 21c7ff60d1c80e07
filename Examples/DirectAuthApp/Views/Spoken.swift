#if canImport(SwiftUI) && canImport(UIKit)
internal import SwiftUI

extension View {
    /// What VoiceOver says of a view that has no text of its own, or one that nobody wants to hear.
    func spoken(_ label: String) -> some View {
        #if os(iOS)
        accessibilityLabel(Text(label))
        #else
        self
        #endif
    }
}
#endif
