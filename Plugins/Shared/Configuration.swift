#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the file `switchboard.json` beside a target's `.proto` files says.
///
/// The plugins plan by it which files there will be. The tool reads it again, since a plan outlives changes
/// to it: the package manager plans anew only when files come or go.
struct Configuration: Hashable {
  static let fileName = "switchboard.json"
  /// The options whose value is a path.
  static let pathOptions: Set<String> = ["PayloadMappings", "ProtoPathModuleMappings"]

  /// The files to generate for, relative to the configuration; `nil` is every `.proto` beside and below it.
  var protos: [String]?
  /// The roots of imports, relative to the configuration.
  var includes: [String] = ["."]
  /// The generator's options. One that is a list is set once for each of its elements.
  var options: [String: [String]] = [:]
}

/// Why a target's files cannot be generated, as its author reads it.
struct ConfigurationError: Error, Hashable, CustomStringConvertible {
  /// The file as it was given, and the line and the column where they are known.
  var place: String
  var problem: String

  var description: String { "\(place): \(problem)" }

  init(_ file: URL, _ problem: String, at fault: JSONFault? = nil) {
    place = file.relativePath + (fault.map { ":\($0.line):\($0.column)" } ?? "")
    self.problem = problem
  }
}

extension Configuration {
  /// Reads the configuration that is the content of `file`.
  init(_ content: Data, from file: URL) throws(ConfigurationError) {
    do {
      self = try JSONDecoder().decode(Configuration.self, from: content)
    } catch let DecodingError.dataCorrupted(context) where context.codingPath.isEmpty {
      // What the decoder says of the place is not the same on every system.
      let fault = JSONFault(in: Array(content))
      throw ConfigurationError(
        file,
        "not valid JSON" + (fault.map { ": expected \($0.expected)" } ?? ""),
        at: fault
      )
    } catch let error as UnknownKey {
      throw ConfigurationError(
        file,
        "unknown key \"\(error.name)\"; the keys are protos, includes and options"
      )
    } catch let error as DecodingError {
      throw ConfigurationError(file, error.problem)
    } catch {
      throw ConfigurationError(file, "\(error)")
    }
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

/// A key of the file's object that says nothing to us.
private struct UnknownKey: Error {
  var name: String
}

/// Any name of a JSON object's field.
private struct AnyKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// A value that people may write for an option: `true`, `"Public"`, or a list of such.
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
  /// What is wrong, without the type names that the standard description is full of.
  fileprivate var problem: String {
    switch self {
    case .dataCorrupted(let context):
      return "'\(context.path)': \(context.debugDescription)"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context):
      let place = context.codingPath.isEmpty ? "the file" : "'\(context.path)'"
      return
        "\(place) is not of the right kind: the file is an object whose 'protos' and 'includes' are lists of "
        + "strings and whose 'options' is an object"
    @unknown default:
      return "\(self)"
    }
  }
}

extension DecodingError.Context {
  fileprivate var path: String { codingPath.map(\.stringValue).joined(separator: ".") }
}
