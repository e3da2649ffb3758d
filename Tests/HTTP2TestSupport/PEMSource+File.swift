import Foundation
import SwitchboardCall
import TestSupport

/// A source written to a file, for peers that accept only files.
package func temporaryFile(_ source: PEMSource) throws -> String {
  guard case .bytes(let bytes) = source else { return "" }
  return try temporaryFile(bytes, suffix: "pem")
}

/// Overwrites a file with a source.
package func write(_ source: PEMSource, to path: String) throws {
  guard case .bytes(let bytes) = source else { return }
  try Data(bytes).write(to: URL(filePath: path))
}
