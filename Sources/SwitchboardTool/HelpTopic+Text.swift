import SwitchboardGenerator

extension HelpTopic {
  /// What the user reads about this.
  var text: String {
    switch self {
    case .overview: Self.overviewText
    case .generate: Self.generateText
    }
  }

  private static let overviewText = """
    Generates Swift from .proto files: messages, and gRPC clients and servers.

    usage: switchboard generate [-I DIR]... --output DIR [--option Key=Value]... FILE...
           switchboard help [generate]
           switchboard --help | --version

    The exit code is 0 for success, 1 where a .proto or an output file has an error, and 2 where
    the arguments have one.
    """

  private static let generateText = """
    Generates Swift from .proto files, without a protoc.

    usage: switchboard generate [-I DIR]... --output DIR [--option Key=Value]... FILE...
           switchboard generate --configuration JSON --output DIR [FLAG]... [FILE]...
           switchboard generate --descriptor-set SET --output DIR [--option Key=Value]... [FILE]...

      -I, --include DIR          Look for FILEs and imports in DIR; the first match wins. Without it: in
                                 the current directory. The well-known types are found anyway.
      -o, --output DIR           Write to this directory; it is made where it does not exist.
      --option Key=Value         Set an option of the generator (below).
      --configuration JSON       Take files, include directories and options from a switchboard.json, with the
                                 paths in it relative to it. One that names no files takes every .proto beside
                                 it and below it. FILEs take the place of its own; directories and options of
                                 flags come after its own.
      --descriptor-set SET       Read compiled files instead of sources: a serialized FileDescriptorSet, with all
                                 imports, from any compiler. protoc writes one with --descriptor_set_out and
                                 --include_imports (--include_source_info keeps comments), buf with
                                 'buf build -o SET.binpb'. FILEs are names in it; without any, it generates for
                                 all but the well-known types.
      --expect NAME              Write the output file NAME in any case, and none that no --expect names:
                                 for builds that must know their files beforehand.
      -h, --help                 Show this.
      --                         What follows are FILEs.

    The generator's options, whose values are in docs/Generator.md:

    \(lines(of: Generator.optionNames))

    PayloadMappings=FILE names types of your own, and the marshallers for them, that messages travel as.

    An error in a .proto reads PATH:LINE:COLUMN: error: MESSAGE. Files whose content stays the same are not
    written again.
    """

  /// `names` between commas, in lines of a width to read.
  private static func lines(of names: [String]) -> String {
    var lines = [""]
    for (index, name) in names.enumerated() {
      let word = index + 1 < names.count ? name + "," : name
      let line = lines[lines.count - 1]
      if line.count + word.count > 100 {
        lines.append("  " + word)
      } else {
        lines[lines.count - 1] = line + (line.isEmpty ? "  " : " ") + word
      }
    }
    return lines.joined(separator: "\n")
  }
}
