import Foundation
import SwitchboardProtoCompiler

/// A temporary directory of `.proto` files, deleted with the value.
final class ProtoFolder {
  let path: String

  init(_ files: [String: String] = [:]) throws {
    path = NSTemporaryDirectory() + "protos-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, content) in files { try write(content, to: name) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ content: String, to name: String) throws {
    try write(Data(content.utf8), to: name)
  }

  func write(_ content: Data, to name: String) throws {
    let url = URL(fileURLWithPath: path + "/" + name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try content.write(to: url)
  }

  /// Compiles files in this folder, given by name.
  func compile(_ files: String...) throws(ProtoErrors) -> CompiledProtos {
    try ProtoCompiler(includeDirectories: [path, "/usr/include"]).compile(files)
  }

  /// The errors of compiling, with `here` instead of the path of this folder; empty on success.
  func errors(_ files: String...) -> [String] {
    do {
      _ = try ProtoCompiler(includeDirectories: [path, "/usr/include"]).compile(files)
      return []
    } catch {
      return error.errors.map { $0.replacingOccurrences(of: path, with: "here") }
    }
  }
}
