import EchoService
import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardText
import Testing

/// What reflection says of methods whose messages are not protobuf.
@Suite(.timeLimit(.minutes(5))) struct PayloadMarkTests {
  private struct Mapped: CallHandlerProvider {
    let serviceName = "echo.Echo"
    let reflectionData = Echo_EchoMetadata.reflectionData
    var methodHandlers: [MethodHandler] {
      typealias Methods = Echo_EchoMetadata.Methods
      let get = Method(
        Methods.get.descriptor,
        requests: CodableJSONMarshaller<String>(),
        responses: ProtobufMarshaller<Echo_EchoResponse>()
      )
      return [
        get.unaryHandler { _, _ in Echo_EchoResponse() },
        Methods.expand.serverStreamingHandler { _, _, _ in },
      ]
    }
  }

  /// The file that declares a symbol, as reflection sends it.
  private func file(
    of symbol: String,
    _ services: [any CallHandlerProvider]
  ) async throws -> Google_Protobuf_FileDescriptorProto? {
    let channel = try Channel(inProcess: [try ReflectionService(describing: services)])
    let client = Grpc_Reflection_V1_ServerReflectionClient(channel: channel)
    var file: Google_Protobuf_FileDescriptorProto?
    for try await response in client.serverReflectionInfo([.with { $0.fileContainingSymbol = symbol }]) {
      file = try response.fileDescriptorResponse.fileDescriptorProto.first.map {
        try Google_Protobuf_FileDescriptorProto(serializedBytes: $0)
      }
    }
    await channel.shutDown()
    return file
  }

  private func formats(
    of method: Google_Protobuf_MethodDescriptorProto,
    in files: [Google_Protobuf_FileDescriptorProto]
  ) -> (requests: String?, responses: String?)? { PayloadMarks(in: files).formats(of: method) }

  @Test func mappedMethodsAreMarked() async throws {
    let file = try #require(try await file(of: "echo.Echo", [Mapped()]))
    let methods = try #require(file.service.first?.method)
    let get = methods.first { $0.name == "Get" }.flatMap { formats(of: $0, in: [file]) }
    #expect(get?.requests == "json" && get?.responses == nil)
    #expect(methods.filter { formats(of: $0, in: [file]) != nil }.map(\.name) == ["Get"])
    // For others it is an unknown field, and the file is what it was otherwise.
    #expect(file.dependency.isEmpty)
    var plain = file
    for index in methods.indices { plain.service[0].method[index].clearOptions() }
    let known: [UInt8] = try plain.serializedBytes()
    #expect(known == Echo_EchoMetadata.reflectionData.last.flatMap { Base64.decode($0.utf8) })
  }

  /// Two services of one file, of which the second is mapped.
  @Test func theSecondServiceOfAFileIsMarkedToo() async throws {
    let base64 = try #require(Echo_EchoMetadata.reflectionData.last)
    var file = try Google_Protobuf_FileDescriptorProto(
      serializedBytes: Base64.decode(base64.utf8) ?? []
    )
    var other = file.service[0]
    other.name = "Other"
    file.service.insert(other, at: 0)
    let bytes: [UInt8] = try file.serializedBytes()
    let data = [String(decoding: Base64.encode(bytes), as: UTF8.self)]
    let services =
      [Plain(serviceName: "echo.Other", reflectionData: data), Mapped()] as [any CallHandlerProvider]
    let served = try #require(try await self.file(of: "echo.Echo", services))
    let marked = served.service.filter { formats(of: $0.method[0], in: [served]) != nil }
    #expect(marked.map(\.name) == ["Echo"])
  }

  private struct Plain: CallHandlerProvider {
    let serviceName: String
    let reflectionData: [String]
    var methodHandlers: [MethodHandler] { [] }
  }

  @Test func servicesWithoutAProtoAreDescribed() async throws {
    let find = CodableMethod<String, [Int]>("shop.deep.Stock", "Find", .serverStreaming)
    let stock = ServiceHandlers(
      ServiceDescriptor("shop.deep.Stock", [find.descriptor]),
      [find.serverStreamingHandler { _, _, _ in }]
    )
    let file = try #require(try await file(of: "shop.deep.Stock.Find", [stock]))
    #expect(file.package == "shop.deep" && file.name == "shop.deep.Stock.proto")
    let method = try #require(file.service.first?.method.first)
    #expect(method.inputType == ".shop.deep.Stock_FindRequest" && method.serverStreaming)
    #expect(try DescriptorPool([file]).messageType(named: "shop.deep.Stock_FindResponse") != nil)
  }

  @Test(arguments: ["shop.St-ock", "shop..Stock", "7.Stock"])
  func aNameThatNoProtoCanHaveIsOnlyListed(_ name: String) async throws {
    let find = CodableMethod<String, String>(name, "Find", .unary)
    let stock = ServiceHandlers(
      ServiceDescriptor(name, [find.descriptor]),
      [find.unaryHandler { text, _ in text }]
    )
    #expect(try await file(of: name, [stock]) == nil)
  }

  /// Another organization may use the number for its own option.
  @Test func anotherOptionOfTheNumberIsNoMark() throws {
    var file = Google_Protobuf_FileDescriptorProto.with { file in
      file.name = "other.proto"
      file.service = [
        .with {
          $0.name = "S"
          $0.method = [.with { $0.name = "M" }]
        }
      ]
    }
    let isMarked = file.mark([(method: "M", requests: "json", responses: nil)], of: "S")
    #expect(isMarked)
    #expect(formats(of: file.service[0].method[0], in: [file]) != nil)
    let options = Google_Protobuf_FileDescriptorProto.with {
      $0.name = "options.proto"
      $0.`extension` = [
        .with {
          $0.name = "audit"
          $0.number = 51427
          $0.extendee = ".google.protobuf.MethodOptions"
        }
      ]
    }
    #expect(formats(of: file.service[0].method[0], in: [file, options]) == nil)
  }

  /// Files that count how many of them are looked at.
  private struct CountedFiles: Sequence, IteratorProtocol {
    let looks: Looks
    var rest: ArraySlice<Google_Protobuf_FileDescriptorProto>

    mutating func next() -> Google_Protobuf_FileDescriptorProto? {
      guard let file = rest.popFirst() else { return nil }
      looks.count += 1
      return file
    }
  }

  private final class Looks {
    var count = 0
  }

  /// A server chooses how many methods it marks, and how many files and extensions it declares.
  @Test func noFileIsLookedAtForEachMethod() {
    var marked = Google_Protobuf_FileDescriptorProto.with { file in
      file.name = "marked.proto"
      file.service = [
        .with {
          $0.name = "S"
          $0.method = (0..<300).map { number in .with { $0.name = "M\(number)" } }
        }
      ]
    }
    let names = marked.service[0].method.map {
      (method: $0.name, requests: "json" as String?, responses: nil as String?)
    }
    let isMarked = marked.mark(names, of: "S")
    #expect(isMarked)
    let others = (0..<200).map { number in
      Google_Protobuf_FileDescriptorProto.with { $0.name = "other\(number).proto" }
    }
    let looks = Looks()
    let marks = PayloadMarks(in: CountedFiles(looks: looks, rest: ([marked] + others)[...]))
    #expect(marked.service[0].method.allSatisfy { marks.formats(of: $0)?.requests == "json" })
    #expect(looks.count == 201)
  }
}
