import SwitchboardGenerator

extension GenerateVerb {
  /// The help text, for a program or a verb that is called `name`.
  package static func help(as name: String) -> String {
    """
    Generates Swift from .proto files, without protoc.

    usage: \(name) [-I DIR]... --output DIR [--option Key=Value]... FILE...
           \(name) --configuration JSON --output DIR [FLAG]... [FILE]...
           \(name) --descriptor-set SET --output DIR [--option Key=Value]... [FILE]...

      -I, --include DIR          Look for FILEs and imports in DIR; the first match wins. The default is
                                 the current directory. The well-known types are always found.
      -o, --output DIR           Write to this directory; it is created if it does not exist.
      --option Key=Value         Set an option of the generator (below).
      --configuration JSON       Take files, include directories and options from a switchboard.json, with the
                                 paths in it relative to it. If it names no files, it means every .proto in
                                 its directory and below. FILEs replace its files; directories and options
                                 of flags are added to its own.
      --descriptor-set SET       Read compiled files instead of sources: a serialized FileDescriptorSet, with all
                                 imports, from any compiler. protoc writes one with --descriptor_set_out and
                                 --include_imports (--include_source_info keeps comments), buf with
                                 'buf build -o SET.binpb'. FILEs are names in it; the default is
                                 all files but the well-known types.
      --expect NAME              Always write the output file NAME, and fail if a file would be generated
                                 that no --expect names: for builds that must know their files in advance.
      -h, --help                 Show this.
      --                         Treat all further arguments as FILEs.

    The generator's options; docs/reference/Generator.md describes their values:

    \(lines(of: Generator.optionNames))

    PayloadMappings=FILE maps messages to your own types and their marshallers.

    Errors in a .proto have the form PATH:LINE:COLUMN: error: MESSAGE. Files whose content does not change
    are not rewritten.

    The exit code is 0 for success, 1 for a file that is wrong or cannot be read or written (a .proto, a
    switchboard.json, a file that an option names, the output), and 2 for an error in the arguments.
    """
  }

  /// `names` separated by commas, wrapped into lines.
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
