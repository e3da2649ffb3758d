#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The contents of the file `switchboard.json` next to a target's `.proto` files.
///
/// The plugins use it to plan which files will be generated. The tool reads it again, because a plan can be older than
/// the file: the package manager plans again only when files are added or removed.
struct Configuration: Hashable {
  static let fileName = "switchboard.json"
  /// The options whose values are paths.
  static let pathOptions: Set<String> = ["PayloadMappings", "ProtoPathModuleMappings"]

  /// The files to generate for, relative to the configuration; `nil` means every `.proto` file in its directory or
  /// below.
  var protos: [String]?
  /// The roots of imports, relative to the configuration.
  var includes: [String] = ["."]
  /// The generator's options. A list sets the option once for each of its elements.
  var options: [String: [String]] = [:]
}

/// Why a target's files cannot be generated, for the author of the target.
struct ConfigurationError: Error, Hashable, CustomStringConvertible {
  /// The path of the file as it was given, with the line and column if they are known.
  var location: String
  var problem: String

  var description: String { "\(location): \(problem)" }

  init(_ file: URL, _ problem: String, at position: JSONPosition? = nil) {
    location = file.relativePath + (position.map { ":\($0.line):\($0.column)" } ?? "")
    self.problem = problem
  }

  /// A file that is not JSON, and where, if that is known.
  init(_ file: URL, notJSON fault: JSONFault?) {
    self.init(file, "not valid JSON" + (fault.map { ": \($0.problem)" } ?? ""), at: fault?.position)
  }

  /// A problem with a key of the file.
  init(_ file: URL, _ problem: String, atKey name: String, in content: Data) {
    self.init(file, problem, at: JSONPosition(ofKey: name, in: Array(content)))
  }
}

extension Configuration {
  /// Parses the configuration in `content`, read from `file`.
  init(_ content: Data, from file: URL) throws(ConfigurationError) {
    if let fault = JSONStringFault(in: Array(content)) {
      throw ConfigurationError(file, fault.problem, at: fault.position)
    }
    let fault = JSONFault(in: Array(content))
    do {
      if fault?.isTrailingComma == true { throw TrailingComma() }
      self = try JSONDecoder().decode(Configuration.self, from: content)
      guard !includes.isEmpty else { throw NoIncludes() }
      if let pattern = pattern(beside: file) { throw Pattern(text: pattern) }
    } catch let pattern as Pattern {
      throw ConfigurationError(
        file,
        "'protos' has the pattern '\(pattern.text)', and patterns are not read: name each file, or leave 'protos' out for "
          + "every .proto in the directory of this file and below",
        atKey: "protos",
        in: content
      )
    } catch is NoIncludes {
      throw ConfigurationError(
        file,
        "'includes' is empty: name the directories to which imports are relative, or leave it out for the file's own",
        atKey: "includes",
        in: content
      )
    } catch is TrailingComma {
      throw ConfigurationError(file, notJSON: fault)
    } catch let DecodingError.dataCorrupted(context) where context.codingPath.isEmpty {
      // The decoder's description of the position differs between systems.
      throw ConfigurationError(file, notJSON: fault)
    } catch let error as UnknownKey {
      throw ConfigurationError(
        file,
        "unknown key \"\(error.name)\": the keys are protos, includes and options\(Self.meant(by: error.name))",
        atKey: error.name,
        in: content
      )
    } catch let error as DecodingError {
      throw ConfigurationError(file, error.problem, atKey: error.key, in: content)
    } catch {
      throw ConfigurationError(file, "\(error)")
    }
  }
}

extension Configuration {
  /// What stands in `protos` for several files, as shells have it.
  private func pattern(beside file: URL) -> String? {
    protos?.first { path in
      path.contains(where: { "*?[{".contains($0) })
        && !FileManager.default.fileExists(atPath: URL(fileURLWithPath: path, relativeTo: file).path)
    }
  }

  /// What makes documents of OpenAPI, if a key asks for one; where it belongs, if it is an option, whose names are in capitals.
  private static func meant(by key: String) -> String {
    if key.hasPrefix("OpenAPI") { return "; a document of OpenAPI is made by 'switchboard openapi'" }
    return key.first?.isUppercase == true ? "; an option belongs in 'options'" : ""
  }
}

extension Configuration: Decodable {
  private enum Key: String, CodingKey {
    case protos, includes, options
  }

  init(from decoder: any Decoder) throws {
    for name in try decoder.container(keyedBy: AnyKey.self).allKeys
    where Key(rawValue: name.stringValue) == nil {
      throw UnknownKey(name: name.stringValue)
    }
    let fields = try decoder.container(keyedBy: Key.self)
    protos = try fields.decodeIfPresent([String].self, forKey: .protos)
    includes = try fields.decodeIfPresent([String].self, forKey: .includes) ?? includes
    options =
      try fields.decodeIfPresent([String: OptionValue].self, forKey: .options)?.mapValues(\.texts) ?? [:]
  }
}

/// No directory is left in which imports could be found.
private struct NoIncludes: Error {}

/// A pattern in place of a file's name.
private struct Pattern: Error {
  var text: String
}

/// A comma after the last member or element. Decoders differ in whether they allow it.
private struct TrailingComma: Error {}

/// An unknown key in the file's object.
private struct UnknownKey: Error {
  var name: String
}

/// A key with any name.
private struct AnyKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// A value of an option: `true`, `"Public"`, or a list of such values.
private struct OptionValue: Decodable {
  var texts: [String]

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let isOn = try? value.decode(Bool.self) {
      texts = [isOn ? "true" : "false"]
    } else if let text = try? value.decode(String.self) {
      texts = [text]
    } else if let list = try? value.decode([String].self) {
      texts = list
    } else {
      throw DecodingError.dataCorruptedError(
        in: value,
        debugDescription: "an option is true, false, a string or a list of strings"
      )
    }
  }
}

extension DecodingError {
  /// The name of the key whose value is wrong; empty for the whole file.
  fileprivate var key: String {
    switch self {
    case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
      .keyNotFound(_, let context):
      context.codingPath.last { $0.intValue == nil }?.stringValue ?? ""
    @unknown default: ""
    }
  }

  /// What is wrong, without the type names of the standard description.
  fileprivate var problem: String {
    switch self {
    case .dataCorrupted(let context):
      return "'\(context.path)': \(context.debugDescription)"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context):
      let member = context.codingPath.isEmpty ? "the file" : "'\(context.path)'"
      return
        "\(member) has the wrong type: the file must be an object whose 'protos' and 'includes' are lists of "
        + "strings and whose 'options' are an object"
    @unknown default:
      return "\(self)"
    }
  }
}

extension DecodingError.Context {
  fileprivate var path: String { codingPath.map(\.stringValue).joined(separator: ".") }
}
