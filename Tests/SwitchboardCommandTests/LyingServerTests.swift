import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardServices
import TestSupport
import Testing

/// Servers whose descriptors are wrong: the command says so, and ends.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LyingServerTests {
  /// How a server answers questions.
  enum Lie: String, CaseIterable, Sendable {
    case cycle, missingImport, twoFiles, garbage, nothing, otherSymbol, unknownType, deep, endlessImports,
      silence, error
    case controlCharacters, shellWords, mute, details, otherAnswer
  }

  private struct Liar: Grpc_Reflection_V1_ServerReflectionProvider {
    var interceptors: Interceptors? { nil }

    let lie: Lie
    let questions: Questions

    func serverReflectionInfo(
      requestStream: RequestStream<Grpc_Reflection_V1_ServerReflectionRequest>,
      responseStream: ResponseStreamWriter<Grpc_Reflection_V1_ServerReflectionResponse>,
      context: ServerCallContext
    ) async throws {
      for try await request in requestStream {
        guard lie != .silence else { return }
        questions.count.withLock { $0 += 1 }
        if lie == .mute, case .listServices? = request.messageRequest { continue }
        if lie == .mute { try await Task.sleep(for: .seconds(60)) }
        try await responseStream.send(try answer(request))
      }
    }

    private func answer(
      _ request: Grpc_Reflection_V1_ServerReflectionRequest
    ) throws -> Grpc_Reflection_V1_ServerReflectionResponse {
      var response = Grpc_Reflection_V1_ServerReflectionResponse()
      switch request.messageRequest {
      case .listServices?:
        response.listServicesResponse.service = names.map { name in .with { $0.name = name } }
      case .fileByFilename(let name)?:
        guard lie == .endlessImports || lie == .cycle else {
          response.errorResponse.errorCode = 5
          break
        }
        response.fileDescriptorResponse.fileDescriptorProto = try [imported(name)].map {
          try $0.serializedBytes()
        }
      case .fileContainingSymbol(let name)? where lie == .details && !name.hasPrefix("lie."):
        response.errorResponse.errorCode = 5
      default:
        if lie == .otherAnswer {
          response.listServicesResponse.service = [.with { $0.name = "lie.S" }]
        } else if lie == .error {
          response.errorResponse = .with {
            $0.errorCode = 7
            $0.errorMessage = "not for you"
          }
        } else {
          response.fileDescriptorResponse.fileDescriptorProto = try files()
        }
      }
      return response
    }

    private var names: [String] {
      switch lie {
      case .controlCharacters: ["a\u{1B}[2J.S"]
      case .shellWords: ["lie.S", "$(id)", "`id`", "a;b", "-oX", "lie.T\nfake.S", "a\u{2028}b"]
      default: ["lie.S"]
      }
    }

    private func imported(_ name: String) -> Google_Protobuf_FileDescriptorProto {
      .with {
        $0.name = name
        $0.dependency =
          lie == .cycle ? ["lie.proto"] : [name + "x".suffix(name.count > 20 ? 0 : 1) + "\(name.hashValue)"]
      }
    }

    private func files() throws -> [[UInt8]] {
      var file = Google_Protobuf_FileDescriptorProto.with {
        $0.name = "lie.proto"
        $0.package = "lie"
        $0.messageType = [.with { $0.name = "M" }]
        $0.service = [
          .with {
            $0.name = "S"
            $0.method = [
              .with {
                $0.name = "Call"
                $0.inputType = ".lie.M"
                $0.outputType = ".lie.M"
              }
            ]
          }
        ]
      }
      switch lie {
      case .cycle, .endlessImports, .missingImport: file.dependency = ["other.proto"]
      case .twoFiles:
        var other = file
        other.package = "other"
        return [try file.serializedBytes(), try other.serializedBytes()]
      case .garbage: return [[0xFF, 0xFF, 0xFF]]
      case .nothing: return []
      case .otherSymbol: file.package = "elsewhere"
      case .unknownType: file.service[0].method[0].inputType = ".lie.Gone"
      case .deep:
        var message = Google_Protobuf_DescriptorProto.with { $0.name = "M" }
        for _ in 0..<70 {
          let inner = message
          message = .with {
            $0.name = "M"
            $0.nestedType = [inner]
          }
        }
        file.messageType = [message]
      default: break
      }
      return [try file.serializedBytes()]
    }
  }

  /// Fails with details of types that nobody declares, each with very many parts.
  private struct Detailed: CallHandlerProvider {
    let serviceName = "lie.S"
    let methodHandlers: [MethodHandler] = [
      Method(
        MethodDescriptor(service: "lie.S", method: "Call", type: .unary),
        requests: BytesMarshaller(),
        responses: BytesMarshaller()
      ).unaryHandler { _, _ in
        throw try GRPCStatus(
          Google_Rpc_Status.with {
            $0.code = 5
            $0.details = (0..<40).map { number in
              .with { $0.typeURL = "t/" + String(repeating: "a.", count: 200) + "T\(number)" }
            }
          }
        )
      }
    ]
  }

  private static let complaints: [Lie: String] = [
    .cycle: "which imports it", .missingImport: "imports other.proto, which is missing",
    .twoFiles: "called lie.proto and differ",
    .garbage: "an invalid descriptor", .unknownType: "'lie.Gone', which is not declared",
    .deep: "nested too deep",
    .endlessImports: "as descriptors", .silence: "left questions unanswered",
    .error: "PERMISSION_DENIED: not for you", .mute: "DEADLINE_EXCEEDED", .details: "NOT_FOUND",
    .otherAnswer: "answers another question than was asked",
  ]

  @Test(arguments: Lie.allCases) func inconsistentAnswersAreReported(_ lie: Lie) async throws {
    let questions = Questions()
    try await withServer([Liar(lie: lie, questions: questions)] + (lie == .details ? [Detailed()] : [])) {
      _,
      address async throws in
      let target = "\(address)"
      for arguments in [
        ["list", target, "lie.S"], ["describe", target, "lie.S"], ["call", target, "lie.S/Call", "-d", "{}"],
        ["describe", target, "--tree"], ["complete", "--", "call", target, ""],
      ] where lie != .mute || arguments[0] == "call" {
        let arguments = arguments + (lie == .mute ? ["-t", "300ms"] : [])
        let run = try Command.product("switchboard", arguments)
        // Not a signal: those are above 128.
        #expect(run.exitCode < 128, "\(arguments): \(run.errors)")
        #expect(!run.output.contains(0x1B) && !run.errors.utf8.contains(0x1B))
        guard arguments[0] == "call" else { continue }
        #expect(run.exitCode != 0)
        #expect(run.errors.hasPrefix("switchboard: "))
        if let complaint = Self.complaints[lie] { #expect(run.errors.contains(complaint), "\(run.errors)") }
      }
      // One for the service, and a few for what the details may be.
      if lie == .details { #expect(questions.count.withLock { $0 } < 200) }
      guard lie != .mute else { return }
      let list = try Command.product("switchboard", ["list", target])
      #expect(!list.output.contains(0x1B))
      if lie == .shellWords {
        // A line for each name, and nothing that a shell would do to complete one.
        #expect(list.output.count { $0 == UInt8(ascii: "\n") } == 7)
        let words = try Command.product("switchboard", ["complete", "--", "list", target, ""])
        #expect(String(decoding: words.output, as: UTF8.self) == "lie.S\n")
      }
    }
  }
}
