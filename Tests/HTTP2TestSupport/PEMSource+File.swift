import Foundation
import SwitchboardCall
import TestSupport

/// A source in a file, for peers that take only those.
package func temporaryFile(_ source: PEMSource) throws -> String {
  guard case .bytes(let bytes) = source else { return "" }
  return try temporaryFile(bytes, suffix: "pem")
}

/// Writes a source over a file.
package func write(_ source: PEMSource, to path: String) throws {
  guard case .bytes(let bytes) = source else { return }
  try Data(bytes).write(to: URL(filePath: path))
}
