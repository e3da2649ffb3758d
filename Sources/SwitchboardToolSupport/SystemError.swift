#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A system call that failed, and on what.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file, directory or stream concerned.
  public var subject: String

  /// What the system, or the tool, has against it.
  public var reason: String

  /// An error that the tool itself found.
  public init(_ subject: String, reason: String) {
    self.subject = subject
    self.reason = reason
  }

  /// The error that the last system call of this thread left.
  init(_ subject: String) {
    self.init(subject, reason: String(cString: strerror(errno)))
  }

  public var description: String { "\(subject): \(reason)" }
}
