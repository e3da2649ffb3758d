import Foundation

/// Where the tests find what is not compiled into them.
public enum TestFolders {
  public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The one that `make test` prepares.
  public static let python = root.appending(path: ".venv/bin/python3").path

  /// What the tests of a module run as their peers, the module by one of its files.
  public static func peers(of file: String = #fileID) -> URL {
    let module = String(file.prefix { $0 != "/" })
    return root.appending(path: "Tests").appending(path: module).appending(path: "Peers")
  }
}
