/// Security questions in other languages than that of the engine, which is English.
enum QuestionTexts {
    /// A question in a language.
    ///
    /// - Parameters:
    ///   - key: The question's key.
    ///   - text: It in English.
    ///   - language: The tag of the language.
    /// - Returns: It in that language; in English if it is not known.
    static func text(of key: String, english text: String, language: String) -> String {
        language == "de" ? german[key] ?? text : text
    }

    static let german = [
        "disliked_food": "Welches Essen haben Sie als Kind verweigert?",
        "name_of_first_plush_toy": "Wie hieß Ihr erstes Stofftier?",
        "first_award": "Was war der erste Preis, den Sie gewonnen haben?",
        "favorite_security_question": "Welche Sicherheitsfrage mögen Sie am liebsten?",
        "favorite_toy": "Welches Spielzeug war Ihnen als Kind das liebste?",
        "first_computer_game": "Welches Computerspiel haben Sie zuerst gespielt?",
        "favorite_movie_quote": "Welchen Satz aus einem Film zitieren Sie am häufigsten?",
        "first_sports_team_mascot": "Was war das Maskottchen der ersten Mannschaft, in der Sie gespielt haben?",
        "first_music_purchase": "Welche Platte oder welches Lied haben Sie zuerst gekauft?",
        "favorite_art_piece": "Welches Kunstwerk mögen Sie am liebsten?",
        "grandmother_favorite_desert": "Welchen Nachtisch mochte Ihre Großmutter am liebsten?",
        "first_thing_cooked": "Welches Gericht haben Sie zuerst kochen gelernt?",
        "childhood_dream_job": "Was wollten Sie als Kind werden?",
        "first_kiss_location": "Wo waren Sie bei Ihrem ersten Kuss?",
        "place_where_significant_other_was_met": "Wo haben Sie den Menschen kennengelernt, mit dem Sie Ihr Leben teilen?",
        "favorite_vacation_location": "Wo war Ihr schönster Urlaub?",
        "new_years_two_thousand": "Wo waren Sie, als das Jahr 2000 begann?",
        "favorite_speaker_actor": "Welche Rednerin oder welchen Schauspieler mögen Sie am liebsten?",
        "favorite_book_movie_character": "Welche Figur aus einem Buch oder Film mögen Sie am liebsten?",
        "favorite_sports_player": "Welche Sportlerin oder welchen Sportler mögen Sie am liebsten?",
    ]
}
