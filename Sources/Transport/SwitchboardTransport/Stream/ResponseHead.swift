// unsafe: header bytes that the session lends for one callback

import SwitchboardCall
import SwitchboardText

/// The headers and trailers of a response, parsed as they arrive.
struct ResponseHead {
  private(set) var httpStatus = 0
  private(set) var isGRPC = false
  private var hasContentType = false
  private(set) var code: Int?
  /// Whether the block has more than one status.
  private var hasManyStatuses = false
  private(set) var message: String?
  private(set) var packedDetails: [UInt8]?
  private(set) var encoding: MessageCompression? = MessageCompression.none
  /// Whether the first block that is not informational has ended, so that only trailers may follow.
  private(set) var isWhole = false
  /// The size of the fields, as HTTP/2 counts it.
  private var listSize = 0
  private let listSizeLimit: Int

  init(listSizeLimit: Int) {
    self.listSizeLimit = listSizeLimit
  }

  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// Parses a field that gRPC itself needs. Returns `false` if the list is too large to be processed further.
  mutating func add(_ name: Bytes, _ value: Bytes) -> Bool {
    listSize += name.count + value.count + 32
    guard !isTooLarge else { return false }
    switch name.count {
    case 7 where name.equals(":status"):
      httpStatus = value.decimal ?? 0
    case 11 where name.equals("grpc-status"):
      hasManyStatuses = code != nil
      code = value.decimal ?? GRPCStatus.Code.unknown.rawValue
    case 12 where !isWhole && name.equals("content-type"):
      isGRPC = !hasContentType && value.isMediaType("application/grpc")
      hasContentType = true
    case 12 where name.equals("grpc-message"):
      // The most common message needs no decoding.
      message =
        value.equals("OK")
        ? GRPCStatus.ok.message
        : PeerText.harmless(String(decoding: PercentEncoding.decode(Array(value)), as: UTF8.self))
    case 13 where !isWhole && name.equals("grpc-encoding"):
      encoding = MessageCompression(named: value)
    case 23 where name.equals("grpc-status-details-bin"):
      packedDetails = Base64.decode(value)
    default:
      break
    }
    return true
  }

  /// Resets this value for another head.
  mutating func startAgain() { self = ResponseHead(listSizeLimit: listSizeLimit) }

  /// Called at the end of the first block that is not informational. Only a block that ends the stream may have a
  /// status: with any other, an incomplete response would look complete.
  mutating func headersDidEnd(endsStream: Bool) {
    isWhole = true
    guard !endsStream else { return }
    code = nil
    hasManyStatuses = false
    message = nil
    packedDetails = nil
  }

  /// The limit applies to headers and trailers separately.
  mutating func blockDidEnd() { listSize = 0 }

  var isTooLarge: Bool { listSize > listSizeLimit }

  /// Whether the first header block is only informational, and to be ignored.
  var isInformational: Bool { (100..<200).contains(httpStatus) }

  /// Why this is not a valid gRPC response, according to its first header block. Inlined, like `status`, so that the
  /// caller copies nothing.
  @inline(__always) var failure: GRPCStatus? {
    if code != nil { return nil }
    if httpStatus != 200 {
      return GRPCStatus(
        code: GRPCStatus.Code(httpStatus: httpStatus),
        message: "the HTTP status is \(httpStatus)",
        origin: .peer
      )
    }
    guard isGRPC else {
      return GRPCStatus(
        code: .unknown,
        message: "the response's content type is not application/grpc",
        origin: .peer
      )
    }
    guard encoding != nil else {
      return GRPCStatus(
        code: .internalError,
        message: "the response's grpc-encoding is not supported",
        origin: .peer
      )
    }
    return nil
  }

  /// The status that the trailers contain.
  @inline(__always) var status: GRPCStatus {
    guard let code else {
      return GRPCStatus(code: .unknown, message: "the response ended without a grpc-status", origin: .peer)
    }
    // Whoever looked at the first one, or at the last, has seen something else.
    guard !hasManyStatuses else {
      return GRPCStatus(code: .unknown, message: "the response has more than one grpc-status", origin: .peer)
    }
    var status = GRPCStatus(
      code: GRPCStatus.Code(rawValue: code) ?? .unknown,
      // Most servers send no message with a success.
      message: message ?? (code == 0 ? GRPCStatus.ok.message : nil),
      origin: .peer
    )
    status.packedDetails = packedDetails
    return status
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Parses a number of up to nine digits.
  var decimal: Int? {
    guard (1...9).contains(count) else { return nil }
    var number = 0
    for digit in self {
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
      number = number * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return number
  }
}
