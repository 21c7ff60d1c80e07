/// A generator of unique ids for the elements on a screen, for example of two phones with the same name, so that the focus can reach each
/// element.
@MainActor
struct DistinctIDs {
    private var used: Set<String> = []

    mutating func apply(to elements: [Element]) -> [Element] {
        elements.map { element in
            var element = element
            switch element.kind {
            case .field(var field):
                field.id = distinct(field.id)
                element.kind = .field(field)
            case .buttons(let buttons): element.kind = .buttons(apply(to: buttons))
            case .list(var list):
                list.id = distinct(list.id)
                element.kind = .list(list)
            case .toggle(var toggle):
                toggle.id = distinct(toggle.id)
                element.kind = .toggle(toggle)
            case .scroll(var scroll):
                scroll.id = distinct(scroll.id)
                element.kind = .scroll(scroll)
            case .text, .lines, .pairs, .progress, .space: break
            }
            return element
        }
    }

    mutating func apply(to buttons: [Button]) -> [Button] {
        buttons.map { button in
            var button = button
            button.id = distinct(button.id)
            return button
        }
    }

    /// Returns a unique id. The first element keeps its id, so that stored positions stay valid. Later elements get an id with a number.
    private mutating func distinct(_ id: String) -> String {
        var result = id
        var number = 1
        while !used.insert(result).inserted {
            number += 1
            result = "\(id)\u{0}\(number)"
        }
        return result
    }
}
