import SwiftSyntax

/// The availability of a declaration on one platform.
enum Availability: Equatable {
    /// The declaration does not say.
    case unspecified
    case introduced(SystemVersion)
    case unavailable

    /// Reads the `@available` attributes of a declaration.
    init(_ attributes: AttributeListSyntax, on platform: Platform, namesAll: Bool) {
        self = .unspecified
        for case .attribute(let attribute) in attributes where attribute.attributeName.trimmedDescription == "available" {
            guard case .availability(let arguments) = attribute.arguments else { continue }
            let own = Self(arguments, on: platform, namesAll: namesAll)
            if own != .unspecified { self = own }
        }
    }

    /// Reads one list. With `namesAll`, a list of versions that does not name the platform means that the platform lacks the declaration:
    /// the stubs follow the documentation, which names every platform of a symbol.
    private init(_ arguments: AvailabilityArgumentListSyntax, on platform: Platform, namesAll: Bool) {
        var isAbout = false
        var namesVersions = false
        self = .unspecified
        for argument in arguments {
            switch argument.argument {
            case .availabilityVersionRestriction(let restriction):
                namesVersions = true
                guard restriction.platform.text == platform.rawValue, let version = restriction.version else { continue }
                self = .introduced(version.systemVersion)
            case .token(let token):
                if token.text == platform.rawValue { isAbout = true }
                if token.text == "unavailable", isAbout { self = .unavailable }
            case .availabilityLabeledArgument(let labeled):
                guard isAbout, labeled.label.text == "introduced", case .version(let version) = labeled.value else { continue }
                self = .introduced(version.systemVersion)
            }
        }
        if namesAll, namesVersions, self == .unspecified { self = .unavailable }
    }

    /// Whether a system has the declaration.
    func isPresent(on system: AppleSystem) -> Bool {
        switch self {
        case .unspecified: true
        case .introduced(let version): system.has(version)
        case .unavailable: false
        }
    }
}

extension AvailabilityConditionSyntax {
    /// Whether the condition holds on a system; `nil` if it does not name the platform, which then fulfills it.
    func holds(on system: AppleSystem) -> Bool {
        for argument in availabilityArguments {
            guard case .availabilityVersionRestriction(let restriction) = argument.argument,
                restriction.platform.text == system.platform.rawValue, let version = restriction.version
            else { continue }
            let isPresent = system.has(version.systemVersion)
            return availabilityKeyword.tokenKind == .poundUnavailable ? !isPresent : isPresent
        }
        return availabilityKeyword.tokenKind != .poundUnavailable
    }

    /// The version that the condition names for a platform; `nil` for none.
    func version(of platform: Platform) -> SystemVersion? {
        for argument in availabilityArguments {
            guard case .availabilityVersionRestriction(let restriction) = argument.argument,
                restriction.platform.text == platform.rawValue
            else { continue }
            return restriction.version?.systemVersion
        }
        return nil
    }
}

extension VersionTupleSyntax {
    var systemVersion: SystemVersion {
        SystemVersion(Int(major.text) ?? 0, components.first.flatMap { Int($0.number.text) } ?? 0)
    }
}
