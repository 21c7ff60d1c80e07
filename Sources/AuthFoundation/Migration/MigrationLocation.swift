public import Foundation
public import JOSE

extension Migration {
    /// The place where an app stored the archive of a session.
    public struct Location: Sendable, Redacted {
        enum Place: Sendable {
            case keychain(account: String, service: String, accessGroup: String?)
            case userDefaults(key: String, suite: String?)
            case data(Data, name: String)
        }

        let place: Place

        /// Returns the location of a generic password in the Keychain. It is found on Apple's systems only.
        /// - Parameters:
        ///   - account: The account of the item.
        ///   - service: The service of the item. An empty string finds an item that was stored without a service.
        ///   - accessGroup: The access group of the item, or `nil` for every group that the app can use.
        public static func keychain(account: String, service: String, accessGroup: String? = nil) -> Location {
            Location(place: .keychain(account: account, service: service, accessGroup: accessGroup))
        }

        /// Returns the location of `Data` in the user defaults.
        /// - Parameters:
        ///   - key: The key of the value.
        ///   - suite: The suite of the defaults, such as an app group, or `nil` for the standard defaults.
        public static func userDefaults(key: String, suite: String? = nil) -> Location {
            Location(place: .userDefaults(key: key, suite: suite))
        }

        /// Returns the location of an archive that the app has read itself, for example from a file. The app removes the original itself.
        /// - Parameters:
        ///   - data: The archive.
        ///   - name: A name for reports, which stays the same in every run.
        public static func data(_ data: Data, name: String) -> Location { Location(place: .data(data, name: name)) }

        /// The kind of the location and its name; no data.
        public var description: String {
            switch place {
            case .keychain(let account, let service, _): "Keychain item \(account) of the service “\(service)”"
            case .userDefaults(let key, let suite): "user defaults \(key) of \(suite ?? "the standard suite")"
            case .data(_, let name): "data \(name)"
            }
        }
    }
}
