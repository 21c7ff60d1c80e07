/// Tells apart what would have one id on a screen, such as the buttons of two phones of one name: the focus reaches each of them.
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

    /// The id itself where it is the first, so that what is kept by it is found again; else one that follows from how many there were.
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
