@main struct Countersign { static func main() {} }
