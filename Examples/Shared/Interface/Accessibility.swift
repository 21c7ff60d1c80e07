#if canImport(SwiftUI)
package import SwiftUI

// What VoiceOver says. Each is a view's own business, so that it stands where the view is made.
extension View {
    /// Sets the VoiceOver text of a view without a suitable text of its own.
    ///
    /// - Parameter label: What it says instead.
    /// - Returns: The view.
    package func spoken(_ label: String) -> some View {
        #if os(iOS)
        accessibilityLabel(Text(verbatim: label))
        #else
        self
        #endif
    }

    /// Sets the VoiceOver text of a picture that consists of many views.
    ///
    /// - Parameter label: What it says.
    /// - Returns: The view.
    package func spokenAsPicture(_ label: String) -> some View {
        #if os(iOS)
        accessibilityElement(children: .ignore)
            .accessibilityLabel(Text(verbatim: label))
            .accessibilityAddTraits(.isImage)
        #else
        self
        #endif
    }

    /// A picture that says nothing which is not said beside it: VoiceOver passes it over.
    ///
    /// - Returns: The view.
    package func silent() -> some View {
        #if os(iOS)
        accessibilityHidden(true)
        #else
        self
        #endif
    }

    /// Whether it is the one that is chosen, or what it stands for is on.
    ///
    /// - Parameter isOn: Whether it is.
    /// - Returns: The view.
    package func chosen(_ isOn: Bool) -> some View {
        #if os(iOS)
        accessibilityAddTraits(isOn ? .isSelected : [])
        #else
        self
        #endif
    }
}
#endif
