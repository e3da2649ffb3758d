import SwitchboardMigration

/// A package of some files, of which one is migrated.
struct Package {
  var names = PackageNames()
  var settings = MigrationSettings()

  init(_ others: String...) {
    // A package that uses grpc-swift has a file that imports it.
    for text in others + ["import GRPC\n"] { names.add(Array(text.utf8)) }
  }

  func migration(_ text: String, isManifest: Bool = false) -> FileMigration {
    var names = names
    names.add(Array(text.utf8))
    return FileMigration(Array(text.utf8), isManifest: isManifest, names: names, settings)
  }

  /// The file after the certain changes.
  func changed(_ text: String, isManifest: Bool = false) -> String {
    String(decoding: migration(text, isManifest: isManifest).changed, as: UTF8.self)
  }

  /// The lines of a file that uses grpc-swift 1 after the certain changes, without the import.
  func changed(lines: String) -> String {
    String(changed("import GRPC\n" + lines).dropFirst("import Switchboard\n".count))
  }

  /// What is left to a person, each with its line.
  func advice(_ text: String, isManifest: Bool = false) -> [String] {
    migration(text, isManifest: isManifest).findings.filter { $0.replacement == nil }.map {
      "\($0.line): \($0.found)"
    }
  }
}
