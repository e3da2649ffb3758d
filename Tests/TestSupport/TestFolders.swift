import Foundation

/// The folders of files that tests use at run time.
public enum TestFolders {
  public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The Python environment that `make test` creates.
  public static let python = root.appending(path: ".venv/bin/python3").path

  /// The folder of peers of a test module, located by one of its files.
  public static func peers(of file: String = #fileID) -> URL {
    let module = String(file.prefix { $0 != "/" })
    return root.appending(path: "Tests").appending(path: module).appending(path: "Peers")
  }
}
