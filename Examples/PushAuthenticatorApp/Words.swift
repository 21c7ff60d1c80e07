public import CountersignUI
public import Foundation
public import Wording

/// The bundle with the app's texts.
let resources = Bundle.module

/// The app's texts in the user's language, from `Resources`, for the view models and both user interfaces.
public let words = Wording(bundle: resources)

/// The texts of requests in the user's language.
public let texts = SignInTexts()

/// The language of dates.
public let locale = words.language.map(Locale.init(identifier:)) ?? .current
