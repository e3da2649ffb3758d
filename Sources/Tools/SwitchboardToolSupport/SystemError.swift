#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A failed system call, and the file or stream concerned.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file, directory or stream concerned.
  public var subject: String

  /// The reason given by the system or the tool.
  public var reason: String

  /// An error that the tool itself detected.
  public init(_ subject: String, reason: String) {
    self.subject = subject
    self.reason = reason
  }

  /// The error of this thread's last system call.
  init(_ subject: String) {
    self.init(subject, reason: String(cString: strerror(errno)))
  }

  public var description: String { "\(subject): \(reason)" }

  /// What the system says of a pipe without a reader, and of devices that do not exist.
  var isNoDevice: Bool { reason == String(cString: strerror(ENXIO)) }

  /// Whether the reader of a pipe went away.
  package var isBrokenPipe: Bool { reason == String(cString: strerror(EPIPE)) }
}
