/// How a call ended: a code, a message for people, and who ended it.
///
/// It is the only error that the call API throws, so that a caller has one type to catch.
///
/// ```swift
/// do {
///   print(try await client.get(request).text)
/// } catch let status as GRPCStatus where status.code == .unavailable {
///   print("try again later: \(status)")
/// }
/// ```
public struct GRPCStatus: Error, Sendable {
  /// Who caused the status. Two statuses that differ only in this are equal.
  @frozen
  public enum Origin: Sendable {
    /// The process's own code: a handler, an interceptor, a cancellation, a deadline.
    case user
    /// This library: it refused or failed to carry the call.
    case library
    /// The other side, or a proxy in between.
    case peer
  }

  /// The code, for programs.
  public var code: Code
  /// Who ended the call.
  public var origin: Origin
  private var words: Words

  /// By default, a status that the user's own code caused.
  public init(code: Code, message: String? = nil, origin: Origin = .user) {
    self.code = code
    self.origin = origin
    words = Words(message, nil)
  }

  /// The message, for people. The peer sees it, so it should contain no secrets.
  public var message: String? {
    get { words.message }
    set { words = Words(newValue, packedDetails) }
  }

  /// More details for programs: a serialized `google.rpc.Status`, sent as `grpc-status-details-bin`.
  /// `SwitchboardServices` packs and unpacks it.
  public var packedDetails: [UInt8]? {
    get { words.packedDetails }
    set { words = Words(message, newValue) }
  }

  /// Success, with the message `OK`.
  public static let ok = GRPCStatus(code: .ok, message: "OK")

  /// Whether the call succeeded.
  @inlinable
  public var isOk: Bool { code == .ok }
}

/// Everything but the code, in one pointer: most statuses have no message, or that of success.
private enum Words: Sendable {
  final class Spoken: Sendable {
    let message: String?
    let packedDetails: [UInt8]?

    init(_ message: String?, _ packedDetails: [UInt8]?) {
      self.message = message
      self.packedDetails = packedDetails
    }
  }

  case none
  case ok
  case spoken(Spoken)

  init(_ message: String?, _ packedDetails: [UInt8]?) {
    switch (message, packedDetails) {
    case (nil, nil): self = .none
    case (Self.okMessage, nil): self = .ok
    default: self = .spoken(Spoken(message, packedDetails))
    }
  }

  private static var okMessage: String { "OK" }

  var message: String? {
    switch self {
    case .none: nil
    case .ok: Self.okMessage
    case .spoken(let spoken): spoken.message
    }
  }

  var packedDetails: [UInt8]? {
    if case .spoken(let spoken) = self { spoken.packedDetails } else { nil }
  }
}

extension GRPCStatus: Hashable {
  public static func == (left: GRPCStatus, right: GRPCStatus) -> Bool {
    left.code == right.code && left.message == right.message && left.packedDetails == right.packedDetails
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message)
  }
}

extension GRPCStatus: CustomStringConvertible {
  public var description: String {
    guard let message, !message.isEmpty else { return code.description }
    return "\(code): \(message)"
  }
}

/// An error that determines the status of its call. Other errors that a handler throws reach the client as `unknown`.
///
/// ```swift
/// struct SoldOut: GRPCStatusTransformable {
///   var item: String
///   func makeGRPCStatus() -> GRPCStatus { GRPCStatus(code: .notFound, message: "\(item) is sold out") }
/// }
/// ```
public protocol GRPCStatusTransformable: Error {
  /// The status that the other side sees.
  func makeGRPCStatus() -> GRPCStatus
}

extension GRPCStatus: GRPCStatusTransformable {
  /// Itself.
  public func makeGRPCStatus() -> GRPCStatus { self }
}

extension GRPCStatus {
  /// The status for an error that the user's code threw.
  public init(describing error: any Error) {
    switch error {
    case let known as any GRPCStatusTransformable: self = known.makeGRPCStatus()
    case is CancellationError: self.init(code: .cancelled, message: "the call was cancelled")
    default: self.init(code: .unknown, message: "\(error)")
    }
  }
}
