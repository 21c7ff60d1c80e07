import JOSE
import Testing

@Suite("Redaction")
struct RedactedTests {
    private struct Plain: Redacted {
        let password = "planted-secret"
        let nested = ["planted-secret": Secret("planted-secret")]
    }

    private struct Listed: Redacted {
        let password = "planted-secret"
        let login = "jane"
        var description: String { "Listed(\(login))" }
    }

    private final class Shared: Redacted {
        let password = "planted-secret"
    }

    private enum Source: Redacted {
        case text(String)
    }

    @Test("A redacted value shows its type's name and no stored property, however it is printed")
    func stored() {
        let values: [any Redacted] = [Plain(), Listed(), Shared(), Source.text("planted-secret"), Secret("planted-secret")]
        for value in values {
            for text in Printed.forms(of: value) + Printed.forms(of: [value]) + Printed.forms(of: ["key": Optional(value)]) {
                #expect(!text.contains("planted-secret"), "\(text)")
            }
        }
        #expect(Printed.forms(of: Plain()).contains("Plain"))
        #expect(Printed.forms(of: Source.text("planted-secret")).contains("Source"))
    }

    @Test("A redacted value that declares a description shows that description in interpolation, debugging and dump")
    func described() {
        #expect("\(Listed())" == "Listed(jane)")
        #expect(String(reflecting: Listed()) == "Listed(jane)")
        #expect(Listed().debugDescription == "Listed(jane)")
        #expect(Mirror(reflecting: Listed()).children.isEmpty)
    }

    @Test("A secret's description has the same length for every secret")
    func constantLength() { #expect("\(Secret("a"))" == "\(Secret("a much longer secret"))") }
}

/// Returns every text form of a value that a log statement or a debugger can produce.
enum Printed {
    static func forms(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(describing: value), String(reflecting: value), dumped]
    }
}
