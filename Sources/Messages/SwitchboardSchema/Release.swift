/// Which release this is: what the tools print, what telemetry sends, and what generated code says it came from.
package enum Release {
  package static let version = "0.1.0"

  /// The type that generated code refers to, which only fitting libraries have. Patches fit each other.
  package static var generatedCodeCheck: String {
    "_GeneratedBySwitchboard_" + version.split(separator: ".").prefix(2).joined(separator: "_")
  }
}
