#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension GenerateArguments {
  /// These arguments together with what the configuration file says that they name, if they name one.
  func configured() throws(CommandFailure) -> GenerateArguments {
    guard let configuration else { return self }
    let file = URL(fileURLWithPath: configuration)
    let content: Configuration
    do throws(ConfigurationError) {
      content = try Configuration(file: file)
    } catch {
      throw CommandFailure(lines: [error.description], exitCode: .usage)
    }
    var merged = self
    merged.includeDirectories = content.includes.map { path($0, beside: file) } + includeDirectories
    merged.options = optionTexts(of: content, beside: file) + options
    if files.isEmpty { merged.files = (content.protos ?? []).map { path($0, beside: file) } }
    guard !merged.files.isEmpty else {
      throw CommandFailure(
        "no .proto files to generate for, neither here nor in \(configuration)",
        exitCode: .usage
      )
    }
    return merged
  }

  private func optionTexts(of content: Configuration, beside file: URL) -> [String] {
    content.options.sorted { $0.key < $1.key }.flatMap { key, values in
      values.map { value in
        "\(key)=\(Configuration.pathOptions.contains(key) ? path(value, beside: file) : value)"
      }
    }
  }

  /// Where `path` leads that stands in `file`.
  private func path(_ path: String, beside file: URL) -> String {
    path.hasPrefix("/") ? path : file.deletingLastPathComponent().appendingPathComponent(path).path
  }
}
