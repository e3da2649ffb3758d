import SwitchboardCommand
import SwitchboardToolSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The program `switchboard`.
@main struct SwitchboardTool {
  static func main() async {
    prepareStandardStreams()
    let code = await SwitchboardCommand.run(Array(CommandLine.arguments.dropFirst()))
    // Not `exit`: it would take libraries down under the threads that still use them. All output has been written.
    _exit(code)
  }
}
