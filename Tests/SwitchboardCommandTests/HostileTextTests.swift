import EchoService
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardText
import TestSupport
import Testing
import XDSMessages

@testable import SwitchboardCommand

/// Whatever a server or a file says, no verb writes it to the terminal as it is.
@Suite(.mayBlock, .timeLimit(.minutes(10))) struct HostileTextTests {
  /// Escape sequences in both of their forms, a line of its own in four ways, and reversed text.
  static let hostile =
    "x\u{1B}]0;owned\u{7}\u{1B}[2J\u{9B}31m\nforged\r\nforged\u{2028}forged\u{202E}\u{2066}\u{200B}\u{E0041}y"

  /// Where the hostile text is.
  enum Place: CaseIterable, Sendable {
    /// In all names of the descriptors.
    case names
    /// Where a compiler accepts any text: comments, options, default values, messages.
    case texts
  }

  private static func file(_ place: Place) -> Google_Protobuf_FileDescriptorProto {
    func name(_ name: String) -> String { place == .names ? name + hostile : name }
    return .with {
      $0.name = name("lie.proto")
      $0.package = name("lie")
      $0.syntax = "proto2"
      $0.options.javaPackage = hostile
      $0.options.uninterpretedOption = [.with { $0.identifierValue = hostile }]
      $0.messageType = [
        .with {
          $0.name = name("M")
          $0.oneofDecl = [.with { $0.name = name("choice") }]
          $0.field = [
            .with {
              $0.name = name("text")
              $0.number = 1
              $0.type = .string
              $0.label = .optional
              $0.jsonName = name("text")
              $0.defaultValue = hostile
            },
            .with {
              $0.name = name("kind")
              $0.number = 2
              $0.type = .enum
              $0.label = .optional
              $0.typeName = "." + name("lie") + "." + name("E")
              $0.oneofIndex = 0
            },
          ]
          $0.reservedName = [hostile]
        }
      ]
      $0.enumType = [
        .with {
          $0.name = name("E")
          $0.value = [
            .with {
              $0.name = name("ZERO")
              $0.number = 0
            }
          ]
        }
      ]
      $0.service = [
        .with {
          $0.name = name("S")
          $0.method = [
            .with {
              $0.name = name("Call")
              $0.inputType = "." + name("lie") + "." + name("M")
              $0.outputType = "." + name("lie") + "." + name("M")
            }
          ]
        }
      ]
      let paths: [[Int32]] = [[4, 0], [4, 0, 2, 0], [6, 0], [6, 0, 2, 0]]
      $0.sourceCodeInfo.location = paths.map { path in
        .with {
          $0.path = path
          $0.span = [0, 0, 0]
          $0.leadingComments = hostile
          $0.trailingComments = hostile
        }
      }
    }
  }

  private struct Reflection: Grpc_Reflection_V1_ServerReflectionProvider {
    var interceptors: Interceptors? { nil }

    let place: Place

    func serverReflectionInfo(
      requestStream: RequestStream<Grpc_Reflection_V1_ServerReflectionRequest>,
      responseStream: ResponseStreamWriter<Grpc_Reflection_V1_ServerReflectionResponse>,
      context: ServerCallContext
    ) async throws {
      for try await request in requestStream {
        var response = Grpc_Reflection_V1_ServerReflectionResponse()
        switch request.messageRequest {
        case .listServices?:
          let services = ["lie.S", hostile, "lie\(hostile).S\(hostile)"]
          response.listServicesResponse.service = services.map { name in .with { $0.name = name } }
        case .fileContainingSymbol("refused")?:
          response.errorResponse.errorCode = 7
          response.errorResponse.errorMessage = hostile
        case .fileContainingSymbol(let name)? where !name.hasPrefix("lie"):
          response.errorResponse.errorCode = 5
        default:
          response.fileDescriptorResponse.fileDescriptorProto = [try file(place).serializedBytes()]
        }
        try await responseStream.send(response)
      }
    }
  }

  /// Answers with hostile text, as a message or as a status with metadata and details.
  private struct Service: CallHandlerProvider {
    let serviceName = "lie.S"
    let methodHandlers: [MethodHandler] = [
      Method(
        MethodDescriptor(service: "lie.S", method: "Call", type: .unary),
        requests: BytesMarshaller(),
        responses: BytesMarshaller()
      ).unaryHandler { request, _ in
        if request.isEmpty { return [0x0A, UInt8(hostile.utf8.count)] + Array(hostile.utf8) }
        throw try GRPCStatus(
          Google_Rpc_Status.with {
            $0.code = 5
            $0.message = hostile
            $0.details = [
              .with { $0.typeURL = "t/" + hostile },
              try Google_Protobuf_Any(message: Google_Rpc_ErrorInfo.with { $0.reason = hostile }),
            ]
          }
        )
      }
    ]
  }

  private struct Channelz: Grpc_Channelz_V1_ChannelzProvider {
    var interceptors: Interceptors? { nil }

    private var channel: Grpc_Channelz_V1_Channel {
      .with {
        $0.ref.name = hostile
        $0.ref.channelID = 1
        $0.data.target = hostile
        $0.socketRef = [
          .with {
            $0.socketID = 2
            $0.name = hostile
          }
        ]
      }
    }

    func getTopChannels(
      request: Grpc_Channelz_V1_GetTopChannelsRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetTopChannelsResponse { .with { $0.channel = [channel] } }

    func getServers(
      request: Grpc_Channelz_V1_GetServersRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetServersResponse {
      .with {
        $0.server = [
          .with {
            $0.ref.name = hostile
            $0.listenSocket = [.with { $0.name = hostile }]
          }
        ]
      }
    }

    func getServer(
      request: Grpc_Channelz_V1_GetServerRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetServerResponse { throw GRPCStatus(code: .notFound) }

    func getServerSockets(
      request: Grpc_Channelz_V1_GetServerSocketsRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetServerSocketsResponse {
      throw GRPCStatus(code: .notFound, message: hostile)
    }

    func getChannel(
      request: Grpc_Channelz_V1_GetChannelRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetChannelResponse { .with { $0.channel = channel } }

    func getSubchannel(
      request: Grpc_Channelz_V1_GetSubchannelRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetSubchannelResponse { throw GRPCStatus(code: .notFound) }

    func getSocket(
      request: Grpc_Channelz_V1_GetSocketRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetSocketResponse {
      .with {
        $0.socket.ref.name = hostile
        $0.socket.security.tls.standardName = hostile
      }
    }
  }

  private struct ClientStatus: Envoy_Service_Status_V3_ClientStatusDiscoveryServiceProvider {
    var interceptors: Interceptors? { nil }

    private func resource(
      _ contents: some Message,
      _ status: Envoy_Admin_V3_ClientResourceStatus
    ) throws -> Envoy_Service_Status_V3_ClientConfig.GenericXdsConfig {
      let packed = try Google_Protobuf_Any(message: contents)
      return .with {
        ($0.typeURL, $0.name, $0.versionInfo, $0.clientStatus) = (packed.typeURL, hostile, hostile, status)
        $0.xdsConfig = packed
        ($0.errorState.details, $0.errorState.versionInfo) = (hostile, hostile)
      }
    }

    func fetchClientStatus(
      request: Envoy_Service_Status_V3_ClientStatusRequest,
      context: ServerCallContext
    ) async throws -> Envoy_Service_Status_V3_ClientStatusResponse {
      let routes = Envoy_Config_Route_V3_RouteConfiguration.with {
        $0.virtualHosts = [
          .with {
            $0.domains = [hostile]
            $0.routes = [
              .with {
                $0.match.path = hostile
                $0.match.headers = [.with { $0.name = hostile }]
                $0.route.cluster = hostile
              }
            ]
          }
        ]
      }
      let endpoints = Envoy_Config_Endpoint_V3_ClusterLoadAssignment.with {
        $0.endpoints = [
          .with {
            $0.locality.zone = hostile
            $0.lbEndpoints = [.with { $0.endpoint.address.socketAddress.address = hostile }]
          }
        ]
      }
      let resources = [
        try resource(routes, .nacked), try resource(Envoy_Config_Cluster_V3_Cluster(), .doesNotExist),
        try resource(endpoints, .acked),
        .with { ($0.typeURL, $0.name) = (hostile, hostile) },
      ]
      return .with {
        $0.config = [
          .with {
            ($0.clientScope, $0.node.id, $0.genericXdsConfigs) = (hostile, hostile, resources)
          }
        ]
      }
    }

    func streamClientStatus(
      requestStream: RequestStream<Envoy_Service_Status_V3_ClientStatusRequest>,
      responseStream: ResponseStreamWriter<Envoy_Service_Status_V3_ClientStatusResponse>,
      context: ServerCallContext
    ) async throws { throw GRPCStatus(code: .unimplemented) }
  }

  private struct Health: Grpc_Health_V1_HealthProvider {
    var interceptors: Interceptors? { nil }

    func check(
      request: Grpc_Health_V1_HealthCheckRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Health_V1_HealthCheckResponse {
      throw GRPCStatus(code: .internalError, message: hostile)
    }

    func list(
      request: Grpc_Health_V1_HealthListRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Health_V1_HealthListResponse { Grpc_Health_V1_HealthListResponse() }

    func watch(
      request: Grpc_Health_V1_HealthCheckRequest,
      responseStream: ResponseStreamWriter<Grpc_Health_V1_HealthCheckResponse>,
      context: ServerCallContext
    ) async throws { throw GRPCStatus(code: .internalError, message: hostile) }
  }

  /// What every verb is asked, of a hostile server, with a hostile file or with hostile arguments.
  private static func lines(_ target: String, _ set: String, _ folder: String) -> [String: [[String]]] {
    [
      "list": [[target], [target, "-l"], [target, "--json"], [target, "lie.S", "-l"], [target, hostile]],
      "describe": [
        [target], [target, "lie.S/Call"], [target, "lie.M", "--json"], [target, "lie.S", "--tree"],
        [target, "lie.M", "--file"], [target, "refused"], [target, hostile], ["--descriptor-set", set],
        ["--descriptor-set", set, "--json"],
      ],
      "call": [
        [target, "lie.S/Call", "-v"], [target, "lie.S/Call", "--format", "text"],
        [target, "lie.S/Call", "-d", #"{"text": "fail"}"#, "-v"], [target, "lie.S/Call", "--template"],
        [target, "lie.S/Call", "--template", "--format", "text"], [target, "lie.S/" + hostile],
        [target, "lie.S/Call", "-d", hostile], [hostile, "lie.S/Call"],
      ],
      "check-config": [[folder + "/hostile.json"], [hostile]],
      "health": [[target], [target, "--watch"], [target, hostile]],
      "channelz": [[target]],
      "xds": [[target], [target, "--json"], [hostile]],
      "console": [[hostile], [target, "--port", hostile], [target, hostile]],
      "load": [
        [target, "lie.S/Call", "-n", "2", "-d", #"{"text": "fail"}"#],
        [target, "lie.S/Call", "-n", "2", "-o", "json", "-d", #"{"text": "fail"}"#],
        [target, "lie.S/Call", "-n", "2", "-o", "csv", "-d", #"{"text": "fail"}"#],
        [target, "lie.S/Call", "-n", "2", "-o", "html", "-d", #"{"text": "fail"}"#],
      ],
      "load-agent": [["--listen", hostile], ["--tls-cert", hostile, "--tls-key", hostile]],
      "mock": [
        ["--descriptor-set", set, "--listen", "256.0.0.1:0"],
        ["--record", target, "--output", folder + "/rules.yaml", "--listen", "256.0.0.1:0"],
        [hostile],
      ],
      "new": [[hostile, "--switchboard", hostile], ["a", "--switchboard", hostile]],
      "migrate": [
        [folder], [folder, "--write", "--switchboard", folder], [hostile],
        [folder, "--switchboard", hostile],
      ],
      "openapi": [[target], ["--descriptor-set", set]],
      "generate": [
        ["--descriptor-set", set, "--output", folder + "/out"],
        ["--output", folder + "/out", hostile + ".proto"], ["--" + hostile],
      ],
      "help": [[hostile]], "completions": [[hostile]], "man": [[hostile]],
      "complete": [
        ["--deadline", "60s", "--", "call", target, ""],
        ["--deadline", "60s", "--", "describe", target, "l"],
      ],
    ]
  }

  @Test(arguments: Place.allCases) func noVerbWritesItAsItIs(_ place: Place) async throws {
    try await withServer(
      [Reflection(place: place), Service(), Channelz(), Health(), ClientStatus()] as [any CallHandlerProvider]
    ) { _, address async throws in
      let target = "\(address)"
      let folder = NSTemporaryDirectory() + "hostile-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let set = folder + "/set.binpb"
      let files = Google_Protobuf_FileDescriptorSet.with { $0.file = [Self.file(place)] }
      try Data(try files.serializedBytes() as [UInt8]).write(to: URL(fileURLWithPath: set))
      let config = #"{"x\u001b]0;owned\u0007": 1, "\u202e": [{"y\nforged": 2}]}"#
      try Data(config.utf8).write(to: URL(fileURLWithPath: folder + "/hostile.json"))
      // A file and a folder with such names, and code that is one.
      let package = folder + "/package\(Self.hostile)"
      try FileManager.default.createDirectory(atPath: package, withIntermediateDirectories: true)
      let source =
        "import GRPC\nfoo(.wait(\(Self.hostile)))\nCallOptions(customMetadata: \"\(Self.hostile)\", a_\(Self.hostile)AsyncClient)\n"
      try Data(source.utf8).write(to: URL(fileURLWithPath: "\(package)/\(Self.hostile).swift"))
      let lines = Self.lines(target, set, folder)
      #expect(Set(lines.keys) == Set(SwitchboardCommand.verbs.map(\.name)))
      var shown = ""
      for verb in SwitchboardCommand.verbs {
        for words in lines[verb.name] ?? [] {
          let run = try Command.product("switchboard", [verb.name] + words)
          #expect(run.exitCode < 128, "\(verb.name) \(words): \(run.errors)")
          for text in [String(decoding: run.output, as: UTF8.self), run.errors] {
            // A completion has its meaning after a tab.
            let separators: Set<Unicode.Scalar> = verb.name == "complete" ? ["\n", "\t"] : ["\n"]
            let controls = text.unicodeScalars.filter { $0.isControlling && !separators.contains($0) }
            #expect(controls.isEmpty, "\(verb.name) \(words): \(text.debugDescription)")
            let forged = text.split(separator: "\n").filter {
              $0.drop { " /".contains($0) }.hasPrefix("forged")
            }
            // A comment has as many lines as its author gave it, each behind its mark.
            #expect(
              forged.allSatisfy { $0.drop { $0 == " " }.hasPrefix("//") },
              "\(verb.name) \(words): \(text)"
            )
            shown += text
          }
        }
      }
      // It was there, in all notations.
      #expect(shown.contains("x\\u{1B}]0;owned"))
      if place == .texts { #expect(shown.contains("x\\u001b]0;owned") && shown.contains("\\u202e")) }
    }
  }

  @Test func whatIsReadAgainKeepsItsValue() throws {
    let text = Self.hostile
    let json = JSONPainter(.plain, isPretty: true).text(of: Array(JSONText.string(text).utf8)).text
    #expect(!json.unicodeScalars.contains { $0.isControlling })
    #expect(try Google_Protobuf_StringValue(jsonString: json).value == text)
    let value = Google_Protobuf_StringValue.with { $0.value = text }.textFormatString()
    let shown = ShownText(lines: value, as: .proto).text
    #expect(!shown.unicodeScalars.contains { $0.isControlling && $0 != "\n" })
    #expect(try Google_Protobuf_StringValue(textFormatString: shown).value == text)
  }

  @Test func onlyLiteralsAndColorsAreTakenAsTheyAre() {
    let name = "a\u{1B}[31m\n"
    #expect(("\n\(name)\n" as ShownText).text == "\na\\u{1B}[31m\\n\n")
    #expect(ShownText(name).text == "a\\u{1B}[31m\\n")
    #expect(ShownText(lines: name).text == "a\\u{1B}[31m\n")
    let paint = Painter(hasColor: true)
    #expect(("\(paint(.name, name))" as ShownText).text == "\u{1B}[1;34ma\\u{1B}[31m\\n\u{1B}[0m")
    #expect(
      ShownText(coloredLines: "\u{1B}[31mred\u{1B}[0m\u{1B}[2J\n\u{202E}").text
        == "\u{1B}[31mred\u{1B}[0m\\u{1B}[2J\n\\u{202E}"
    )
    #expect(Failure("\(name)", hints: ["\(name)"], code: .data).message.text == "a\\u{1B}[31m\\n")
  }
}
