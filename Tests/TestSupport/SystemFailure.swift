import Glibc

/// What the system said no to a test with.
public struct SystemFailure: Error, CustomStringConvertible {
  private let code = errno

  public init() {}

  public var description: String { String(cString: strerror(code)) }
}
