/// From eight characters on; shorter ones fall to the length.
let commonPasswords: Set<String> = [
    "password", "password1", "password12", "password123", "passw0rd", "p@ssw0rd", "p@ssword", "12345678", "123456789", "1234567890",
    "qwertyui", "qwertyuiop", "qwerty123", "qwerty12", "1q2w3e4r", "1q2w3e4r5t", "1qaz2wsx", "q1w2e3r4", "asdfghjkl", "asdfghjk",
    "zxcvbnm1", "iloveyou", "iloveyou1", "sunshine", "princess", "football", "baseball", "superman", "starwars", "trustno1",
    "whatever", "computer", "internet", "michelle", "jennifer", "jonathan", "corvette", "mercedes", "midnight", "samantha",
    "welcome1", "welcome123", "changeme", "changeme1", "changeit", "letmein1", "letmein123", "admin123", "admin1234", "administrator",
    "abcd1234", "abcdefgh", "abc12345", "a1b2c3d4", "aa123456", "11223344", "87654321", "secret123", "test1234", "testtest",
    "default1", "password!", "monkey123", "dragon123", "master123", "summer2024", "winter2024", "spring2024", "autumn2024",
]
