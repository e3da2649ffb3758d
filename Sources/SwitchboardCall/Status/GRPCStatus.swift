/// How a call ended: a code, a message for people, and who ended it.
///
/// It is also the one error that the call API throws: whatever goes wrong below is turned into a status
/// at the edge, so that a caller has one type to catch.
public struct GRPCStatus: Error, Sendable {
  /// Who caused the status. Two statuses that differ only here are equal.
  @frozen
  public enum Origin: Sendable {
    /// This process's own code: a handler, an interceptor, a cancellation, a deadline.
    case user
    /// This library: it refused or failed to carry the call.
    case library
    /// The other side, or something between it and here.
    case peer
  }

  /// What programs go by.
  public var code: Code
  /// Who ended the call.
  public var origin: Origin
  private var words: Words

  /// A status of the user's own, unless `origin` says otherwise.
  public init(code: Code, message: String? = nil, origin: Origin = .user) {
    self.code = code
    self.origin = origin
    words = Words(message, nil)
  }

  /// What people go by. It travels with the status, so it should not give secrets away.
  public var message: String? {
    get { words.message }
    set { words = Words(newValue, packedDetails) }
  }

  /// What programs can read beyond the code: a serialized `google.rpc.Status`, which travels as
  /// `grpc-status-details-bin`. `SwitchboardServices` packs and unpacks it.
  public var packedDetails: [UInt8]? {
    get { words.packedDetails }
    set { words = Words(message, newValue) }
  }

  /// Success, with the message that the seeds' transcripts show on the wire.
  public static let ok = GRPCStatus(code: .ok, message: "OK")

  /// Whether the call succeeded.
  @inlinable
  public var isOk: Bool { code == .ok }
}

/// What a status says beyond its code, in one pointer: a status passes through many hands, and most say nothing, or what
/// success says.
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

/// An error that knows the status it stands for. Handlers may throw any error; one that is neither this
/// nor a `GRPCStatus` reaches the peer as `unknown`.
public protocol GRPCStatusTransformable: Error {
  /// The status that the other side should see.
  func makeGRPCStatus() -> GRPCStatus
}

extension GRPCStatus: GRPCStatusTransformable {
  /// Itself.
  public func makeGRPCStatus() -> GRPCStatus { self }
}

extension GRPCStatus {
  /// The status for any error thrown by code that is not ours.
  public init(describing error: any Error) {
    switch error {
    case let known as any GRPCStatusTransformable: self = known.makeGRPCStatus()
    case is CancellationError: self.init(code: .cancelled, message: "the call was cancelled")
    default: self.init(code: .unknown, message: "\(error)")
    }
  }
}
