extension HasClaims {
    /// Returns the value of a claim.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or has another type.
    public func value<T: ClaimConvertable>(for claim: ClaimType) throws -> T {
        try value(for: claim.rawValue)
    }

    /// Returns the value of a claim, or `nil` if the claim is missing or has another type.
    public func value<T: ClaimConvertable>(for claim: ClaimType) -> T? {
        value(for: claim.rawValue)
    }

    /// Returns the value of a claim, or `nil` if the claim is missing or has another type.
    public subscript<T: ClaimConvertable>(_ claim: ClaimType) -> T? {
        value(for: claim.rawValue)
    }

    /// Returns the elements of type `T` in a list claim.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or not a list.
    public func value<T: ClaimConvertable>(for claim: ClaimType) throws -> [T] {
        try value(for: claim.rawValue)
    }

    /// Returns the elements of type `T` in a list claim, or `nil` if the claim is missing or not a list.
    public func value<T: ClaimConvertable>(for claim: ClaimType) -> [T]? {
        value(for: claim.rawValue)
    }

    /// Returns the elements of type `T` in a list claim, or `nil` if the claim is missing or not a list.
    public subscript<T: ClaimConvertable>(_ claim: ClaimType) -> [T]? {
        value(for: claim.rawValue)
    }

    /// Returns the members of type `T` in an object claim.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or not an object.
    public func value<T: ClaimConvertable>(for claim: ClaimType) throws -> [String: T] {
        try value(for: claim.rawValue)
    }

    /// Returns the members of type `T` in an object claim, or `nil` if the claim is missing or not an object.
    public func value<T: ClaimConvertable>(for claim: ClaimType) -> [String: T]? {
        value(for: claim.rawValue)
    }

    /// Returns the members of type `T` in an object claim, or `nil` if the claim is missing or not an object.
    public subscript<T: ClaimConvertable>(_ claim: ClaimType) -> [String: T]? {
        value(for: claim.rawValue)
    }

    /// Returns the value of the claim with this name.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or has another type.
    public func value<T: ClaimConvertable>(for name: String) throws -> T {
        guard let value: T = value(for: name) else { throw ClaimError.missingRequiredValue(key: name) }
        return value
    }

    /// Returns the value of the claim with this name, or `nil` if the claim is missing or has another type.
    public func value<T: ClaimConvertable>(for name: String) -> T? {
        payload[name].flatMap { T.convert(from: $0) }
    }

    /// Returns the value of the claim with this name, or `nil` if the claim is missing or has another type.
    public subscript<T: ClaimConvertable>(_ name: String) -> T? {
        value(for: name)
    }

    /// Returns the elements of type `T` in the list claim with this name.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or not a list.
    public func value<T: ClaimConvertable>(for name: String) throws -> [T] {
        guard let value: [T] = value(for: name) else { throw ClaimError.missingRequiredValue(key: name) }
        return value
    }

    /// Returns the elements of type `T` in the list claim with this name, or `nil` if the claim is missing or not a list. A string is a list
    /// of words, as in the claim `scope`.
    public func value<T: ClaimConvertable>(for name: String) -> [T]? {
        if let text = payload[name] as? String { return text.whitespaceSeparated.compactMap { T.convert(from: $0) } }
        return (payload[name] as? [any Sendable])?.compactMap { T.convert(from: $0) }
    }

    /// Returns the elements of type `T` in the list claim with this name, or `nil` if the claim is missing or not a list.
    public subscript<T: ClaimConvertable>(_ name: String) -> [T]? {
        value(for: name)
    }

    /// Returns the members of type `T` in the object claim with this name.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or not an object.
    public func value<T: ClaimConvertable>(for name: String) throws -> [String: T] {
        guard let value: [String: T] = value(for: name) else { throw ClaimError.missingRequiredValue(key: name) }
        return value
    }

    /// Returns the members of type `T` in the object claim with this name, or `nil` if the claim is missing or not an object.
    public func value<T: ClaimConvertable>(for name: String) -> [String: T]? {
        (payload[name] as? [String: any Sendable])?.compactMapValues { T.convert(from: $0) }
    }

    /// Returns the members of type `T` in the object claim with this name, or `nil` if the claim is missing or not an object.
    public subscript<T: ClaimConvertable>(_ name: String) -> [String: T]? {
        value(for: name)
    }
}
