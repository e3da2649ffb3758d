import Glibc

/// A system error in a test's setup.
public struct SystemFailure: Error, CustomStringConvertible {
  private let code = errno

  public init() {}

  public var description: String { String(cString: strerror(code)) }
}
