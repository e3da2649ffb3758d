import SwitchboardMigration
import SwitchboardToolSupport

/// The verb `migrate`: what a package of grpc-swift has to change, and the changes that are certain.
enum MigrateVerb {
  static let write = Flag(
    "-w",
    "--write",
    help: "Make the changes that are certain. A file is replaced as a whole, or not at all."
  )
  static let keepMessages = Flag(
    "--keep-messages",
    help: "Messages remain those of SwiftProtobuf, by the bridge to them."
  )
  static let package = Flag(
    "--switchboard",
    value: "PATH|URL",
    completion: .directory,
    help: "The Switchboard that Package.swift depends on: a checkout, or the URL of a repository."
  )

  static let verb = Verb(
    "migrate",
    summary: "move a package from grpc-swift 1 or 2",
    usage: ["DIR [FLAG]..."],
    details: [
      "Reads the Swift files in DIR, and shows each place that is different with Switchboard: its file and line, and what to "
        + "write there. 'change' is certain, and what --write does; 'look' is for a person.",
      "Comments and strings are left alone. Hidden folders, .build and links are not followed, and files over 4 MB not read. "
        + "Files that generators of grpc-swift and SwiftProtobuf wrote are only named: they are generated again. A second run "
        + "changes nothing.",
      "Without --switchboard, Package.swift is not changed.",
    ],
    operands: [Operand("DIR", completion: .directory, "The package.")],
    flags: [FlagGroup("Changes", [write, keepMessages, package])],
    examples: [
      Example("migrate .", "See what there is to do."),
      Example("migrate . --write --switchboard ../switchboard", "Make the changes that are certain."),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let tree = try PackageTree(arguments.operand(0) ?? ".")
    for remark in tree.remarks { Output.warn(remark) }
    // A mistake in it is one before anything is written.
    if let origin = arguments[package] { _ = try PackageDependency(of: origin, from: tree.folder) }
    if arguments.has(package), !tree.sources.contains(where: PackageTree.isManifest) {
      throw Failure(
        "\(tree.folder) has no Package.swift, which --switchboard is for",
        hints: ["DIR is the folder of the package, not that of its sources."],
        code: .usage
      )
    }
    let names = tree.names()
    var report = MigrationReport(isWritten: arguments.has(write))
    for path in tree.sources {
      do throws(SystemError) {
        try migrate(path, in: tree, names, try settings(arguments, for: path, in: tree), &report)
      } catch {
        Output.warn("\(error)")
        report.failures += 1
      }
      try report.show()
    }
    try report.end(of: tree)
    return report.failures == 0 ? .success : .output
  }

  /// How a file is migrated: a manifest names a checkout by its path from there.
  private static func settings(
    _ arguments: Arguments,
    for path: String,
    in tree: PackageTree
  ) throws(SystemError) -> MigrationSettings {
    let keeps = arguments.has(keepMessages)
    guard let origin = arguments[package], PackageTree.isManifest(path) else {
      return MigrationSettings(keepsMessages: keeps)
    }
    do throws(Failure) {
      let made = try PackageDependency(of: origin, from: tree.place(of: path).directory)
      let dependency = MigrationSettings.Dependency(name: made.name, declaration: made.declaration)
      return MigrationSettings(dependency: dependency, keepsMessages: keeps)
    } catch {
      throw SystemError(path, reason: error.message.text)
    }
  }

  private static func migrate(
    _ path: String,
    in tree: PackageTree,
    _ names: PackageNames,
    _ settings: MigrationSettings,
    _ report: inout MigrationReport
  ) throws(SystemError) {
    guard let bytes = try tree.read(path) else {
      return Output.warn("\(path) has more than 4 MB, and was not read")
    }
    if let generator = GeneratedFile.generator(of: bytes) {
      let stays = settings.keepsMessages && generator == GeneratedFile.messages
      return stays ? () : report.add(path, from: generator)
    }
    let isManifest = PackageTree.isManifest(path)
    let migration = FileMigration(bytes, isManifest: isManifest, names: names, settings)
    guard report.isWritten, migration.changed != bytes else {
      return report.add(path, migration.findings)
    }
    try tree.replace(path, expecting: bytes, with: migration.changed)
    report.add(path, changes: migration.changes)
    report.add(path, migration.left)
  }
}
