internal import Foundation

extension InMemoryStore.State {
    /// Applies a change and records how to undo it; a conflict changes nothing.
    mutating func apply(_ change: Change, _ undo: inout InMemoryStore.UndoLog) -> Conflict? {
        switch change {
        case .put(let record): return put(record, &undo)
        case .unchanged(let reference, let version):
            let stored = records[reference.kind]?[reference.id]?.version ?? 0
            return stored == version ? nil : .version(stored: stored)
        case .remove(let kind, let id, let version): return remove(kind, id, version, &undo)
        case .issue(let ticket):
            let key = InMemoryStore.TicketKey(kind: ticket.kind, digest: ticket.digest)
            if let known = tickets[key] { return .ticket(known.state(now: .distantPast)) }
            set(key, StoredTicket(ticket: ticket, standing: .open), &undo)
            return nil
        case .take(let kind, let digest, let now, let gave):
            return alter(kind, digest, now, &undo) { state, stored in
                guard case .fresh(let ticket) = state, ticket.use == .once else { return false }
                stored.standing = .taken(at: now, gave: gave)
                return true
            }
        case .retake(let kind, let digest, let now, let expected, let gave):
            return alter(kind, digest, now, &undo) { state, stored in
                guard case .taken(_, let at, expected) = state else { return false }
                stored.standing = .taken(at: at, gave: gave)
                return true
            }
        case .require(let kind, let digest, let now):
            return alter(kind, digest, now, &undo) { state, _ in
                if case .fresh(let ticket) = state { ticket.use == .untilClosed } else { false }
            }
        case .requireConfiguration(let version):
            return configurationVersion == version ? nil : .configuration(stored: configurationVersion)
        case .close(let kind, let digest):
            close(.init(kind: kind, digest: digest), &undo)
            return nil
        case .closeTickets(let owner):
            for key in owned[owner] ?? [] { close(key, &undo) }
            return nil
        }
    }

    /// Undoes the changes that a commit made before a conflict.
    mutating func revert(_ undo: InMemoryStore.UndoLog) {
        for step in undo.steps.reversed() { step(&self) }
    }

    mutating func removeExpired(now: Date, limit: Int) -> Int {
        var discarded = InMemoryStore.UndoLog()
        let ended = tickets.filter { _, stored in stored.ticket.expiresAt.map { $0 <= now } ?? false }.prefix(limit)
        for (key, _) in ended { set(key, nil, &discarded) }
        var removed = ended.count
        for (kind, stored) in records {
            for record in stored.values where removed < limit {
                guard let end = record.expiresAt, end <= now else { continue }
                _ = remove(kind, record.id, record.version, &discarded)
                removed += 1
            }
        }
        return removed
    }

    private mutating func put(_ record: Record, _ undo: inout InMemoryStore.UndoLog) -> Conflict? {
        let old = records[record.kind]?[record.id]
        guard old?.version ?? 0 == record.version else { return .version(stored: old?.version ?? 0) }
        for (name, value) in record.uniqueKeys {
            let holder = unique[.init(kind: record.kind, name: name, value: value)]
            if let holder, holder != record.id { return .duplicateKey(name) }
        }
        var next = record
        next.version += 1
        replace(record.kind, record.id, old, next, &undo)
        return nil
    }

    private mutating func remove(_ kind: RecordKind, _ id: String, _ version: Int64, _ undo: inout InMemoryStore.UndoLog) -> Conflict? {
        let old = records[kind]?[id]
        guard let old, old.version == version else { return .version(stored: old?.version ?? 0) }
        for key in owned[RecordReference(kind, id)] ?? [] { set(key, nil, &undo) }
        replace(kind, id, old, nil, &undo)
        return nil
    }

    private mutating func replace(
        _ kind: RecordKind, _ id: String, _ old: Record?, _ new: Record?, _ undo: inout InMemoryStore.UndoLog
    ) {
        swap(kind, id, old, new)
        if kind.isConfiguration { configurationVersion += 1 }
        undo.steps.append { state in
            state.swap(kind, id, new, old)
            if kind.isConfiguration { state.configurationVersion -= 1 }
        }
    }

    private mutating func swap(_ kind: RecordKind, _ id: String, _ old: Record?, _ new: Record?) {
        if let old {
            for (name, value) in old.uniqueKeys { unique[.init(kind: kind, name: name, value: value)] = nil }
            for (name, value) in old.indexedKeys {
                let key = InMemoryStore.IndexKey(kind: kind, name: name, value: value)
                indexed[key]?.remove(id)
                if indexed[key]?.isEmpty == true { indexed[key] = nil }
            }
        }
        if let new {
            for (name, value) in new.uniqueKeys { unique[.init(kind: kind, name: name, value: value)] = id }
            for (name, value) in new.indexedKeys { indexed[.init(kind: kind, name: name, value: value), default: []].insert(id) }
        }
        records[kind, default: [:]][id] = new
    }

    private mutating func alter(
        _ kind: TicketKind, _ digest: TicketDigest, _ now: Date, _ undo: inout InMemoryStore.UndoLog,
        _ body: (TicketState, inout StoredTicket) -> Bool
    ) -> Conflict? {
        let key = InMemoryStore.TicketKey(kind: kind, digest: digest)
        guard var stored = tickets[key] else { return .ticket(.unknown) }
        let state = stored.state(now: now)
        guard body(state, &stored) else { return .ticket(state) }
        set(key, stored, &undo)
        return nil
    }

    private mutating func close(_ key: InMemoryStore.TicketKey, _ undo: inout InMemoryStore.UndoLog) {
        guard var stored = tickets[key] else { return }
        stored.standing = .closed
        set(key, stored, &undo)
    }

    private mutating func set(
        _ key: InMemoryStore.TicketKey, _ stored: StoredTicket?, _ undo: inout InMemoryStore.UndoLog
    ) {
        let old = tickets[key]
        place(key, stored)
        undo.steps.append { $0.place(key, old) }
    }

    private mutating func place(_ key: InMemoryStore.TicketKey, _ stored: StoredTicket?) {
        if let owner = (stored ?? tickets[key])?.ticket.owner {
            if stored == nil {
                owned[owner]?.remove(key)
                if owned[owner]?.isEmpty == true { owned[owner] = nil }
            } else {
                owned[owner, default: []].insert(key)
            }
        }
        tickets[key] = stored
    }
}
