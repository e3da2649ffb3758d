import CallTestSupport
import ConsoleMessages
import KindsService
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardNetwork
import SwitchboardProtobuf
import SwitchboardServices
import TestMessages
import TestSupport
import Testing

@testable import SwitchboardConsole

/// What servers and viewers can make the view Try hold is bounded.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TryBoundTests {
  private static let longName = String(repeating: "x", count: 900)

  // MARK: Forms

  /// A message with these fields, and what else is in the file.
  private func schema(
    _ fields: [Google_Protobuf_FieldDescriptorProto],
    _ others: [Google_Protobuf_FileDescriptorProto] = [],
    _ change: (inout Google_Protobuf_FileDescriptorProto) -> Void = { _ in }
  ) throws -> Schema {
    var file = Google_Protobuf_FileDescriptorProto.with {
      ($0.name, $0.package, $0.syntax) = ("bound.proto", "bound", "proto3")
      $0.messageType = [
        .with {
          $0.name = "M"
          $0.field = fields
        }
      ]
    }
    change(&file)
    return try Schema(others + [file])
  }

  private func field(
    _ name: String,
    _ number: Int,
    enumeration: String? = nil
  ) -> Google_Protobuf_FieldDescriptorProto {
    .with {
      ($0.name, $0.number, $0.label) = (name, Int32(number), .optional)
      $0.type = enumeration == nil ? .string : .enum
      if let enumeration { $0.typeName = ".bound.\(enumeration)" }
    }
  }

  private func enumeration(_ name: String, _ count: Int, longer: String = longName)
    -> Google_Protobuf_EnumDescriptorProto
  {
    .with {
      $0.name = name
      $0.value = (0..<count).map { number in
        .with { ($0.name, $0.number) = ("\(name)_\(number)_\(longer)", Int32(number)) }
      }
    }
  }

  @Test func aFormOfLongChoicesIsBounded() throws {
    let schema = try schema((1...100).map { field("f\($0)", $0, enumeration: "E\($0 % 20)") }) {
      $0.enumType = (0..<20).map { enumeration("E\($0)", 200) }
    }
    let form = FormMaker(schema: schema).form(of: "bound.M")
    #expect(form.fields.count == 100)
    #expect(try form.jsonUTF8Bytes().count < 2 * FormMaker.mostBytes)
    #expect(form.remark.contains("names of"))
  }

  @Test func aFormOfLongFieldsIsBounded() throws {
    let schema = try schema((1...1000).map { field("f\($0)_\(Self.longName)", $0) })
    let form = FormMaker(schema: schema).form(of: "bound.M")
    #expect((100..<1000).contains(form.fields.count))
    #expect(try form.jsonUTF8Bytes().count < 2 * FormMaker.mostBytes)
    #expect(form.remark.contains("lacks \(1000 - form.fields.count) fields"))
  }

  @Test func theFirstFieldOfAnEnumHasItsChoices() throws {
    let schema = try schema((1...3).map { field("f\($0)", $0, enumeration: "E") }) {
      $0.enumType = [enumeration("E", 3, longer: "")]
    }
    let form = FormMaker(schema: schema).form(of: "bound.M")
    #expect(form.fields.map(\.choices.count) == [3, 0, 0])
    #expect(form.remark == "")
  }

  /// An option of a byte for each name.
  @Test func rulesOfLongNamesAreBounded() throws {
    let count = 20_000
    let values = [UInt8](repeating: 0, count: count)
    var options = Google_Protobuf_FieldOptions()
    try options.merge(serializedBytes: [0x82, 0xB5, 0x18, 0xA0, 0x9C, 0x01] + values)
    var optioned = field("f", 1)
    optioned.options = options
    let known = try ReflectionService.files(describing: [KindsProvider()])
    let descriptors = known.filter { $0.name == "google/protobuf/descriptor.proto" }
    let schema = try schema([optioned], descriptors) {
      $0.dependency = ["google/protobuf/descriptor.proto"]
      $0.enumType = [enumeration("E", 1)]
      $0.extension = [
        .with {
          ($0.name, $0.number, $0.label, $0.type) = ("rule", 50_000, .repeated, .enum)
          ($0.typeName, $0.extendee) = (".bound.E", ".google.protobuf.FieldOptions")
        }
      ]
    }
    let rules = try #require(FormMaker(schema: schema).form(of: "bound.M").fields.first?.rules)
    #expect(rules.count == 20)
    #expect(rules.allSatisfy { $0.hasPrefix("bound.rule: E_0_") && $0.utf8.count <= FormMaker.mostText })
  }

  @Test func aFormThatIsNotThereSaysWhy() async throws {
    try await withPair([KindsProvider()]) { pair async throws in
      let target = Target(made: nil, opened: pair.channel)
      let group = try LoopGroup()
      defer { group.shutDown() }
      let clock = ConsoleClock(time: ManualTime(), loop: group.nextLoop())
      let targets = CallTargets(schemas: TargetSchemas(clock)) { [target] }
      let view = FormView(targets: targets)
      let form = await view.answer(try ViewQuery("target=t&selected=bound.M"))
      #expect(form.name == "" && form.remark.contains("too many fields"), "\(form.remark)")
      let unknown = await view.answer(try ViewQuery("target=u&selected=bound.M"))
      #expect(unknown.remark.contains("no longer"))
    }
  }

  // MARK: Endings

  @Test func aStatusHasNoControls() {
    let status = GRPCStatus(code: .internalError, message: "a\u{202E}b\u{1B}[1m\n")
    let ending = CallEnding(status, ["x": "c"], TypeRegistry()).message
    #expect(ending.message.hasPrefix("a"))
    #expect(!ending.message.unicodeScalars.contains { $0 == "\u{202E}" || $0.value < 0x20 })
    #expect(ending.trailers.map(\.value) == ["c"])
  }

  // MARK: Calls

  private func withSessions(
    _ body: (CallSessions, Target) async throws -> Void
  ) async throws {
    try await withPair([KindsProvider()]) { pair async throws in
      let schema = try Schema(try ReflectionService.files(describing: [KindsProvider()]))
      let sessions = CallSessions(ConsoleClock(time: ManualTime(), loop: try LoopGroup().nextLoop()))
      try await body(sessions, Target(made: schema, opened: pair.channel))
      await sessions.shutDown()
    }
  }

  private func start(
    _ method: String,
    _ requests: [String],
    of sessions: CallSessions,
    on target: Target
  ) async throws -> Switchboard_Console_V1_CallView {
    let start = Switchboard_Console_V1_StartCall.with {
      ($0.method, $0.requests, $0.endsRequests) = ("switchboard.testing.Kinds/\(method)", requests, true)
    }
    return try await sessions.start(start, on: target, try #require(target.made))
  }

  /// All of a call, as its viewer gets it who takes nothing back.
  private func whole(_ started: Switchboard_Console_V1_CallView, of sessions: CallSessions) async throws
    -> Switchboard_Console_V1_CallView
  {
    var view = started
    while !view.isOver, !Task.isCancelled {
      await Task.yield()
      view = try await sessions.go(on: .with { $0.id = started.id })
    }
    return view
  }

  /// In JSON, each number of the response takes four bytes, and one on the wire.
  @Test func ofALargeResponseLittleIsMade() async throws {
    try await withSessions { sessions, target async throws in
      let numbers = repeatElement("1", count: CallSession.mostJSON / 4 + 10).joined(separator: ",")
      let started = try await start("EchoThree", ["{\"manyInt64\":[\(numbers)]}"], of: sessions, on: target)
      let events = try await whole(started, of: sessions).events
      let message = try #require(events.first { !$0.message.json.isEmpty }?.message)
      #expect(message.json.hasPrefix(#"{"manyInt64":["1","1","#))
      #expect(message.json.utf8.count == CallSession.mostOfMessage)
      #expect(message.isLonger && message.wholeLength == UInt64(CallSession.mostJSON))
      #expect(events.last?.end.code == "OK")
    }
  }

  @Test func callsThatAreOverTakeNoPlace() async throws {
    try await withSessions { sessions, target async throws in
      for _ in 0..<(3 * CallSessions.mostSessions) {
        let started = try await start("Say", ["{}"], of: sessions, on: target)
        let end = try await whole(started, of: sessions)
        // It is there for a viewer whose answer was lost.
        #expect(end.events.last?.end.code == "OK")
        #expect(try await sessions.go(on: .with { $0.id = started.id }).events == end.events)
        #expect(await sessions.count <= CallSessions.mostKnown)
      }
      let last = try await whole(try await start("Say", ["{}"], of: sessions, on: target), of: sessions)
      let count = await sessions.count
      let rest = try await sessions.go(
        on: .with { ($0.id, $0.from) = (last.id, last.next) }
      )
      #expect(rest.isOver && rest.events.isEmpty)
      #expect(await sessions.count == count - 1)
    }
  }

  @Test func callsThatWereCancelledTakeNoPlace() async throws {
    try await withSessions { sessions, target async throws in
      for _ in 0..<CallSessions.mostSessions {
        let started = try await start("Say", [#"{"text":"wait"}"#], of: sessions, on: target)
        _ = try await sessions.go(on: .with { ($0.id, $0.cancels) = (started.id, true) })
      }
      let started = try await start("Say", ["{}"], of: sessions, on: target)
      #expect(try await whole(started, of: sessions).events.last?.end.code == "OK")
    }
  }

  @Test func moreRequestsThanWaitAreNotBegunWith() async throws {
    try await withSessions { sessions, target async throws in
      await #expect(throws: CallMistake.self) {
        _ = try await start("Join", Array(repeating: "{}", count: 101), of: sessions, on: target)
      }
    }
  }

  /// Requests that are sent together stay together, and an end comes after what was taken before it.
  @Test func requestsOfSeveralSendersAreNotMixed() async throws {
    try await withSessions { _, target async throws in
      let schema = try #require(target.made)
      let method = try #require(schema.method(named: "switchboard.testing.Kinds/Join"))
      let dynamic = try schema.dynamicMethod(method)
      let session = CallSession(
        of: method,
        dynamic,
        on: target.opened,
        options: CallOptions(),
        [],
        endsRequests: false,
        schema: schema,
        ConsoleClock(time: ManualTime(), loop: target.opened.eventLoop)
      )
      await withTaskGroup(of: Void.self) { group in
        for sender in 0..<8 {
          group.addTask {
            let text = Array(#"{"text":"\#(sender)"}"#.utf8)
            guard let request = try? dynamic.requests.kind.payload(json: text, schema.types) else { return }
            #expect(session.send(Array(repeating: request, count: 10), ends: false) == nil)
          }
        }
      }
      #expect(session.send([], ends: true) == nil)
      #expect(session.send([], ends: true) != nil)
      var view = session.news(from: 0)
      while !view.isOver, !Task.isCancelled {
        await Task.yield()
        view = session.news(from: 0)
      }
      let answer = try #require(view.events.first { !$0.message.json.isEmpty }?.message.json)
      let words = try Switchboard_Testing_Word(jsonString: answer).text.split(separator: " ")
      #expect(words.count == 80)
      for index in stride(from: 0, to: words.count, by: 10) {
        #expect(Set(words[index..<min(index + 10, words.count)]).count == 1)
      }
    }
  }
}

/// What a channel leads to, with descriptors that are given, or are of no use.
private struct Target: CallTarget {
  let made: Schema?
  let opened: Channel

  var id: String { "t" }
  var name: String { "target" }
  var isInProcess: Bool { false }
  var metadata: HPACKHeaders { [:] }

  func reach() async -> CallReach? { nil }
  func channel() throws(GRPCStatus) -> Channel { opened }
  func schema() async throws -> TargetSchema {
    guard let made else { throw SchemaFailure(.data, "the message has too many fields or oneofs") }
    return TargetSchema(schema: made)
  }
  func noCurl(_ method: SchemaMethod) -> String { "" }
}
