import struct IdentityEngine.Record

/// GRDB has a class of that name too.
typealias IdentityEngineRecord = Record
