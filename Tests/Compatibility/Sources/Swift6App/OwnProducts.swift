import CommonSupport
import Foundation
import JSON

// The products JSON and CommonSupport, without AuthFoundation. Both targets compile this file.

func ownProducts() throws -> (JSON, JSON.Value, String) {
    let json: JSON = ["a": 1]
    let text = Data([1, 2]).base64URLEncodedString + [UInt8]([1]).base64URLEncodedString + "-_".base64URLDecoded
    return (json, json["a"] ?? .null, text + ["a": "b c"].percentQueryEncoded)
}
