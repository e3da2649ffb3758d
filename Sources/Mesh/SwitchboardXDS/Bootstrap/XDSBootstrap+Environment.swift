public import SwitchboardCall
import SwitchboardNetwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension XDSBootstrap {
  /// The bootstrap of the process, as all clients of gRPC find it: the file that `GRPC_XDS_BOOTSTRAP` names or, if that is not
  /// set, the text of `GRPC_XDS_BOOTSTRAP_CONFIG`.
  public static func ofEnvironment() throws(GRPCStatus) -> XDSBootstrap {
    try ofEnvironment(variable)
  }

  static func ofEnvironment(_ variable: (String) -> String?) throws(GRPCStatus) -> XDSBootstrap {
    if let path = variable("GRPC_XDS_BOOTSTRAP") {
      return try named("GRPC_XDS_BOOTSTRAP") { () throws(GRPCStatus) in
        guard !path.isObject else {
          throw .invalidVariable("it is JSON, for which GRPC_XDS_BOOTSTRAP_CONFIG is")
        }
        return try XDSBootstrap(json: String(decoding: try FileContents.read(path), as: UTF8.self))
      }
    }
    if let text = variable("GRPC_XDS_BOOTSTRAP_CONFIG") {
      return try named("GRPC_XDS_BOOTSTRAP_CONFIG") { () throws(GRPCStatus) in
        guard text.isObject else {
          throw .invalidVariable("it is no JSON object; for the path of a file, GRPC_XDS_BOOTSTRAP is")
        }
        return try XDSBootstrap(json: text)
      }
    }
    throw GRPCStatus(
      code: .invalidArgument,
      message: """
        an xds: target needs a bootstrap: set GRPC_XDS_BOOTSTRAP to the path of one, or GRPC_XDS_BOOTSTRAP_CONFIG to its \
        text, or give XDSResolver one in code
        """
    )
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  private static func named(
    _ source: String,
    _ read: () throws(GRPCStatus) -> XDSBootstrap
  ) throws(GRPCStatus) -> XDSBootstrap {
    do throws(GRPCStatus) {
      return try read()
    } catch { throw GRPCStatus(code: error.code, message: "\(source): \(error.message ?? "")") }
  }
}

extension String {
  /// Whether its first character, but for white space, is that of a JSON object.
  fileprivate var isObject: Bool { utf8.first { $0 > 0x20 } == UInt8(ascii: "{") }
}

extension GRPCStatus {
  fileprivate static func invalidVariable(_ reason: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: reason)
  }
}
