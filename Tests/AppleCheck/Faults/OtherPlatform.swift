// expects: no such module 'AppKit'
import AppKit

// AppKit exists on macOS only.
let workspace = NSWorkspace.shared
