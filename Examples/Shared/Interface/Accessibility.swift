#if canImport(SwiftUI)
package import SwiftUI

// VoiceOver texts. Each view sets its own, in the place where it is created.
extension View {
    /// Sets the VoiceOver text of a view without a suitable text of its own.
    ///
    /// - Parameter label: The text.
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
    /// - Parameter label: The text.
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

    /// A decorative picture that VoiceOver skips.
    ///
    /// - Returns: The view.
    package func silent() -> some View {
        #if os(iOS)
        accessibilityHidden(true)
        #else
        self
        #endif
    }

    /// Marks an element as selected.
    ///
    /// - Parameter isOn: Whether it is selected.
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
