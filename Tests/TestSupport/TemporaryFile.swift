import Foundation

/// Bytes in a file, for peers that take only those.
public func temporaryFile(_ bytes: [UInt8], suffix: String) throws -> String {
  let name = "switchboard-\(UUID().uuidString).\(suffix)"
  let url = FileManager.default.temporaryDirectory.appending(path: name)
  try Data(bytes).write(to: url)
  return url.path
}
