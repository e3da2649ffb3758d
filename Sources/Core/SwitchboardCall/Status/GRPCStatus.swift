/// The status with which a call ended: a code, a message for people, and who caused it.
///
/// The call API throws no other error, so callers have only one type to catch.
///
/// ```swift
/// do {
///   print(try await client.get(request).text)
/// } catch let status as GRPCStatus where status.code == .unavailable {
///   print("try again later: \(status)")
/// }
/// ```
public struct GRPCStatus: Error, Sendable {
  /// Who caused a status. Comparisons of statuses ignore it.
  @frozen
  public enum Origin: Sendable {
    /// The application's own code: a handler, an interceptor, or a caller that cancelled.
    case user
    /// This library: it refused the call, failed to transmit it, or enforced its deadline.
    case library
    /// The peer, or a proxy on the way to it.
    case peer
  }

  /// The code, for programs.
  public var code: Code
  /// Who caused the status.
  public var origin: Origin
  /// Whether a channel of this process has composed it, because of what a peer or a proxy did, or because it has ended itself.
  /// It may name servers, unlike what a server says, and is not about the call in which a handler lets it pass.
  @usableFromInline package var isOfChannel: Bool
  @usableFromInline var contents: Contents

  /// Creates a status, by default one that the application's own code caused.
  public init(code: Code, message: String? = nil, origin: Origin = .user) {
    self.init(code, Contents(message, nil), origin)
  }

  /// The message, for people. It is sent to the peer, so it should contain no secrets. A status whose message was set is the
  /// application's own: its `origin` is `.user`.
  public var message: String? {
    get { contents.message }
    set { self = GRPCStatus(code, Contents(newValue, packedDetails, cause), .user) }
  }

  /// More details for programs: a serialized `google.rpc.Status`, sent as `grpc-status-details-bin`.
  /// `SwitchboardServices` packs and unpacks it.
  public var packedDetails: [UInt8]? {
    get { contents.packedDetails }
    set { contents = Contents(message, newValue, cause) }
  }

  /// The error of the caller's own that ended the call: what its sequence of requests threw. It is not sent, and
  /// comparisons ignore it. Statuses of invalid service configs have one for the use of this library.
  public var cause: (any Error)? { contents.cause }

  init(code: Code, message: String, cause: any Error) {
    self.init(code, Contents(message, nil, cause), .user)
  }

  @inlinable
  init(_ code: Code, _ contents: Contents, _ origin: Origin) {
    self.code = code
    self.origin = origin
    self.contents = contents
    isOfChannel = false
  }

  /// The same, as one that a channel has composed and no server has sent, unless the application has made it.
  package var ofChannel: GRPCStatus {
    var status = self
    status.isOfChannel = isOfChannel || origin != .user
    return status
  }

  /// What calls fail with whose channel the application has ended.
  package static func endOfChannel(_ message: String) -> GRPCStatus {
    var status = GRPCStatus(code: .unavailable, message: message)
    status.isOfChannel = true
    return status
  }

  /// Success, with the message `OK`.
  @inlinable
  public static var ok: GRPCStatus { GRPCStatus(.ok, .ok, .user) }

  /// Whether the call succeeded.
  @inlinable
  public var isOk: Bool { code == .ok }
}

/// The message and the details in one pointer. Most statuses have no message, or the message of success.
@usableFromInline
enum Contents: Sendable {
  @usableFromInline final class Box: Sendable {
    let message: String?
    let packedDetails: [UInt8]?
    let cause: (any Error)?

    init(_ message: String?, _ packedDetails: [UInt8]?, _ cause: (any Error)?) {
      self.message = message
      self.packedDetails = packedDetails
      self.cause = cause
    }
  }

  case none
  case ok
  case boxed(Box)

  init(_ message: String?, _ packedDetails: [UInt8]?, _ cause: (any Error)? = nil) {
    switch (message, packedDetails, cause) {
    case (nil, nil, nil): self = .none
    case (let text?, nil, nil) where text.utf8.count == 2 && text == Self.okMessage: self = .ok
    default: self = .boxed(Box(message, packedDetails, cause))
    }
  }

  private static var okMessage: String { "OK" }

  var message: String? {
    switch self {
    case .none: nil
    case .ok: Self.okMessage
    case .boxed(let boxed): boxed.message
    }
  }

  var packedDetails: [UInt8]? {
    if case .boxed(let boxed) = self { boxed.packedDetails } else { nil }
  }

  var cause: (any Error)? {
    if case .boxed(let boxed) = self { boxed.cause } else { nil }
  }
}

extension GRPCStatus: Hashable {
  public static func == (left: GRPCStatus, right: GRPCStatus) -> Bool {
    // Statuses of success need no comparison of strings.
    if case .ok = left.contents, case .ok = right.contents { return left.code == right.code }
    return left.code == right.code && left.packedDetails == right.packedDetails
      && left.message.map { Array($0.utf8) } == right.message.map { Array($0.utf8) }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message.map { Array($0.utf8) })
  }
}

extension GRPCStatus: CustomStringConvertible {
  public var description: String {
    guard let message, !message.isEmpty else { return code.description }
    return "\(code): \(message)"
  }
}

/// An error that determines the status of its call. Of other errors that a handler throws, the client learns only that
/// there was one, with the code `unknown`; the server's log has the error.
///
/// ```swift
/// struct SoldOut: GRPCStatusTransformable {
///   var item: String
///   func makeGRPCStatus() -> GRPCStatus { GRPCStatus(code: .notFound, message: "\(item) is sold out") }
/// }
/// ```
public protocol GRPCStatusTransformable: Error {
  /// The status that the peer receives.
  func makeGRPCStatus() -> GRPCStatus
}

extension GRPCStatus: GRPCStatusTransformable {
  /// Returns the status itself.
  public func makeGRPCStatus() -> GRPCStatus { self }
}

extension GRPCStatus {
  /// Creates the status for an error that the application's code threw. If the error determines none, it is `unknown`
  /// with the error's description as the message, which a client should see only if it may know all that errors say.
  public init(describing error: any Error) {
    self = .determined(by: error) ?? GRPCStatus(code: .unknown, message: "\(error)")
  }

  /// The status that an error determines, if it does.
  package static func determined(by error: any Error) -> GRPCStatus? {
    switch error {
    case let known as any GRPCStatusTransformable: known.makeGRPCStatus().asThrown
    case is CancellationError: GRPCStatus(code: .cancelled, message: "the call was cancelled")
    default: nil
    }
  }

  /// The status of a call whose code throws this one. Success cannot be thrown: the call would have no response.
  private var asThrown: GRPCStatus { isOk ? .thrownSuccess : self }

  static let thrownSuccess = GRPCStatus(
    code: .unknown,
    message: "a status of OK was thrown as an error: what succeeds has to return"
  )
}
