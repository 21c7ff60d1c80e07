internal import Foundation
internal import IdentityCore
internal import NIOConcurrencyHelpers

/// The serialized discovery documents and key sets of one configuration version.
final class MetadataCache: Sendable {
    enum Key: Hashable, Sendable {
        case metadata(MetadataDocument.Kind, server: String?)
        case keys(minute: Int)
        case appleApps
        case relatedOrigins
    }

    private struct State {
        var version: Int64 = .min
        var texts: [Key: [UInt8]] = [:]
    }

    private let state = NIOLockedValueBox(State())

    /// Returns the cached text for a key in UTF-8, or creates and caches the text. Concurrent callers may each create it once.
    func text(_ key: Key, snapshot: OrgSnapshot, make: () -> [UInt8]) -> [UInt8] {
        let known = state.withLockedValue { $0.version == snapshot.version ? $0.texts[key] : nil }
        if let known { return known }
        let text = make()
        state.withLockedValue { state in
            guard snapshot.version >= state.version else { return }
            if snapshot.version > state.version { state = State(version: snapshot.version) }
            // Key sets are cached per minute. The key set of a new minute replaces the earlier ones.
            if case .keys = key { state.texts = state.texts.filter { if case .keys = $0.key { false } else { true } } }
            state.texts[key] = text
        }
        return text
    }
}
