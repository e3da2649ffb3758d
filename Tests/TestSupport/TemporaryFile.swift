import Foundation

/// Bytes in a temporary file, for peers that accept only files.
public func temporaryFile(_ bytes: [UInt8], suffix: String) throws -> String {
  let name = "switchboard-\(UUID().uuidString).\(suffix)"
  let url = FileManager.default.temporaryDirectory.appending(path: name)
  try Data(bytes).write(to: url)
  return url.path
}
