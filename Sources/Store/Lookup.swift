package import Foundation

/// The rows that a read needs, declared so that a store can return all of them in one round trip. Only a hint: a view also answers calls
/// that are not declared. Every lookup includes the configuration's version.
///
/// ```swift
/// // The ticket, its grant, and the user whom the grant's key names.
/// Lookup(.ticket(.refreshToken, digest, .owner(.named(.user, byKey: "user"))))
/// ```
package struct Lookup: Sendable, Hashable {
    /// A row, or a list of rows, and the rows that depend on it.
    package struct Node: Sendable, Hashable {
        package let rows: Rows
        package let dependents: [Node]

        package static func ticket(_ kind: TicketKind, _ digest: TicketDigest, _ dependents: Node...) -> Node {
            Node(rows: .ticket(kind, digest), dependents: dependents)
        }

        package static func record(_ kind: RecordKind, id: String, _ dependents: Node...) -> Node {
            Node(rows: .record(kind, id: id), dependents: dependents)
        }

        package static func records(
            _ kind: RecordKind, where key: String, is value: String, limit: Int, _ dependents: Node...
        ) -> Node {
            Node(rows: .records(kind, key: key, value: value, limit: limit), dependents: dependents)
        }

        /// The record to which the parent ticket refers.
        package static func owner(_ dependents: Node...) -> Node { Node(rows: .owner, dependents: dependents) }

        /// The record whose id is the value of a key of the parent record.
        package static func named(_ kind: RecordKind, byKey key: String, _ dependents: Node...) -> Node {
            Node(rows: .named(kind, key: key), dependents: dependents)
        }

        /// The records with a key whose value is the id of the record above, followed by `suffix`.
        package static func listed(
            _ kind: RecordKind, where key: String, suffix: String = "", limit: Int, _ dependents: Node...
        ) -> Node {
            Node(rows: .listed(kind, key: key, suffix: suffix, limit: limit), dependents: dependents)
        }

        /// Returns the node with more dependents.
        package func appending(_ more: [Node]) -> Node { Node(rows: rows, dependents: dependents + more) }
    }

    /// The rows of a node.
    package enum Rows: Sendable, Hashable {
        case ticket(TicketKind, TicketDigest)
        case record(RecordKind, id: String)
        case records(RecordKind, key: String, value: String, limit: Int)
        case owner
        case named(RecordKind, key: String)
        case listed(RecordKind, key: String, suffix: String, limit: Int)
    }

    package let nodes: [Node]

    package init(_ nodes: Node...) { self.nodes = nodes }

    package init(_ nodes: [Node]) { self.nodes = nodes }
}

/// The rows that a lookup found. They answer the calls of a view that the lookup covers, including calls for rows that do not exist.
package struct FoundRows {
    /// The functions that find the rows of a node by the value that selects them.
    package struct Source {
        package var ticket: (_ node: Int, TicketKind, TicketDigest) throws -> StoredTicket?
        package var record: (_ node: Int, RecordReference) throws -> Record?
        package var list: (_ node: Int, RecordKind, _ key: String, _ value: String, _ limit: Int) throws -> [Record]

        package init(
            ticket: @escaping (Int, TicketKind, TicketDigest) throws -> StoredTicket?,
            record: @escaping (Int, RecordReference) throws -> Record?,
            list: @escaping (Int, RecordKind, String, String, Int) throws -> [Record]
        ) {
            (self.ticket, self.record, self.list) = (ticket, record, list)
        }
    }

    private struct List: Hashable {
        var kind: RecordKind
        var key: String
        var value: String
    }

    /// The row on which a node depends.
    private enum Parent {
        case ticket(Ticket)
        case record(Record)
    }

    private var tickets: [TicketKind: [TicketDigest: StoredTicket?]] = [:]
    private var records: [RecordReference: Record?] = [:]
    private var lists: [List: (rows: [Record], limit: Int)] = [:]

    /// Finds the rows of a lookup. Nodes are numbered in the order of ``Lookup/numbered``.
    package init(_ lookup: Lookup, from source: Source) throws {
        var number = 0
        try follow(lookup.nodes, [], source, &number)
    }

    /// Returns the state of a ticket; `nil` if the lookup does not cover it.
    package func ticket(_ kind: TicketKind, _ digest: TicketDigest, now: Date) -> TicketState? {
        tickets[kind]?[digest].map { $0?.state(now: now) ?? .unknown }
    }

    /// Returns a record, or `.some(nil)` if it does not exist; `nil` if the lookup does not cover it.
    package func record(_ kind: RecordKind, _ id: String) -> Record?? { records[RecordReference(kind, id)] }

    /// Returns a list; `nil` if the lookup does not cover it.
    package func list(_ kind: RecordKind, where key: String, is value: String, limit: Int) -> [Record]? {
        guard let found = lists[List(kind: kind, key: key, value: value)], limit <= found.limit || found.rows.count < found.limit else {
            return nil
        }
        return Array(found.rows.prefix(limit))
    }

    private mutating func follow(_ nodes: [Lookup.Node], _ parents: [Parent], _ source: Source, _ number: inout Int) throws {
        for node in nodes {
            let own = number
            number += 1
            let found = try rows(of: node.rows, own, parents, source)
            try follow(node.dependents, found, source, &number)
        }
    }

    private mutating func rows(of rows: Lookup.Rows, _ node: Int, _ parents: [Parent], _ source: Source) throws -> [Parent] {
        switch rows {
        case .ticket(let kind, let digest):
            let found = try source.ticket(node, kind, digest)
            tickets[kind, default: [:]][digest] = .some(found)
            return found.map { [.ticket($0.ticket)] } ?? []
        case .record(let kind, let id): return try record(RecordReference(kind, id), node, source)
        case .records(let kind, let key, let value, let limit): return try list(kind, key, value, limit, node, source)
        case .owner, .named, .listed: return try parents.flatMap { try dependents(of: $0, rows, node, source) }
        }
    }

    private mutating func dependents(of parent: Parent, _ rows: Lookup.Rows, _ node: Int, _ source: Source) throws -> [Parent] {
        switch (rows, parent) {
        case (.owner, .ticket(let ticket)): return try record(ticket.owner, node, source)
        case (.named(let kind, let key), .record(let above)):
            guard let id = above.indexedKeys[key] ?? above.uniqueKeys[key] else { return [] }
            return try record(RecordReference(kind, id), node, source)
        case (.listed(let kind, let key, let suffix, let limit), .record(let above)):
            return try list(kind, key, above.id + suffix, limit, node, source)
        default: return []
        }
    }

    private mutating func record(_ reference: RecordReference, _ node: Int, _ source: Source) throws -> [Parent] {
        let found = try source.record(node, reference)
        records[reference] = .some(found)
        return found.map { [.record($0)] } ?? []
    }

    private mutating func list(
        _ kind: RecordKind, _ key: String, _ value: String, _ limit: Int, _ node: Int, _ source: Source
    ) throws -> [Parent] {
        let found = try source.list(node, kind, key, value, limit)
        lists[List(kind: kind, key: key, value: value)] = (found, limit)
        // A list that contains a record also answers calls for this record.
        for record in found { records[RecordReference(kind, record.id)] = .some(record) }
        return found.map { .record($0) }
    }
}

extension Lookup {
    /// All nodes, each before its dependents, with the number of its parent; `nil` for a node without a parent.
    package var numbered: [(rows: Rows, parent: Int?)] {
        var all: [(Rows, Int?)] = []
        func add(_ nodes: [Node], below parent: Int?) {
            for node in nodes {
                all.append((node.rows, parent))
                add(node.dependents, below: all.count - 1)
            }
        }
        add(nodes, below: nil)
        return all
    }
}
