import SwitchboardGenerateVerb
import SwitchboardToolSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The program `switchboard-generate`, which the build plugin compiles in every user's build and runs: the verb
/// `generate` of `switchboard`, without anything else.
@main struct SwitchboardGenerate {
  static func main() async {
    prepareStandardStreams()
    let arguments = Array(CommandLine.arguments.dropFirst())
    let name = "switchboard-generate"
    exit(await GenerateVerb.run(arguments, as: name, hint: "\(name) --help"))
  }
}
