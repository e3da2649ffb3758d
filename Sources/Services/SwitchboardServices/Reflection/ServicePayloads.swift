import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardText

/// What the messages of a service are, where they are not protobuf.
struct ServicePayloads {
  let name: String
  /// The methods, with the names of the formats of messages that are not protobuf.
  let formats: [(method: String, requests: String?, responses: String?)]
  private let methods: [MethodDescriptor]

  init(_ provider: any CallHandlerProvider) {
    name = provider.serviceName
    let handlers = provider.methodHandlers
    methods = handlers.map(\.method)
    formats = handlers.map { handler in
      let foreign = handler.foreignFormats
      return (method: handler.method.method, requests: foreign.requests, responses: foreign.responses)
    }
  }

  /// A file that declares a service without a `.proto`, as `reflectionData` has it. Its messages are but names, since those
  /// of the methods are not protobuf. Empty if some are, of types that are not known here, or if names are none.
  var declaration: [String] {
    guard !formats.isEmpty, formats.allSatisfy({ $0.requests != nil && $0.responses != nil }),
      (parts + methods.map { $0.method[...] }).allSatisfy(Self.isName),
      let bytes: [UInt8] = try? file.serializedBytes()
    else { return [] }
    return [String(decoding: Base64.encode(bytes), as: UTF8.self)]
  }

  /// The parts of the name between dots, of which the last is that of the service.
  private var parts: [Substring] {
    name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Substring($0) }
  }

  private var file: Google_Protobuf_FileDescriptorProto {
    .with { file in
      file.name = "\(name).proto"
      file.package = parts.dropLast().joined(separator: ".")
      file.syntax = "proto3"
      file.messageType = methods.flatMap { method in
        ["Request", "Response"].map { kind in .with { $0.name = message(kind, of: method) } }
      }
      file.service = [
        .with {
          $0.name = String(parts.last ?? "")
          $0.method = methods.map(declared)
        }
      ]
    }
  }

  private func message(_ kind: String, of method: MethodDescriptor) -> String {
    "\(parts.last ?? "")_\(method.method)\(kind)"
  }

  private func declared(_ method: MethodDescriptor) -> Google_Protobuf_MethodDescriptorProto {
    let scope = parts.dropLast().map { ".\($0)" }.joined() + "."
    return .with {
      $0.name = method.method
      $0.inputType = scope + message("Request", of: method)
      $0.outputType = scope + message("Response", of: method)
      if method.type.streamsRequests { $0.clientStreaming = true }
      if method.type.streamsResponses { $0.serverStreaming = true }
    }
  }

  /// Whether a name can be declared in a `.proto`.
  private static func isName(_ name: Substring) -> Bool {
    guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
      default: false
      }
    }
  }
}
