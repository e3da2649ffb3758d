import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// How a call looks in HTTP/1.1.
enum HTTP1Format {
  /// Frames, and the status in the last one.
  case grpcWeb, connectStream
  /// The messages are the bodies, and the status is HTTP's.
  case connectUnary

  init(_ callProtocol: CallProtocol, _ type: GRPCCallType) {
    self = callProtocol == .grpcWeb ? .grpcWeb : type == .unary ? .connectUnary : .connectStream
  }

  var isBare: Bool { self == .connectUnary }

  var contentType: String {
    switch self {
    case .grpcWeb: "application/grpc-web"
    case .connectStream: "application/connect+proto"
    case .connectUnary: "application/proto"
    }
  }

  private var endFlag: UInt8 { self == .grpcWeb ? 0x80 : 2 }

  static func frame(_ bytes: [UInt8], flag: UInt8 = 0) -> [UInt8] {
    [flag] + Frame.number(UInt32(bytes.count)) + bytes
  }

  /// An error of Connect.
  static func error(_ code: GRPCStatus.Code) -> String { "{\"code\":\"\(ConnectCode.name(code))\"}" }

  /// The frame that ends a body with frames.
  func end(_ code: GRPCStatus.Code) -> [UInt8] {
    let text =
      self == .grpcWeb
      ? "grpc-status: \(code.rawValue)\r\n" : code == .ok ? "{}" : "{\"error\":\(Self.error(code))}"
    return Self.frame(Array(text.utf8), flag: endFlag)
  }

  /// The status in such a frame; `nil` if the frame is a message.
  func status(in frame: [UInt8]) throws(Violation) -> GRPCStatus.Code? {
    guard frame[0] == endFlag else { return nil }
    let text = String(decoding: frame[5...], as: UTF8.self)
    guard self == .grpcWeb else { return try text.contains("\"error\"") ? Self.status(of: text) : .ok }
    for line in text.split(separator: "\r\n") where line.hasPrefix("grpc-status:") {
      let digits = line.dropFirst("grpc-status:".count)
      if let code = Int(digits).flatMap(GRPCStatus.Code.init(rawValue:)) { return code }
    }
    throw Violation("a last frame has no status: \(text)")
  }

  /// The code in an error of Connect.
  static func status(of error: String) throws(Violation) -> GRPCStatus.Code {
    let parts = error.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
    guard let index = parts.firstIndex(of: "code"), index + 2 < parts.count,
      let code = ConnectCode.code(parts[index + 2])
    else { throw Violation("an error has no code: \(error)") }
    return code
  }
}
