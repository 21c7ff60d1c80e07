// expects: cannot find 'LAContext' in scope
import Foundation

func context() -> Any { LAContext() }
