import Foundation

/// A temporary directory for one test, deleted with the value.
final class Scratch {
  let path: String

  init(_ files: [String: String] = [:]) throws {
    path = NSTemporaryDirectory() + "scratch-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, content) in files { try write(content, to: name) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ content: String, to name: String) throws {
    let file = URL(fileURLWithPath: path + "/" + name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try Data(content.utf8).write(to: file)
  }

  /// Creates a directory and returns its path.
  func directory(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: true)
    return path + "/" + name
  }

  /// The contents of every file below a directory, by relative path.
  func files(below name: String) throws -> [String: String] {
    var files: [String: String] = [:]
    for file in try FileManager.default.subpathsOfDirectory(atPath: path + "/" + name) {
      files[file] = try? String(contentsOfFile: path + "/" + name + "/" + file, encoding: .utf8)
    }
    return files
  }
}
