#if canImport(SwiftUI)
package import SwiftUI

// VoiceOver texts. Each view sets its own text where the view is created.
extension View {
    /// Sets the VoiceOver text of a view without a suitable text of its own.
    ///
    /// - Parameter label: The VoiceOver text.
    package func spoken(_ label: String) -> some View {
        #if os(iOS) || os(macOS)
        accessibilityLabel(Text(verbatim: label))
        #else
        self
        #endif
    }

    /// Sets the VoiceOver text of a picture that consists of many views.
    ///
    /// - Parameter label: The VoiceOver text.
    package func spokenAsPicture(_ label: String) -> some View {
        #if os(iOS) || os(macOS)
        accessibilityElement(children: .ignore)
            .accessibilityLabel(Text(verbatim: label))
            .accessibilityAddTraits(.isImage)
        #else
        self
        #endif
    }

    /// Hides a decorative picture from VoiceOver.
    package func silent() -> some View {
        #if os(iOS) || os(macOS)
        accessibilityHidden(true)
        #else
        self
        #endif
    }

    /// Marks an element as selected.
    ///
    /// - Parameter isOn: Whether the element is selected.
    package func chosen(_ isOn: Bool) -> some View {
        #if os(iOS) || os(macOS)
        accessibilityAddTraits(isOn ? .isSelected : [])
        #else
        self
        #endif
    }
}
#endif
