import Switchboard
import SwitchboardProtobuf
import SwitchboardServiceMessages

// Errors with more than a code and a message: a `google.rpc.Status` has details, which are messages of any type.
extension GRPCStatus {
  /// A status with details, for a handler to throw:
  /// ```swift
  /// throw try GRPCStatus(code: .invalidArgument, message: "no such size", details: Google_Rpc_BadRequest.with { ... })
  /// ```
  /// Throws if a detail cannot be serialized.
  public init(code: Code, message: String? = nil, details: any Message...) throws(EncodeError) {
    var packed: [Google_Protobuf_Any] = []
    for detail in details { packed.append(try Google_Protobuf_Any(message: detail)) }
    try self.init(
      Google_Rpc_Status.with {
        $0.code = Int32(code.rawValue)
        $0.message = message ?? ""
        $0.details = packed
      }
    )
  }

  /// Converts a `google.rpc.Status`; the details contain all of it.
  ///
  /// A code that gRPC does not define becomes `unknown`. Throws if the status cannot be serialized.
  public init(_ status: Google_Rpc_Status) throws(EncodeError) {
    self.init(
      code: Code(rawValue: Int(status.code)) ?? .unknown,
      message: status.message.isEmpty ? nil : status.message
    )
    packedDetails = try status.serializedBytes()
  }

  /// The `google.rpc.Status` in the details; `nil` if there is none.
  public var richStatus: Google_Rpc_Status? {
    get throws(DecodeError) {
      guard let packedDetails else { return nil }
      return try Google_Rpc_Status(serializedBytes: packedDetails)
    }
  }

  /// All details of a type, in order:
  /// ```swift
  /// for violation in try status.details(of: Google_Rpc_BadRequest.self).flatMap(\.fieldViolations) { ... }
  /// ```
  public func details<Detail: Message>(of type: Detail.Type) throws(DecodeError) -> [Detail] {
    var found: [Detail] = []
    for detail in try richStatus?.details ?? [] where detail.isA(type) {
      found.append(try detail.unpack(as: type))
    }
    return found
  }
}
