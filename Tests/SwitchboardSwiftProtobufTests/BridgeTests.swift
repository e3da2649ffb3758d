import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardDescriptors
import SwitchboardGenerator
import SwitchboardProtoCompiler
import Testing

/// Generated stubs with messages of another library, a stand-in for SwiftProtobuf.
@Suite(.timeLimit(.minutes(5))) struct BridgeTests {
  struct Provider: Notes_NotesProvider {
    var interceptors: Interceptors? { nil }

    func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat] { [SwiftProtobufFormat.json] }

    func keep(request: Notes_Note, context: ServerCallContext) async throws -> Notes_Receipt {
      Notes_Receipt(text: "kept \(request.text)")
    }

    func follow(
      requestStream: RequestStream<Notes_Note>,
      responseStream: ResponseStreamWriter<Notes_Receipt>,
      context: ServerCallContext
    ) async throws {
      for try await note in requestStream { try await responseStream.send(Notes_Receipt(text: note.text)) }
    }
  }

  private func with(_ body: (Notes_NotesClient) async throws -> Void) async throws {
    try await withChannel(to: [Provider()]) { channel async throws in
      try await body(Notes_NotesClient(channel: channel))
    }
  }

  @Test func callsCarryTheOtherLibrarysMessages() async throws {
    try await with { client async throws in
      #expect(try await client.keep(Notes_Note(text: "a")) == Notes_Receipt(text: "kept a"))
      var answers: [String] = []
      for try await receipt in client.follow([Notes_Note(text: "b"), Notes_Note(text: "c")]) {
        answers.append(receipt.text)
      }
      #expect(answers == ["b", "c"])
    }
  }

  @Test func messagesOfTheOtherLibraryMayBeSentAsJSON() async throws {
    try await with { client async throws in
      var options = CallOptions()
      options.payloadFormat = PayloadChoice(SwiftProtobufFormat.json)
      let call = client.makeKeepCall(Notes_Note(text: "a"), callOptions: options)
      #expect(try await call.response.text == "kept a")
      #expect(try await call.initialMetadata["content-type"] == ["application/grpc+json"])
    }
  }

  @Test func aMessageThatCannotBeWrittenEndsItsCall() async throws {
    try await with { client async throws in
      do {
        _ = try await client.keep(Notes_Note(text: "unwritable"))
        Issue.record("it was written")
      } catch {
        #expect(GRPCStatus(describing: error).code == .internalError)
      }
      #expect(try await client.keep(Notes_Note(text: "a")).text == "kept a")
    }
  }

  @Test func theStubsAreWhatTheGeneratorWrites() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let parameter = "PayloadMappings=payloads.txt,Messages=false"
    let compiled = try ProtoCompiler(includeDirectories: [folder.path]).compile(
      ["notes.proto"],
      parameter: parameter
    )
    let mappings = try String(contentsOf: folder.appendingPathComponent("payloads.txt"), encoding: .utf8)
    let files = try Generator(request: compiled.request, mappings: ["payloads.txt": mappings]).files()
    #expect(files.map(\.name) == ["notes.grpc.swift"])
    let path = folder.appendingPathComponent("Generated/notes.grpc.swift")
    #expect(files.first?.content == (try String(contentsOf: path, encoding: .utf8)))
  }
}
