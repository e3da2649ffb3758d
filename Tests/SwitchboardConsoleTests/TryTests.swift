import CallTestSupport
import ConsoleMessages
import EchoService
import EchoTestSupport
import KindsService
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardTransport
import TestMessages
import TestSupport
import Testing

@testable import SwitchboardConsole

/// Calls that viewers make, as programs see them: by the JSON of the views and the actions.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TryTests {
  private static let token = "a-token-of-the-test"
  private let time = ManualTime()

  private func console(_ permissions: ConsolePermissions = .everyone([.call])) throws -> Console {
    var options = ConsoleOptions()
    options.access = .token(Self.token)
    options.permissions = permissions
    options.logger = .quiet
    return try Console(nil, options, time: time, watches: false)
  }

  /// Runs `body` with a console of a server, and the address of its page.
  private func withConsole(
    _ providers: [any CallHandlerProvider] = [KindsProvider()],
    options: ServerOptions = ServerOptions(),
    _ body: (SocketAddress, Console) async throws -> Void
  ) async throws {
    try await withServer(providers, options: options) { server, _ async throws in
      let console = try console()
      console.add(server, name: "kinds")
      try await body(try console.serve(port: 0), console)
      await console.shutDown()
    }
  }

  private func raw(_ path: String, _ body: String? = nil, at address: SocketAddress) throws -> String {
    var fields = ["authorization": "Bearer \(Self.token)"]
    if body != nil { fields["content-type"] = "application/json" }
    return try PageRequest(path, fields, body: body).answer(at: address)
  }

  private func json(_ path: String, _ body: String? = nil, at address: SocketAddress) throws -> String {
    let answer = try raw(path, body, at: address)
    #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer.prefix(500))")
    return answer.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
  }

  private func view(_ query: String = "", at address: SocketAddress) throws -> Switchboard_Console_V1_TryView
  {
    time.advance(by: .seconds(1))
    return try Switchboard_Console_V1_TryView(jsonString: try json("/try?\(query)", at: address))
  }

  private func start(
    _ method: String,
    _ requests: [String] = [],
    ends: Bool = true,
    at address: SocketAddress,
    _ change: (inout Switchboard_Console_V1_StartCall) -> Void = { _ in }
  ) throws -> Switchboard_Console_V1_CallView {
    var start = Switchboard_Console_V1_StartCall()
    start.target = "server-1"
    start.method = "switchboard.testing.Kinds/\(method)"
    start.requests = requests
    start.endsRequests = ends
    change(&start)
    return try Switchboard_Console_V1_CallView(jsonString: try json("/try", start.jsonString(), at: address))
  }

  private func go(
    _ id: String,
    from: UInt32 = 0,
    at address: SocketAddress,
    _ change: (inout Switchboard_Console_V1_ContinueCall) -> Void = { _ in }
  ) throws -> Switchboard_Console_V1_CallView {
    var request = Switchboard_Console_V1_ContinueCall()
    (request.id, request.from) = (id, from)
    change(&request)
    return try Switchboard_Console_V1_CallView(
      jsonString: try json("/call", request.jsonString(), at: address)
    )
  }

  /// All events of a call, until there are `count` responses, or until it is over.
  private func events(
    of started: Switchboard_Console_V1_CallView,
    _ count: Int = .max,
    at address: SocketAddress
  ) async throws -> [Switchboard_Console_V1_CallEvent] {
    var (found, view) = (started.events, started)
    while found.messages.count < count, !view.isOver, !Task.isCancelled {
      view = try go(started.id, from: UInt32(found.count), at: address)
      guard !view.id.isEmpty else { break }
      found += view.events
      await Task.yield()
    }
    return found
  }

  @Test func theViewHasTheMethodsOfAServer() async throws {
    try await withConsole([KindsProvider(), HealthService()]) {
      address,
      _ async throws in
      let found = try view("count=3", at: address)
      #expect(found.targets.map(\.name) == ["kinds"])
      #expect(found.targets.first?.isInProcess == true)
      #expect(found.targets.first?.address.hasPrefix("127.0.0.1:") == true)
      #expect(found.methodCount > 7)
      #expect(found.methods.count == 3)
      let method = try view("filter=kinds%2Ftalk&selected=switchboard.testing.Kinds%2FTalk", at: address)
      #expect(method.methodCount == 1)
      #expect(method.selected.streamsRequests && method.selected.streamsResponses)
      #expect(method.selected.requestType == "switchboard.testing.Word")
      #expect(!method.selected.noCurl.isEmpty)
    }
  }

  @Test func aServiceWithoutDescriptorsIsNamed() async throws {
    struct Bare: CallHandlerProvider {
      let serviceName = "bare.Bare"
      var methodHandlers: [MethodHandler] { KindsProvider().methodHandlers }
    }
    try await withConsole([Bare()]) { address, _ async throws in
      let found = try view(at: address)
      #expect(found.missing.contains("bare.Bare"))
      #expect(found.missing.contains("ReflectionData=true"))
    }
  }

  @Test func aUnaryCallIsAnsweredInJSON() async throws {
    try await withConsole { address, _ async throws in
      let request =
        #"{"oneInt64":"9007199254740993","choiceString":"x","mapStringString":{"a":"b"},"oneBytes":"AQI="}"#
      let started = try start("EchoThree", [request], at: address)
      let events = try await events(of: started, at: address)
      let message = try Switchboard_Testing_AllKinds3(
        jsonString: events.first { $0.hasMessage }?.message.json ?? ""
      )
      #expect(message.oneInt64 == 9_007_199_254_740_993)
      #expect(message.choiceString == "x")
      #expect(message.mapStringString == ["a": "b"])
      #expect(message.oneBytes == [1, 2])
      #expect(events.last?.end.code == "OK")
    }
  }

  @Test func streamsOfAllFormsAreCalled() async throws {
    try await withConsole { address, _ async throws in
      let repeated = try await events(
        of: try start("Repeat", [#"{"text":"a","count":3}"#], at: address),
        at: address
      )
      #expect(
        repeated.messages == [#"{"text":"a"}"#, #"{"text":"a","count":1}"#, #"{"text":"a","count":2}"#]
      )
      #expect(repeated.last?.end.code == "OK")

      let join = try start("Join", [#"{"text":"a"}"#], ends: false, at: address)
      _ = try go(join.id, at: address) { $0.requests = [#"{"text":"b"}"#, #"{"text":"c"}"#] }
      _ = try go(join.id, at: address) { $0.endsRequests = true }
      let late = try go(join.id, at: address) { $0.requests = ["{}"] }
      #expect(late.mistake.text == "the requests were ended" || late.mistake.text == "the call is over")
      #expect(try await events(of: join, at: address).messages == [#"{"text":"a b c"}"#])

      let talk = try start("Talk", [#"{"text":"a"}"#], ends: false, at: address)
      let first = try await events(of: talk, 1, at: address)
      #expect(first.messages == [#"{"text":"you said a"}"#])
      _ = try go(talk.id, at: address) {
        $0.requests = [#"{"text":"b"}"#]
        $0.endsRequests = true
      }
      let all = try await events(of: talk, at: address)
      #expect(all.messages.last == #"{"text":"you said b"}"#)
      #expect(all.last?.end.code == "OK")
    }
  }

  @Test func aCallHasMetadataAndTrailers() async throws {
    try await withConsole { address, _ async throws in
      let started = try start("Say", [#"{"text":"metadata"}"#], at: address) { start in
        start.headers = [.with { ($0.name, $0.value) = ("Tenant", "north") }]
      }
      let events = try await events(of: started, at: address)
      let headers =
        events.first { if case .headers? = $0.event { true } else { false } }?.headers.headers ?? []
      #expect(headers.contains { $0.name == "served-by" && $0.value == "switchboard" })
      #expect(events.last?.end.trailers.contains { $0.name == "tenant-was" && $0.value == "north" } == true)
    }
  }

  @Test func aFailureHasItsStatus() async throws {
    try await withConsole { address, _ async throws in
      let events = try await events(of: try start("Say", [#"{"text":"fail"}"#], at: address), at: address)
      #expect(events.last?.end.code == "NOT_FOUND")
      #expect(events.last?.end.message == "no such word")
    }
  }

  @Test func aDeadlineEndsACall() async throws {
    try await withConsole { address, _ async throws in
      let started = try start("Say", [#"{"text":"wait"}"#], at: address) { $0.timeoutSeconds = 0.05 }
      #expect(try await events(of: started, at: address).last?.end.code == "DEADLINE_EXCEEDED")
    }
  }

  @Test func aViewerCancelsACall() async throws {
    try await withConsole { address, _ async throws in
      let started = try start("Say", [#"{"text":"wait"}"#], at: address)
      _ = try go(started.id, at: address) { $0.cancels = true }
      #expect(try await events(of: started, at: address).last?.end.code == "CANCELLED")
    }
  }

  /// Without an end of its own, a stream would fill the memory if nobody fetched it.
  @Test func aStreamThatNobodyFetchesWaits() async throws {
    try await withConsole { address, console async throws in
      let started = try start("Repeat", [#"{"text":"a"}"#], at: address)
      var view = started
      while view.next < UInt32(CallSession.mostEvents), !Task.isCancelled {
        view = try go(started.id, at: address)
        await Task.yield()
      }
      #expect(view.next <= UInt32(CallSession.mostEvents + 1))
      #expect(!view.isOver)
      // What was fetched makes room.
      let next = view.next
      while view.next == next, !Task.isCancelled {
        view = try go(started.id, from: next, at: address)
        await Task.yield()
      }
      #expect(view.next > next)
      _ = try go(started.id, from: view.next, at: address) { $0.cancels = true }
    }
  }

  @Test func aCallWhoseViewerIsGoneIsCancelled() async throws {
    try await withConsole { address, console async throws in
      let started = try start("Say", [#"{"text":"wait"}"#], at: address)
      #expect(await console.callCount == 1)
      while await console.callCount > 0, !Task.isCancelled {
        time.advance(by: .seconds(11))
        await Task.yield()
      }
      #expect(try go(started.id, at: address).id.isEmpty)
    }
  }

  @Test func thereAreFewCallsAtATime() async throws {
    try await withConsole { address, _ async throws in
      for _ in 0..<CallSessions.mostSessions {
        #expect(try !start("Say", [#"{"text":"wait"}"#], at: address).id.isEmpty)
      }
      #expect(try start("Say", at: address).mistake.text.contains("16 calls at most"))
    }
  }

  @Test(arguments: [
    ("EchoThree", [#"{"oneInt32": "x"}"#], "line 1"), ("EchoThree", ["{", "{"], "line 1"),
    ("Say", ["{}", "{}"], "takes one request"), ("Nothing", ["{}"], "has no method"),
  ])
  func aWrongRequestIsNotSent(method: String, requests: [String], text: String) async throws {
    try await withConsole { address, console async throws in
      let view = try start(method, requests, at: address)
      #expect(view.mistake.text.contains(text), "\(view.mistake.text)")
      #expect(view.id.isEmpty)
      #expect(await console.callCount == 0)
    }
  }

  @Test(arguments: [("grpc-timeout", "1S"), ("a b", "x"), ("x-bin", "!"), ("x", "\n")])
  func metadataThatCannotBeSentIsRefused(name: String, value: String) async throws {
    try await withConsole { address, _ async throws in
      let view = try start("Say", at: address) {
        $0.headers = [.with { ($0.name, $0.value) = (name, value) }]
      }
      #expect(!view.mistake.text.isEmpty)
    }
  }

  @Test func nobodyCallsWithoutThePermission() async throws {
    try await withServer([KindsProvider()]) { server, _ async throws in
      let console = try console(.everyone([.drain]))
      console.add(server, name: "kinds")
      let address = try console.serve(port: 0)
      for (path, body) in [("/try", nil), ("/form", nil), ("/try", "{}"), ("/call", "{}")]
        as [(String, String?)]
      {
        let answer = try raw(path, body, at: address)
        #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(path)")
        #expect(answer.contains("ConsoleOptions.permissions lacks .call"))
      }
      await console.shutDown()
    }
  }

  @Test func theInterceptorsOfTheServerSeeTheCall() async throws {
    var options = ServerOptions()
    options.interceptorFactories = [Refusing()]
    try await withConsole(options: options) { address, _ async throws in
      let events = try await events(of: try start("Say", at: address), at: address)
      #expect(events.last?.end.code == "PERMISSION_DENIED")
    }
  }

  @Test func aServerThatWasStoppedIsNotCalled() async throws {
    try await withServer([KindsProvider()]) { server, _ async throws in
      let console = try console()
      console.add(server, name: "kinds")
      let address = try console.serve(port: 0)
      await server.shutDown(grace: .zero)
      let events = try await events(of: try start("Say", at: address), at: address)
      #expect(events.last?.end.code == "UNAVAILABLE")
      #expect(events.last?.end.message == "the server was stopped")
      await console.shutDown()
    }
  }

  @Test func aChannelIsCalledByReflection() async throws {
    let providers: [any CallHandlerProvider] = [KindsProvider()]
    try await withPair(providers + [try ReflectionService(describing: providers)]) { pair async throws in
      let console = try console()
      console.add(pair.channel, name: "to kinds")
      let address = try console.serve(port: 0)
      let found = try view("filter=Kinds", at: address)
      #expect(found.targets.map(\.isInProcess) == [false])
      #expect(found.methodCount == 7)
      #expect(found.missing == "")
      let started = try start("Say", [#"{"text":"x"}"#], at: address) { $0.target = found.target }
      #expect(try await events(of: started, at: address).messages == [#"{"text":"x"}"#])
      await console.shutDown()
    }
  }

  @Test func aServerWithoutReflectionIsSaidToHaveNone() async throws {
    try await withPair([KindsProvider()]) { pair async throws in
      let console = try console()
      console.add(pair.channel, name: "to kinds")
      let found = try view(at: try console.serve(port: 0))
      #expect(found.missing.contains("to kinds has no reflection service"))
      #expect(found.missing.contains("ReflectionService(describing: providers)"))
      await console.shutDown()
    }
  }

  @Test func aFormHasTheFieldsOfAType() async throws {
    try await withConsole { address, _ async throws in
      func form(_ type: String) throws -> Switchboard_Console_V1_FormView {
        try .init(jsonString: try json("/form?target=server-1&selected=\(type)", at: address))
      }
      let kinds = try form("switchboard.testing.AllKinds3")
      func field(_ name: String) -> Switchboard_Console_V1_FormField? {
        kinds.fields.first { $0.name == name }
      }
      #expect(field("one_int32")?.kind == .integer)
      #expect(field("one_uint64")?.kind == .long)
      #expect(field("one_double")?.kind == .fraction)
      #expect(field("one_color")?.choices.map(\.name) == ["RED", "GREEN", "BLUE", "NEGATIVE"])
      #expect(field("one_color")?.choices.last?.number == -1)
      #expect(field("many_bytes").map { $0.isRepeated && $0.kind == .bytes } == true)
      #expect(field("map_int32_int32").map { $0.mapKey == "int32" && $0.kind == .integer } == true)
      #expect(field("choice_nested")?.oneof == "choice")
      #expect(field("recursive")?.type == "switchboard.testing.AllKinds3")
      let word = try form("switchboard.testing.Word")
      #expect(word.fields.first?.rules == ["google.api.field_behavior: REQUIRED"])
      let two = try form("switchboard.testing.AllKinds2")
      #expect(two.fields.contains { !$0.defaultValue.isEmpty })
      #expect(try form("nothing").name == "")
    }
  }
}

/// Lets no call pass.
private struct Refusing: ServerInterceptorFactory {
  private final class Interceptor<Request: Sendable, Response: Sendable>: ServerInterceptor<Request, Response>
  {
    override func receive(
      _ part: GRPCServerRequestPart<Request>,
      context: ServerInterceptorContext<Request, Response>
    ) {
      guard case .metadata = part else { return }
      context.send(.end(GRPCStatus(code: .permissionDenied, message: "not you"), [:]), promise: nil)
    }
  }

  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] {
    [Interceptor()]
  }
}

extension [Switchboard_Console_V1_CallEvent] {
  /// The responses in JSON.
  fileprivate var messages: [String] { filter(\.hasMessage).map(\.message.json) }
}

extension Switchboard_Console_V1_CallEvent {
  fileprivate var hasMessage: Bool { if case .message? = event { true } else { false } }
}
