internal import Foundation
public import Wording

/// Where the app's texts are.
let resources = Bundle.module

/// The app's texts in the person's language, from `Resources`, for the view models and both faces.
public let words = Wording(bundle: resources)
