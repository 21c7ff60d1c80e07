#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
internal import Interface
internal import SwiftUI

/// A view that covers the screen until the user closes it.
struct CoverView<Content: View>: View {
    let title: String
    let close: String
    @ViewBuilder let content: () -> Content

    @Environment(\.dismiss) private var dismiss

    var body: some View {
        NavigationStack {
            ScrollView {
                VStack(alignment: .leading, spacing: 20) {
                    Button {
                        dismiss()
                    } label: {
                        Image(systemName: "xmark.circle.fill")
                            .resizable()
                            .foregroundStyle(.primary)
                            .frame(width: 40, height: 40)
                            .padding(.leading, 10)
                    }
                    .spoken(close)
                    content()
                }
            }
            .background(Color.groupedBackground)
            .navigationTitle(title)
            .inlineTitle()
        }
    }
}
#endif
