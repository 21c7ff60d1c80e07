import Testing

@testable import OAuthWire
@testable import ServerHTTP

@Suite("Form decoding")
struct FormParametersTests {
    @Test(
        "A valid form is decoded to the same values whether its characters are escaped or not",
        arguments: [
            ("a=b", ["a": "b"]),
            ("a=b+c", ["a": "b c"]),
            ("a=b%20c", ["a": "b c"]),
            ("a=b%2Bc", ["a": "b+c"]),
            ("a=:,;@!$'()*~", ["a": ":,;@!$'()*~"]),
            ("a=%3A%2C%3B%40%21%24%27%28%29%2A%7e", ["a": ":,;@!$'()*~"]),
            ("a=x=y", ["a": "x=y"]),
            ("a=x%26y%3Dz", ["a": "x&y=z"]),
            ("a=line%0D%0Ablah", ["a": "line\r\nblah"]),
            ("a=%C3%A4%E2%82%AC%F0%9F%94%91", ["a": "ä€🔑"]),
            ("a=ä", ["a": "ä"]),
            ("a%5Fb=c", ["a_b": "c"]),
            ("a=b&c=d", ["a": "b", "c": "d"]),
            ("&&a=b&&", ["a": "b"]),
            ("a=b?c/d", ["a": "b?c/d"]),
            ("", [:]),
            ("a=", [:]),
            ("a", [:]),
            ("challenge_types_supported=x&challenge_types_supported=y", ["challenge_types_supported": "x y"]),
        ])
    func reads(form: String, expected: [String: String]) throws {
        #expect(try FormParameters(parsing: form.utf8).values == expected)
    }

    @Test(
        "A form with repeated names, invalid escapes, invalid UTF-8 or NUL bytes is rejected",
        arguments: [
            ("a=b&a=b", FormParameters.Failure.repeated("a")),
            ("a=b&a=", .repeated("a")),
            ("a&a=b", .repeated("a")),
            ("a=b&%61=c", .repeated("a")),
            ("Secret-Value=b&Secret-Value=c", .repeated("…")),
            ("a=%", .badEscape),
            ("a=%2", .badEscape),
            ("a=%GG", .badEscape),
            ("a=%+1", .badEscape),
            ("a=%-1", .badEscape),
            ("%zz=b", .badEscape),
            ("a=%FF", .notUTF8),
            ("a=%C0%AF", .notUTF8),
            ("a=%ED%A0%80", .notUTF8),
            ("a=%F4%90%80%80", .notUTF8),
            ("a=%E2%82", .notUTF8),
            ("a=x%00y", .nulByte),
        ])
    func refuses(form: String, failure: FormParameters.Failure) {
        #expect(throws: failure) { try FormParameters(parsing: form.utf8) }
    }

    @Test("A form value with a literal replacement character is valid")
    func replacementCharacter() throws {
        #expect(try FormParameters(parsing: "a=%EF%BF%BD".utf8)["a"] == "\u{FFFD}")
    }

    @Test("A form with more than 100 parameters, or with a name of 129 bytes, is rejected")
    func limits() throws {
        let most = (1...100).map { "p\($0)=v" }.joined(separator: "&")
        #expect(try FormParameters(parsing: most.utf8).values.count == 100)
        #expect(throws: FormParameters.Failure.tooMany) { try FormParameters(parsing: (most + "&p=v").utf8) }
        let name = String(repeating: "n", count: 129)
        #expect(throws: FormParameters.Failure.nameTooLong) { try FormParameters(parsing: (name + "=v").utf8) }
    }
}

@Suite("Basic credentials")
struct BasicCredentialsTests {
    @Test(
        "Both parts of Basic credentials are form-decoded, and the scheme is case-insensitive",
        arguments: [
            // service-app:secret
            ("Basic c2VydmljZS1hcHA6c2VjcmV0", "service-app", "secret"),
            ("bAsIc   c2VydmljZS1hcHA6c2VjcmV0", "service-app", "secret"),
            // a%3Ab:c%2Bd+e
            ("Basic YSUzQWI6YyUyQmQrZQ==", "a:b", "c+d e"),
            // app:se:cret
            ("Basic YXBwOnNlOmNyZXQ=", "app", "se:cret"),
            // app:
            ("Basic YXBwOg==", "app", ""),
        ])
    func reads(header: String, clientID: String, secret: String) {
        guard case .present(let id, let read) = BasicCredentials.read(header) else {
            Issue.record("not read: \(header)")
            return
        }
        #expect(id == clientID)
        #expect(read == secret)
    }

    @Test(
        "A Basic header that cannot be decoded is reported as malformed",
        arguments: ["Basic ***", "Basic YXBw", "Basic OnNlY3JldA==", "Basic YSV6ejpi", "Basic "])
    func malformed(header: String) {
        guard case .malformed = BasicCredentials.read(header) else {
            Issue.record("\(header) is not malformed")
            return
        }
    }

    @Test(
        "Basic credentials are reported as absent if the header is missing, has another scheme or has only the scheme",
        arguments: [nil, "Bearer abc", "Basic", ""])
    func absent(header: String?) {
        guard case .absent = BasicCredentials.read(header) else {
            Issue.record("\(header ?? "nil") is not absent")
            return
        }
    }
}
