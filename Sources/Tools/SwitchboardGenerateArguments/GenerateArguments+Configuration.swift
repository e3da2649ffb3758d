import SwitchboardToolSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension GenerateArguments {
  /// These arguments merged with those of the configuration file that they name, if any.
  package func configured() throws(CommandFailure) -> GenerateArguments {
    guard let configuration else { return self }
    let file = URL(fileURLWithPath: configuration)
    let bytes = try CommandFailure.catching(.failed) { () throws(SystemError) in try readFile(configuration) }
    var merged = self
    do throws(ConfigurationError) {
      let content = try Configuration(Data(bytes), from: file)
      merged.includeDirectories =
        content.includes.map { path($0, beside: configuration) } + includeDirectories
      let texts = optionTexts(of: content, beside: configuration)
      merged.configuredOptions = texts.map(\.text)
      for (key, text) in texts {
        let position = JSONPosition(ofKey: key, in: bytes)
        merged.origins[text] = configuration + (position.map { ":\($0.line):\($0.column)" } ?? "")
      }
      if files.isEmpty {
        merged.files = try content.protoPaths(beside: file).map { path($0, beside: configuration) }
      }
    } catch {
      throw CommandFailure(lines: ["\(error.location): error: \(error.problem)"], exitCode: .failed)
    }
    return merged
  }

  private func optionTexts(
    of content: Configuration,
    beside file: String
  ) -> [(key: String, text: String)] {
    content.options.sorted { $0.key < $1.key }.flatMap { key, values in
      values.map { value in
        // An empty path is a mistake, and not that of the file's directory.
        let isPath = Configuration.pathOptions.contains(key) && !value.isEmpty
        return (key, "\(key)=\(isPath ? path(value, beside: file) : value)")
      }
    }
  }

  /// Resolves `path`, which is relative to the directory of `file`.
  private func path(_ path: String, beside file: String) -> String {
    guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
    return file[...slash] + path
  }
}
