// text: paths that the program has

import Synchronization

/// The path and the type of a method.
///
/// Generated code keeps one for each method, so that the path is built and encoded only once.
public final class MethodDescriptor: Sendable {
  /// The full name of the service, such as `echo.Echo`.
  public let service: String
  /// The name within the service, such as `Get`.
  public let method: String
  /// Which sides of a call stream.
  public let type: GRPCCallType
  /// The path of the method, such as `/echo.Echo/Get`.
  public let path: String
  /// The effect of calling the method twice: its `idempotency_level` in the `.proto` file.
  public let idempotency: MethodIdempotency
  package let pathBytes: [UInt8]
  /// Whether HTTP allows the path, which begins with a slash and has a name after each.
  package let hasValidPath: Bool
  /// What channels tell others by whose calls occupy a loop; zero until there was a call.
  package let callMark = Atomic<UInt>(0)

  /// Describes a method and builds its path. Create only one descriptor for each method.
  public init(
    service: String,
    method: String,
    type: GRPCCallType,
    idempotency: MethodIdempotency = .unknown
  ) {
    self.idempotency = idempotency
    self.service = service
    self.method = method
    self.type = type
    self.path = "/\(service)/\(method)"
    self.pathBytes = Array(path.utf8)
    hasValidPath = Self.isPath(pathBytes)
  }

  /// Describes the method with a path such as `/echo.Echo/Get`.
  package init(path: String, type: GRPCCallType) {
    let names = path.split(separator: "/", omittingEmptySubsequences: false)
    service = names.dropFirst().dropLast().joined(separator: "/")
    method = names.last.map(String.init) ?? ""
    self.type = type
    idempotency = .unknown
    self.path = path
    pathBytes = Array(path.utf8)
    hasValidPath = Self.isPath(pathBytes)
  }

  private static func isPath(_ bytes: [UInt8]) -> Bool {
    let slash = UInt8(ascii: "/")
    return bytes.first == slash && bytes.last != slash && isTarget(bytes)
      && !zip(bytes, bytes.dropFirst()).contains { $0 == (slash, slash) }
  }

  /// Whether it can be the name of a service or of a method, as a part of a path: it is not empty, and has only visible
  /// characters of ASCII, apart from those that have another meaning in a path.
  package static func isName(_ text: String) -> Bool {
    !text.utf8.isEmpty && isTarget(text.utf8)
      && !text.utf8.contains { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
  }

  /// Whether the bytes can be the target of a request in HTTP: nothing in them ends it.
  @inlinable
  package static func isTarget(_ bytes: some Sequence<UInt8>) -> Bool {
    // Without branches, because every request over HTTP/1.1 asks.
    var faults: UInt8 = 0
    for byte in bytes { faults |= byte &- 0x21 > 0x5d ? 1 : 0 }
    return faults == 0
  }
}
