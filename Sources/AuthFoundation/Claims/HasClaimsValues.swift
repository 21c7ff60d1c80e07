extension HasClaims {
    // MARK: By claim

    /// The value of a claim.
    ///
    /// - Parameter claim: The claim.
    /// - Returns: The value.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or of another type.
    public func value<T: ClaimConvertable>(for claim: ClaimType) throws -> T {
        try value(for: claim.rawValue)
    }

    /// The value of a claim, or nil if the claim is missing or of another type.
    public func value<T: ClaimConvertable>(for claim: ClaimType) -> T? {
        value(for: claim.rawValue)
    }

    /// The value of a claim, or nil if the claim is missing or of another type.
    public subscript<T: ClaimConvertable>(_ claim: ClaimType) -> T? {
        value(for: claim.rawValue)
    }

    /// The values of a claim that is a list.
    ///
    /// - Parameter claim: The claim.
    /// - Returns: The elements that are of the type.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or no list.
    public func value<T: ClaimConvertable>(for claim: ClaimType) throws -> [T] {
        try value(for: claim.rawValue)
    }

    /// The values of a claim that is a list, or nil if the claim is missing or no list.
    public func value<T: ClaimConvertable>(for claim: ClaimType) -> [T]? {
        value(for: claim.rawValue)
    }

    /// The values of a claim that is a list, or nil if the claim is missing or no list.
    public subscript<T: ClaimConvertable>(_ claim: ClaimType) -> [T]? {
        value(for: claim.rawValue)
    }

    /// The members of a claim that is an object.
    ///
    /// - Parameter claim: The claim.
    /// - Returns: The members that are of the type.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or no object.
    public func value<T: ClaimConvertable>(for claim: ClaimType) throws -> [String: T] {
        try value(for: claim.rawValue)
    }

    /// The members of a claim that is an object, or nil if the claim is missing or no object.
    public func value<T: ClaimConvertable>(for claim: ClaimType) -> [String: T]? {
        value(for: claim.rawValue)
    }

    /// The members of a claim that is an object, or nil if the claim is missing or no object.
    public subscript<T: ClaimConvertable>(_ claim: ClaimType) -> [String: T]? {
        value(for: claim.rawValue)
    }

    // MARK: By name

    /// The value of the claim of that name.
    ///
    /// - Parameter name: The claim's name.
    /// - Returns: The value.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or of another type.
    public func value<T: ClaimConvertable>(for name: String) throws -> T {
        guard let value: T = value(for: name) else { throw ClaimError.missingRequiredValue(key: name) }
        return value
    }

    /// The value of the claim of that name, or nil if the claim is missing or of another type.
    public func value<T: ClaimConvertable>(for name: String) -> T? {
        payload[name].flatMap { T.convert(from: $0) }
    }

    /// The value of the claim of that name, or nil if the claim is missing or of another type.
    public subscript<T: ClaimConvertable>(_ name: String) -> T? {
        value(for: name)
    }

    /// The values of the claim of that name, which is a list.
    ///
    /// - Parameter name: The claim's name.
    /// - Returns: The elements that are of the type.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or no list.
    public func value<T: ClaimConvertable>(for name: String) throws -> [T] {
        guard let value: [T] = value(for: name) else { throw ClaimError.missingRequiredValue(key: name) }
        return value
    }

    /// The values of the claim of that name, or nil if the claim is missing or no list.
    public func value<T: ClaimConvertable>(for name: String) -> [T]? {
        (payload[name] as? [any Sendable])?.compactMap { T.convert(from: $0) }
    }

    /// The values of the claim of that name, or nil if the claim is missing or no list.
    public subscript<T: ClaimConvertable>(_ name: String) -> [T]? {
        value(for: name)
    }

    /// The members of the claim of that name, which is an object.
    ///
    /// - Parameter name: The claim's name.
    /// - Returns: The members that are of the type.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if the claim is missing or no object.
    public func value<T: ClaimConvertable>(for name: String) throws -> [String: T] {
        guard let value: [String: T] = value(for: name) else { throw ClaimError.missingRequiredValue(key: name) }
        return value
    }

    /// The members of the claim of that name, or nil if the claim is missing or no object.
    public func value<T: ClaimConvertable>(for name: String) -> [String: T]? {
        (payload[name] as? [String: any Sendable])?.compactMapValues { T.convert(from: $0) }
    }

    /// The members of the claim of that name, or nil if the claim is missing or no object.
    public subscript<T: ClaimConvertable>(_ name: String) -> [String: T]? {
        value(for: name)
    }
}
