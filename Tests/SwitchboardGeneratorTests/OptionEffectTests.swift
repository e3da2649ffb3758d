import SwitchboardDescriptors
import SwitchboardGenerator
import SwitchboardProtobuf
import Testing

@Suite("Options and what they change")
struct OptionEffectTests {
  private static let file = Google_Protobuf_FileDescriptorProto.with {
    $0.name = "shop/order.proto"
    $0.package = "shop"
    $0.syntax = "proto3"
    $0.messageType = [.with { $0.name = "Order" }]
    $0.service = [
      .with {
        $0.name = "Orders"
        $0.method = [
          .with {
            $0.name = "Place"
            $0.inputType = ".shop.Order"
            $0.outputType = ".shop.Order"
          }
        ]
      }
    ]
  }

  private func generate(_ parameter: String) throws(GeneratorError) -> [GeneratedFile] {
    let request = Google_Protobuf_Compiler_CodeGeneratorRequest.with {
      $0.fileToGenerate = [OptionEffectTests.file.name]
      $0.parameter = parameter
      $0.protoFile = [OptionEffectTests.file]
    }
    return try Generator(request: request).files()
  }

  @Test(
    "A value that an option does not take is an error that says what it takes",
    arguments: [
      ("Client=maybe", "true or false"), ("Server=maybe", "true or false"),
      ("Services=maybe", "true or false"), ("Messages=maybe", "true or false"),
      ("KeepMethodCasing=maybe", "true or false"), ("ReflectionData=maybe", "true or false"),
      ("UseAccessLevelOnImports=maybe", "true or false"), ("TestClient=maybe", "true or false"),
      ("TestClient=true,Client=false", "needs the client's protocols"),
      ("Visibility=public", "'public' (did you mean Public?): it must be one of Internal, Package, Public"),
      ("FileNaming=droppath", "'droppath' (did you mean DropPath?): it must be one of FullPath"),
      ("FileNaming=Flat", "FullPath, PathToUnderscores, DropPath"),
      ("ExtraModuleImports=a b", "the name of a module"), ("ProtoPathModuleMappings=", "a path"),
    ]
  )
  func badValue(parameter: String, accepted: String) throws {
    let error = #expect(throws: GeneratorError.self) { try generate(parameter) }
    let description = try #require(error).description
    #expect(description.contains("option \(parameter.prefix { $0 != "=" })"))
    #expect(description.contains(accepted))
  }

  @Test("An unknown option is an error that lists all options", arguments: ["Clients=true", "clients"])
  func unknown(parameter: String) throws {
    let error = #expect(throws: GeneratorError.self) { try generate(parameter) }
    let known =
      "Client, ExtraModuleImports, FileNaming, FullRegistryNames, KeepMethodCasing, Messages, PayloadMappings, "
      + "ProtoPathModuleMappings, ReflectionData, Server, Services, TestClient, TestClientOf, "
      + "UseAccessLevelOnImports, Visibility"
    #expect(try #require(error).description.hasSuffix("the options are \(known)"))
  }

  @Test("An option without a value is an error that says what it takes")
  func noValue() throws {
    let error = #expect(throws: GeneratorError.self) { try generate("Server") }
    #expect(try #require(error).description == "option Server has the value '': it must be true or false")
  }

  @Test(
    "Messages, Services and FileNaming decide which files there are",
    arguments: [
      ("", ["shop/order.pb.swift", "shop/order.grpc.swift"]),
      ("Services=false", ["shop/order.pb.swift"]),
      ("Messages=false,FileNaming=DropPath", ["order.grpc.swift"]),
      ("FileNaming=PathToUnderscores", ["shop_order.pb.swift", "shop_order.grpc.swift"]),
    ]
  )
  func files(parameter: String, names: [String]) throws {
    #expect(try generate(parameter).map(\.name) == names)
  }

  @Test("Without Client and Server, only the service's metadata is generated")
  func neither() throws {
    let content = try #require(try generate("Client=false,Server=false").last).content
    #expect(content.contains("enum Shop_OrdersMetadata"))
    #expect(!content.contains("protocol"))
  }
}
