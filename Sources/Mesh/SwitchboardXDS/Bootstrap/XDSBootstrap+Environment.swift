public import SwitchboardCall
import SwitchboardText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension XDSBootstrap {
  /// More than this is no bootstrap.
  private static let sizeLimit = 16 * 1024 * 1024

  /// The bootstrap of the process, as all clients of gRPC find it: the file that `GRPC_XDS_BOOTSTRAP` names or, if that is not
  /// set, the text of `GRPC_XDS_BOOTSTRAP_CONFIG`.
  public static func ofEnvironment() throws(GRPCStatus) -> XDSBootstrap {
    if let path = variable("GRPC_XDS_BOOTSTRAP") {
      return try named("GRPC_XDS_BOOTSTRAP") { () throws(GRPCStatus) in try XDSBootstrap(json: try read(path))
      }
    }
    if let text = variable("GRPC_XDS_BOOTSTRAP_CONFIG") {
      return try named("GRPC_XDS_BOOTSTRAP_CONFIG") { () throws(GRPCStatus) in try XDSBootstrap(json: text) }
    }
    throw GRPCStatus(
      code: .invalidArgument,
      message: """
        an xds: target needs a bootstrap: set GRPC_XDS_BOOTSTRAP to the path of one, or give XDSResolver one in code
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

  private static func read(_ path: String) throws(GRPCStatus) -> String {
    guard let file = fopen(path, "r") else {
      let reason = String(cString: strerror(errno))
      throw GRPCStatus(code: .invalidArgument, message: "\(path.excerpt) cannot be read: \(reason)")
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 * 1024)
    while bytes.count <= sizeLimit, case let count = fread(&piece, 1, piece.count, file), count > 0 {
      bytes += piece[..<count]
    }
    guard ferror(file) == 0, bytes.count <= sizeLimit else {
      let reason = ferror(file) == 0 ? "it has more than \(sizeLimit) bytes" : "reading it fails"
      throw GRPCStatus(code: .invalidArgument, message: "\(path.excerpt) cannot be read: \(reason)")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
