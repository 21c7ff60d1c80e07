/// An authentication method of the user: a value of the claim `amr` (RFC 8176).
public enum AuthenticationMethod: String, Sendable, Hashable, Codable, CaseIterable, ClaimConvertable, IsClaim {
    /// `face`.
    case facialRecognition = "face"
    /// `fpt`.
    case fingerprintBiometric = "fpt"
    /// `geo`.
    case geolocation = "geo"
    /// `hwk`.
    case proofOfPossessionHardware = "hwk"
    /// `iris`.
    case irisScanBiometric = "iris"
    /// `kba`.
    case knowledgeBased = "kba"
    /// `mca`.
    case multipleChannel = "mca"
    /// `mfa`.
    case multipleFactor = "mfa"
    /// `otp`.
    case oneTimePassword = "otp"
    /// `pin`.
    case pin
    /// `pop`.
    case proofOfPossession = "pop"
    /// `pwd`.
    case passwordBased = "pwd"
    /// `rba`.
    case riskBased = "rba"
    /// `retina`.
    case retinaScanBiometric = "retina"
    /// `sc`.
    case smartCard = "sc"
    /// `sms`.
    case smsConfirmation = "sms"
    /// `swk`.
    case proofOfPossessionSoftware = "swk"
    /// `tel`.
    case telephoneConfirmation = "tel"
    /// `user`.
    case userPresence = "user"
    /// `vbm`.
    case voiceBiometric = "vbm"
    /// `wia`.
    case windowsIntegrated = "wia"
}
