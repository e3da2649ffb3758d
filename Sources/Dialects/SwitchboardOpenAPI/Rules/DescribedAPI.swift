import GoogleAPIMessages
import SwitchboardDescriptors
import SwitchboardHTTPRules
import SwitchboardProtobuf

/// The services that files declare, with the rules of their methods.
package struct DescribedAPI: Sendable {
  /// A method, its bindings, and where it is declared.
  package struct Method: Sendable {
    package let descriptor: Google_Protobuf_MethodDescriptorProto
    /// The full name: `shop.Books.GetBook`.
    package let fullName: String
    package let service: String
    package let bindings: [HTTPBinding]
    /// What the messages are on the wire, where they are not protobuf: the names of the formats.
    package let formats: (requests: String?, responses: String?)?
    /// The index of the file, and the path of the declaration in it.
    package let file: Int
    package let path: [Int32]

    /// The path of gRPC: `/shop.Books/GetBook`.
    package var grpcPath: String { "/\(service)/\(descriptor.name)" }

    /// The format in which HTTP clients can call the method although it is not protobuf: by Connect, with one message each
    /// way, of one format.
    var connectFormat: String? {
      guard let formats, !descriptor.clientStreaming, !descriptor.serverStreaming,
        formats.requests == formats.responses
      else { return nil }
      return formats.requests
    }

    /// Whether HTTP clients can call the method in a way that is described.
    var isDescribed: Bool { formats == nil ? !bindings.isEmpty : connectFormat != nil }
  }

  /// The files in the given order, in which imports come first.
  package let files: [Google_Protobuf_FileDescriptorProto]
  package private(set) var methods: [Method] = []

  /// What is allowed by the rules, and hardly meant.
  package var doubts: [String] {
    methods.flatMap { method in
      method.bindings.compactMap { RuleMistake.doubt(method.fullName, $0) }
    }
  }

  /// Parses serialized descriptors; duplicate files are skipped. `rules` for a method replace its annotation.
  package init(
    files data: [[UInt8]],
    services: Set<String>? = nil,
    rules: [HTTPRule] = []
  ) throws(HTTPRuleError) {
    var extensions = Google_Api_Annotations_Extensions
    extensions.formUnion(Google_Api_FieldBehavior_Extensions)
    var files: [Google_Protobuf_FileDescriptorProto] = []
    var names: Set<String> = []
    for bytes in data {
      do throws(DecodeError) {
        let file = try Google_Protobuf_FileDescriptorProto(serializedBytes: bytes, extensions: extensions)
        if names.insert(file.name).inserted { files.append(file) }
      } catch {
        throw HTTPRuleError("invalid descriptor: \(error)")
      }
    }
    self.files = files
    try addMethods(of: services, rules)
  }

  private mutating func addMethods(of services: Set<String>?, _ rules: [HTTPRule]) throws(HTTPRuleError) {
    var given: [String: [HTTPRule]] = [:]
    for rule in rules { given[rule.selector, default: []].append(rule) }
    let marks = PayloadMarks(in: files)
    for (fileIndex, file) in files.enumerated() {
      for (serviceIndex, service) in file.service.enumerated() {
        let name = file.package.isEmpty ? service.name : "\(file.package).\(service.name)"
        guard services?.contains(name) ?? true else { continue }
        for (index, method) in service.method.enumerated() {
          let fullName = "\(name).\(method.name)"
          var bindings: [HTTPBinding] = []
          if let rules = given.removeValue(forKey: fullName) {
            for rule in rules { bindings.append(try HTTPBinding(rule)) }
          } else {
            do throws(RuleMistake) {
              bindings = try RuleText(method.options.Google_Api_http).bindings(of: fullName)
            } catch { throw HTTPRuleError(error) }
          }
          methods.append(
            Method(
              descriptor: method,
              fullName: fullName,
              service: name,
              bindings: bindings,
              formats: marks.formats(of: method),
              file: fileIndex,
              path: [6, Int32(serviceIndex), 2, Int32(index)]
            )
          )
        }
      }
    }
    if let unknown = given.keys.sorted().first {
      throw HTTPRuleError(
        "a rule names the method \(unknown), which no described service has: methods are named like "
          + "shop.Books.GetBook, and services are described if they are generated with ReflectionData=true"
      )
    }
  }
}
