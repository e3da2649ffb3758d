import ConsoleMessages
import SwitchboardNetwork
import SwitchboardSchema
import SwitchboardTransport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What the process is made of. Its environment and its arguments are not shown: both often have secrets.
enum ProcessFacts {
  static let lines: [Switchboard_Console_V1_Option] = [
    line("Switchboard", Release.version), line("Swift", swift), line("OpenSSL", OpenSSL.version),
    line("nghttp2", HTTP2Library.version), line("libuv", Loop.libraryVersion), line("Built for", build),
    line("Process ID", "\(getpid())"), line("Processors", "\(ProcessMemory.processors)"),
    .with {
      let value = shortcuts
      $0.name = "Shortcuts of HTTP/2"
      ($0.value, $0.standard) = (value ?? "on", "on")
      $0.isChanged = value != nil
      $0.source = value == nil ? "" : variable
    },
  ]

  private static func line(_ name: String, _ value: String) -> Switchboard_Console_V1_Option {
    .with { ($0.name, $0.value, $0.standard) = (name, value, value) }
  }

  private static let variable = "SWITCHBOARD_SHORTCUTS"

  private static var shortcuts: String? {
    getenv(variable).map { String(cString: $0) }.flatMap { $0.utf8.elementsEqual("off".utf8) ? $0 : nil }
  }

  /// The compiler's: the language's own library does not tell its version.
  private static var swift: String {
    #if compiler(>=6.4)
      "6.4 or newer"
    #elseif compiler(>=6.3)
      "6.3"
    #elseif compiler(>=6.2)
      "6.2"
    #else
      "6.1"
    #endif
  }

  private static var build: String {
    #if DEBUG
      "debugging"
    #else
      "release"
    #endif
  }
}
