internal import Foundation
internal import IdentityCore
internal import NIOConcurrencyHelpers

/// The discovery documents and key sets of one version of the configuration, as bytes.
package final class MetadataCache: Sendable {
    /// What is kept.
    enum Key: Hashable, Sendable {
        case metadata(MetadataDocument.Kind, server: String?)
        case keys(minute: Int)
        case appleApps
    }

    private struct State {
        var version: Int64 = .min
        var texts: [Key: [UInt8]] = [:]
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// The text for a key, made at most once per version of the configuration (or, rarely, once per concurrent caller).
    ///
    /// - Parameters:
    ///   - key: What is asked for.
    ///   - snapshot: The configuration that it is made from.
    ///   - make: Makes it.
    /// - Returns: The text in UTF-8.
    func text(_ key: Key, snapshot: OrgSnapshot, make: () -> [UInt8]) -> [UInt8] {
        let known = state.withLockedValue { $0.version == snapshot.version ? $0.texts[key] : nil }
        if let known { return known }
        let text = make()
        state.withLockedValue { state in
            guard snapshot.version >= state.version else { return }
            if snapshot.version > state.version { state = State(version: snapshot.version) }
            // Key sets are kept per minute; a new minute drops the old ones.
            if case .keys = key { state.texts = state.texts.filter { if case .keys = $0.key { false } else { true } } }
            state.texts[key] = text
        }
        return text
    }
}
