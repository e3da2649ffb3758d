import Foundation

/// Bytes in a temporary file, for peers that accept only files. It is removed when the process ends.
public func temporaryFile(_ bytes: [UInt8], suffix: String) throws -> String {
  let url = temporaryFolder.appending(path: "\(UUID().uuidString).\(suffix)")
  try Data(bytes).write(to: url)
  return url.path
}

private let temporaryFolder: URL = {
  let folder = FileManager.default.temporaryDirectory.appending(path: "switchboard-\(UUID().uuidString)")
  try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  atexit { try? FileManager.default.removeItem(at: temporaryFolder) }
  return folder
}()
