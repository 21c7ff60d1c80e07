#if canImport(SwiftUI) && canImport(UIKit)
internal import SwiftUI

extension View {
    /// A picture that says nothing which is not said beside it: VoiceOver passes it over.
    func silent() -> some View {
        #if os(iOS)
        accessibilityHidden(true)
        #else
        self
        #endif
    }
}
#endif
