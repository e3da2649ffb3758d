import SwitchboardMigration
import SwitchboardToolSupport

/// The files of a package that a migration is about.
struct PackageTree {
  /// The paths of Swift files and of generators' configurations in the package, in order.
  private(set) var sources: [String] = []
  private(set) var configurations: [String] = []
  /// What was left out, for the user.
  private(set) var remarks: [ShownText] = []
  let folder: String

  /// A file that somebody wrote is smaller, and a package has fewer files.
  private static let largestFile = 4 << 20
  private static let mostFiles = 50_000

  private static let configurationNames: Set = [
    "grpc-swift-config.json", "swift-protobuf-config.json", "grpc-swift-proto-generator-config.json",
  ]

  init(_ folder: String) throws {
    self.folder = folder
    var rest = [""]
    while let path = rest.popLast() {
      let listing: DirectoryListing
      do throws(SystemError) {
        listing = try DirectoryListing(of: path.isEmpty ? folder : folder + "/" + path)
      } catch {
        guard !path.isEmpty else { throw Failure.unreadable(error) }
        remarks.append("\(error)")
        continue
      }
      let prefix = path.isEmpty ? "" : path + "/"
      let unreadable = listing.unreadable.filter { !$0.utf8.starts(with: ".".utf8) }
      if let first = unreadable.first {
        remarks.append("\(prefix + first) cannot be read; left out of this folder: \(unreadable.count)")
      }
      rest += listing.directories.filter { !$0.utf8.starts(with: ".".utf8) }.map { prefix + $0 }
      add(listing.files, prefix)
      guard sources.count <= Self.mostFiles, rest.count <= Self.mostFiles else {
        throw Failure(
          "\(folder) has more than \(Self.mostFiles) files or folders: name the folder of one package",
          code: .data
        )
      }
    }
    sources.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    configurations.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private mutating func add(_ files: [String], _ prefix: String) {
    for name in files where !name.utf8.starts(with: ".".utf8) {
      if name.utf8.reversed().starts(with: ".swift".utf8.reversed()) { sources.append(prefix + name) }
      if Self.configurationNames.contains(name) { configurations.append(prefix + name) }
    }
  }

  /// Whether a path is that of a package's manifest.
  static func isManifest(_ path: String) -> Bool {
    guard let name = path.utf8.split(separator: UInt8(ascii: "/")).last else { return false }
    return name.elementsEqual("Package.swift".utf8) || name.starts(with: "Package@".utf8)
  }

  /// The content of a file; nil if it is too large.
  func read(_ path: String) throws(SystemError) -> [UInt8]? {
    let file = try Descriptor(readingEntry: folder + "/" + path)
    let content: Result<[UInt8], SystemError> = Result { () throws(SystemError) in
      try file.readBytes(Self.largestFile + 1)
    }
    try file.closeFile()
    let bytes = try content.get()
    return bytes.count > Self.largestFile ? nil : bytes
  }

  /// The directory of a file, and its name there.
  func place(of path: String) -> (directory: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (folder, path) }
    return (folder + "/" + path[..<slash], String(path[path.utf8.index(after: slash)...]))
  }

  func replace(_ path: String, expecting old: [UInt8], with new: [UInt8]) throws(SystemError) {
    let (directory, name) = place(of: path)
    try OutputDirectory(directory).replace(name, expecting: old, with: new)
  }

  /// The names that all files declare.
  func names() -> PackageNames {
    var names = PackageNames()
    for path in sources {
      // What cannot be read is reported when it is migrated.
      if let bytes = try? read(path) { names.add(bytes) }
    }
    return names
  }
}
