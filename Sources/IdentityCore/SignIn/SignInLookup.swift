package import Store

/// The rows of accounts and sign-ins, for the lookups of requests.
extension Lookup.Node {
    /// The user whom the record above names, with all factors and their devices.
    package static var account: Self { .named(.user, byKey: "user", factors) }

    /// The factors of the user above, with their devices.
    package static var factors: Self { .listed(.enrollment, where: "user", limit: Enrollment.listLimit, .named(.device, byKey: "device")) }

    /// The sign-in of a secret, with its user, factors and devices.
    package static func signIn(_ kind: TicketKind, secret: String) -> Self { .ticket(kind, TicketDigest(of: secret), .owner(account)) }
}

extension Engine {
    /// The rows of a user name before a proof, or with `hasFactors` of its factors too. Unknown names take the same number of queries.
    package func lookup(login: String, hasFactors: Bool) -> Lookup {
        let name = Self.possibleName(login)
        let key = User.key(forLogin: name)
        guard let decoy = try? decoys.decoy(for: name).id else { return Lookup() }
        let user: Lookup.Node =
            hasFactors
            ? .records(.user, where: "login", is: key, limit: 1, .factors) : .records(.user, where: "login", is: key, limit: 1)
        let decoyFactors = Lookup.Node.records(.enrollment, where: "user", is: decoy, limit: Enrollment.listLimit)
        return Lookup([user, .record(.decoy, id: decoy)] + (hasFactors ? [decoyFactors, .record(.device, id: decoy)] : []))
    }
}
