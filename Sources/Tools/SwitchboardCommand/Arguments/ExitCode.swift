import Switchboard

/// The exit code of the process.
///
/// 0 is success, and 1 to 16 are the codes of gRPC's statuses, so that a script can tell NOT_FOUND (5) from UNAVAILABLE
/// (14). The others are those of `sysexits.h`, and the shells' 128 plus the number of a signal.
struct ExitCode: Sendable, Hashable {
  let rawValue: Int32

  static let success = ExitCode(rawValue: 0)
  /// The arguments are wrong.
  static let usage = ExitCode(rawValue: 64)
  /// The input is invalid: JSON, a `.proto` file, descriptors.
  static let data = ExitCode(rawValue: 65)
  /// A file cannot be read.
  static let noInput = ExitCode(rawValue: 66)
  /// A file or stream cannot be written.
  static let output = ExitCode(rawValue: 74)
  /// Ctrl-C.
  static let interrupted = ExitCode(rawValue: 130)
  /// The reader of the output went away.
  static let brokenPipe = ExitCode(rawValue: 141)

  /// The code of a gRPC status.
  static func status(_ code: GRPCStatus.Code) -> ExitCode { ExitCode(rawValue: Int32(code.rawValue)) }
}
