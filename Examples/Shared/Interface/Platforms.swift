#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
package import SwiftUI

// Modifiers that macOS lacks, each with a replacement there.

#if os(macOS)
/// The meaning of a text field's content, for password managers.
package typealias FieldContent = NSTextContentType
#else
/// The meaning of a text field's content, for password managers.
package typealias FieldContent = UITextContentType
#endif

/// A keyboard for the text of a field. A Mac has one keyboard only.
package enum FieldKeyboard {
    case usual, email, digits, phone
}

extension View {
    /// Sets the keyboard of a text field, and turns off corrections and capital letters.
    package func typed(on keyboard: FieldKeyboard) -> some View {
        #if os(macOS)
        autocorrectionDisabled()
        #else
        keyboardType(keyboard.type)
            .textInputAutocapitalization(.never)
            .autocorrectionDisabled()
        #endif
    }

    /// Shows the title of a screen in the bar. On a Mac, the title is in the window's bar anyway.
    package func inlineTitle() -> some View {
        #if os(macOS)
        self
        #else
        navigationBarTitleDisplayMode(.inline)
        #endif
    }

    /// Gives the content of a sheet a minimum size on a Mac, where a sheet would shrink around a list.
    package func sized() -> some View {
        #if os(macOS)
        frame(minWidth: 440, minHeight: 400)
        #else
        self
        #endif
    }

    /// Covers the screen with a view while a condition holds. On a Mac, the view is a sheet.
    package func cover<Content: View>(isPresented: Binding<Bool>, @ViewBuilder content: @escaping () -> Content) -> some View {
        #if os(macOS)
        sheet(isPresented: isPresented) { content().sized() }
        #else
        fullScreenCover(isPresented: isPresented, content: content)
        #endif
    }

    /// Covers the screen with the view of an item while there is one. On a Mac, the view is a sheet.
    package func cover<Item: Identifiable, Content: View>(
        item: Binding<Item?>, @ViewBuilder content: @escaping (Item) -> Content
    ) -> some View {
        #if os(macOS)
        sheet(item: item) { content($0).sized() }
        #else
        fullScreenCover(item: item, content: content)
        #endif
    }
}

extension Color {
    /// The background of a screen with groups.
    package static var groupedBackground: Color {
        #if os(macOS)
        Color.clear
        #else
        Color(uiColor: .systemGroupedBackground)
        #endif
    }
}

#if !os(macOS)
extension FieldKeyboard {
    fileprivate var type: UIKeyboardType {
        switch self {
        case .usual: .default
        case .email: .emailAddress
        case .digits: .numberPad
        case .phone: .phonePad
        }
    }
}
#endif
#endif
