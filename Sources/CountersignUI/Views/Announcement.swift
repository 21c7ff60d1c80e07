#if canImport(SwiftUI) && canImport(Darwin)
internal import Accessibility

/// Lets VoiceOver speak a change of the screen.
func announce(_ texts: String?...) {
    let text = texts.compactMap(\.self).joined(separator: " ")
    if !text.isEmpty { AccessibilityNotification.Announcement(text).post() }
}
#endif
