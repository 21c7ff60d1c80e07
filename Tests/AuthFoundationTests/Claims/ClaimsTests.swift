import Foundation
import Testing

@testable import AuthFoundation

@Suite("Claims")
struct ClaimsTests {
    private let profile = try? UserInfo(
        JSON(
            """
            {"sub":"00u1","name":"Ada Byron","preferred_username":"ada","email":"ada@id.test","email_verified":true,"phone_number_verified":1,"zoneinfo":"Europe/London",
            "locale":"en_GB","updated_at":1735689600,"address":{"locality":"London","postal_code":"N1"},"amr":["pwd","otp","new"],
            "groups":["a","b"],"nickname":null,"acr":"urn:okta:loa:2fa:any","level":7,"ratio":0.5,"tags":{"x":"1"}}
            """))

    @Test("UserInfo returns known claims as typed properties")
    func typed() throws {
        let profile = try #require(profile)
        #expect(profile.subject == "00u1" && profile.name == "Ada Byron" && profile.nickname == nil && profile.givenName == nil)
        #expect(profile.preferredUsername == "ada" && profile.email == "ada@id.test")
        #expect(profile.emailVerified == true && profile.phoneNumberVerified == true)
        #expect(profile.updatedAt == Date(timeIntervalSince1970: 1_735_689_600))
        #expect(profile.timeZone?.identifier == "Europe/London" && profile.userLocale?.identifier == "en_GB")
        #expect(profile.address == ["locality": "London", "postal_code": "N1"])
        #expect(profile.authenticationMethods == [.passwordBased, .oneTimePassword])
        #expect(profile.authenticationClassReference == ["urn:okta:loa:2fa:any"])
    }

    @Test("Any claim can be read by name as a value, list or object, and a missing or mistyped claim throws an error")
    func byName() throws {
        let profile = try #require(profile)
        #expect(profile["level"] == 7 && profile["ratio"] == 0.5)
        let groups: [String] = try profile.value(for: .groups)
        #expect(groups == ["a", "b"])
        let tags: [String: String]? = profile["tags"]
        #expect(tags == ["x": "1"])
        #expect(throws: ClaimError.missingRequiredValue(key: "level")) { let _: String = try profile.value(for: "level") }
        #expect(throws: ClaimError.missingRequiredValue(key: "given_name")) { let _: String = try profile.value(for: .givenName) }
    }

    @Test("UserInfo lists known claims and custom claims separately")
    func lists() throws {
        let profile = try #require(profile)
        #expect(profile.customClaims == ["level", "ratio", "tags"])
        #expect(profile.claims.contains(.emailVerified) && profile.claims.contains(.authMethodsReference))
        #expect(profile.allClaims.count == profile.claims.count + profile.customClaims.count)
        #expect(
            JWTClaim(rawValue: "email") == .email && JWTClaim(rawValue: "mine") == .custom("mine") && JWTClaim.custom("sub") == .subject)
    }

    @Test(
        "A date is decoded from integer seconds, an ISO 8601 date or an HTTP date, and other values are rejected",
        arguments: [
            (JSON.integer(784_111_777), true), (.string("1994-11-06T08:49:37Z"), true), (.string("Sun, 06 Nov 1994 08:49:37 GMT"), true),
            (.string("1994-11-06T08:49:37.000Z"), true), (.number(784_111_777.5), false), (.string("yesterday"), false),
            (.bool(true), false),
        ])
    func dates(value: JSON, isDate: Bool) {
        #expect(Date.convert(from: value.anyValue) == (isDate ? Date(timeIntervalSince1970: 784_111_777) : nil))
    }

    @Test("JSON is unchanged after decoding and encoding, even for integers above 2^53")
    func json() throws {
        let text = #"{"a":[1,2.5,true,null,"x"],"big":9007199254740993,"o":{}}"#
        let json = try JSON(text)
        #expect(json["big"] == 9_007_199_254_740_993)
        #expect(String(decoding: json.text ?? Data(), as: UTF8.self) == text)
        #expect(throws: (any Error).self) { try JSON("{") }
    }

    @Test("Claims, grants and content types are encoded as their names")
    func encodedNames() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        func text(_ value: some Encodable) throws -> String { String(decoding: try encoder.encode(value), as: UTF8.self) }
        #expect(try text([JWTClaim.subject, .custom("x")]) == #"["sub","x"]"#)
        #expect(try text([GrantType.password]) == #"["password"]"#)
        #expect(try text([APIContentType.other("text/csv")]) == #"["text/csv"]"#)
        #expect(try JSONDecoder().decode([JWTClaim].self, from: Data(#"["sub","x"]"#.utf8)) == [.subject, .custom("x")])
    }

    @Test("Bytes and texts have the encodings of the published names")
    func encodings() throws {
        let bytes = Data([0xFB, 0xFF, 0xFE])
        #expect(bytes.base64URLEncodedString == "-__-" && [UInt8](bytes).base64URLEncodedString == "-__-")
        #expect(Data(base64Encoded: "-__-".base64URLDecoded) == bytes && Data(base64Encoded: "-w".base64URLDecoded) == Data([0xFB]))
        // The digest of the empty input (FIPS 180-4).
        let digest = try #require(Data().sha256())
        #expect(
            digest.map { String(format: "%02x", $0) }.joined().hasPrefix("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        )
        #expect(String.nonce(length: 20).count == 20 && String.nonce() != String.nonce())
        #expect(["b": "x y", "a": "ü"].percentQueryEncoded == "a=%C3%BC&b=x%20y")
        #expect(["": ""].percentQueryEncoded == "=")
    }

    @Test("A claim with words is a list of words if it is read as a list")
    func words() throws {
        let user = try JSONDecoder().decode(UserInfo.self, from: Data(#"{"sub":"1","scp":"openid profile","amr":["pwd"]}"#.utf8))
        #expect(user["scp"] as [String]? == ["openid", "profile"] && user["amr"] as [String]? == ["pwd"])
        #expect(user["scp"] as String? == "openid profile" && user["missing"] as [String]? == nil)
    }

    @Test("A key for RSA without an algorithm states RS256, and other keys state none")
    func keyAlgorithms() throws {
        func key(_ text: String) throws -> JWK { try JSONDecoder().decode(JWK.self, from: Data(text.utf8)) }
        #expect(try key(#"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#).algorithm == .rs256)
        #expect(try key(#"{"kty":"RSA","alg":"PS256","n":"AQAB","e":"AQAB"}"#).algorithm == .ps256)
        #expect(try key(#"{"kty":"EC","crv":"P-256","x":"AQAB","y":"AQAB"}"#).algorithm == nil)
    }

    @Test("A user's name has its parts")
    func nameComponents() throws {
        let user = try JSONDecoder().decode(
            UserInfo.self, from: Data(#"{"sub":"1","given_name":"Jane","family_name":"Doe","nickname":7}"#.utf8))
        #expect(user.nameComponents.givenName == "Jane" && user.nameComponents.familyName == "Doe")
        #expect(user.nameComponents.nickname == nil)
    }

    @Test("Unknown grant types, algorithms and error codes keep their names")
    func openNames() {
        #expect(
            GrantType(rawValue: "urn:okta:params:oauth:grant-type:oob") == .oob
                && GrantType.otpMFA.rawValue == "http://auth0.com/oauth/grant-type/mfa-otp")
        #expect(GrantType(rawValue: "x") == .other("x") && GrantType.other("x").rawValue == "x")
        #expect(JWK.Algorithm(rawValue: "ES256") == .es256 && JWK.Algorithm(rawValue: "X1") == .other(algorithm: "X1"))
        #expect(OAuth2ServerError.Code(rawValue: "slow_down") == .slowDown && OAuth2ServerError.Code(rawValue: "x")?.rawValue == "x")
        #expect(GrantType(rawValue: "") == nil && JWK.Algorithm(rawValue: "") == nil)
        #expect(OAuth2ServerError.Code(rawValue: "") == nil && APIContentType(rawValue: "") == nil)
        #expect(Set([GrantType.password, .password, .oob]).count == 2)
    }
}
