import CallTestSupport
import GoldenServicesTestClient
import Switchboard
import SwitchboardTesting
import Testing

private typealias Place = Weather_Place
private typealias Report = Weather_Report

extension Weather_Place {
  fileprivate init(_ name: String) { self = .with { $0.name = name } }
}

extension Weather_Report {
  fileprivate init(_ text: String) { self = .with { $0.text = text } }
}

/// A client that returns enqueued responses, for each kind of call.
@Suite struct TestClientTests {
  private let client: Weather_WeatherTestClient
  private let seen = Seen()

  init() throws { client = try Weather_WeatherTestClient() }

  private var messages: [Place] {
    seen.all.compactMap { if case .message(let place) = $0 { place } else { nil } }
  }

  // MARK: Complete responses

  @Test func anErrorOfOKIsExplained() async throws {
    client.enqueueLookError(GRPCStatus.ok)
    let failure = await status { _ = try await client.look(Place("here")) }
    #expect(failure?.code == .unknown)
    #expect(failure?.message?.contains("an error was enqueued whose status is OK") == true)
  }

  @Test func returnsAnEnqueuedResponse() async throws {
    #expect(!client.hasLookResponsesRemaining)
    client.enqueueLookResponse(Report("rain")) { seen.append($0) }
    client.enqueueLookResponse(Report("sun"))
    #expect(client.hasLookResponsesRemaining)
    #expect(try await client.look(Place("here")) == Report("rain"))
    #expect(try await client.look(Place("there")) == Report("sun"))
    #expect(!client.hasLookResponsesRemaining)
    #expect(messages == [Place("here")])
    guard case .metadata? = seen.all.first, case .end? = seen.all.last else {
      return #expect(Bool(false), "the call's start or its end is missing: \(seen.all)")
    }
  }

  @Test func returnsAnEnqueuedStream() async throws {
    client.enqueueForecastResponses([Report("rain"), Report("sun")]) { seen.append($0) }
    #expect(client.hasForecastResponsesRemaining)
    let reports = try await client.forecast(Place("here")).collected()
    #expect(reports == [Report("rain"), Report("sun")])
    #expect(messages == [Place("here")])
  }

  @Test func returnsAResponseAfterAllRequests() async throws {
    client.enqueueSummarizeResponse(Report("mixed")) { seen.append($0) }
    let report = try await client.summarize([Place("here"), Place("there")])
    #expect(report == Report("mixed"))
    #expect(messages == [Place("here"), Place("there")])
  }

  @Test func endsAStreamAfterAllRequests() async throws {
    client.enqueueFollowResponses([Report("rain")]) { seen.append($0) }
    let reports = try await client.follow([Place("here"), Place("there")]).collected()
    #expect(reports == [Report("rain")])
    #expect(messages == [Place("here"), Place("there")])
  }

  @Test func failsWithAnEnqueuedError() async throws {
    let missing = GRPCStatus(code: .notFound, message: "no such place")
    client.enqueueLookError(missing, trailingMetadata: ["a": "1"]) { seen.append($0) }
    client.enqueueForecastError(missing)
    client.enqueueSummarizeError(missing)
    client.enqueueFollowError(missing)
    #expect(client.hasLookResponsesRemaining)
    let call = client.makeLookCall(Place("here"))
    #expect(await call.status == missing)
    #expect(try await call.trailingMetadata.first(name: "a") == "1")
    #expect(messages == [Place("here")])
    #expect(await status { _ = try await client.forecast(Place("here")).collected() } == missing)
    #expect(await status { _ = try await client.summarize([Place("here")]) } == missing)
    #expect(await status { _ = try await client.follow([Place("here")]).collected() } == missing)
    #expect(!client.hasFollowResponsesRemaining)
  }

  /// Code that takes any client of the service needs no options either.
  @Test func callsThroughTheProtocolNeedNoOptions() async throws {
    let any: any Weather_WeatherClientProtocol = client
    client.enqueueLookResponse(Report("rain"))
    client.enqueueForecastResponses([Report("sun")])
    client.enqueueSummarizeResponse(Report("mixed"))
    client.enqueueFollowResponses([Report("snow")])
    #expect(try await any.look(Place("here")) == Report("rain"))
    #expect(try await any.forecast(Place("here")).collected() == [Report("sun")])
    #expect(try await any.summarize([Place("here")]) == Report("mixed"))
    #expect(try await any.follow([Place("here")]).collected() == [Report("snow")])
  }

  // MARK: Responses that the test sends step by step

  @Test func sendsMetadataAMessageAndTrailers() async throws {
    let response = client.makeLookResponseStream()
    let call = client.makeLookCall(Place("here"))
    try response.sendMessage(Report("rain"), initialMetadata: ["a": "1"], trailingMetadata: ["b": "2"])
    #expect(try await call.response == Report("rain"))
    #expect(try await call.initialMetadata.first(name: "a") == "1")
    #expect(try await call.trailingMetadata.first(name: "b") == "2")
    #expect(await call.status.isOk)
  }

  @Test func sendsErrors() async throws {
    try client.makeLookResponseStream().sendError(GRPCStatus(code: .notFound, message: "no such place"))
    let unary = await status { _ = try await client.look(Place("here")) }
    #expect(unary == GRPCStatus(code: .notFound, message: "no such place"))

    let stream = client.makeForecastResponseStream()
    try stream.sendMessage(Report("rain"))
    try stream.sendError(GRPCStatus(code: .aborted))
    var reports: [Report] = []
    let streaming = await status {
      for try await report in client.forecast(Place("here")) { reports.append(report) }
    }
    #expect(streaming?.code == .aborted)
    #expect(reports == [Report("rain")])
  }

  @Test func answersEachRequestAsItArrives() async throws {
    let response = client.makeFollowResponseStream { part in seen.append(part) }
    let call = client.makeFollowCall()
    var reports = call.responseStream.makeAsyncIterator()
    try response.sendInitialMetadata(["a": "1"])
    for name in ["here", "there"] {
      try await call.requestStream.send(Place(name))
      try response.sendMessage(Report(name))
      #expect(try await reports.next() == Report(name))
    }
    try response.sendEnd(trailingMetadata: ["b": "2"])
    #expect(try await reports.next() == nil)
    #expect(try await call.trailingMetadata.first(name: "b") == "2")
  }

  @Test func rejectsPartsOutOfOrder() throws {
    let unary = client.makeLookResponseStream()
    try unary.sendMessage(Report("rain"))
    #expect(throws: FakeResponseProtocolViolation.self) { try unary.sendMessage(Report("sun")) }
    let stream = client.makeForecastResponseStream()
    try stream.sendMessage(Report("rain"))
    #expect(throws: FakeResponseProtocolViolation.self) { try stream.sendInitialMetadata(["a": "1"]) }
    try stream.sendEnd()
    #expect(throws: FakeResponseProtocolViolation.self) { try stream.sendMessage(Report("sun")) }
    #expect(throws: FakeResponseProtocolViolation.self) { try stream.sendEnd() }
  }

  // MARK: The client

  @Test func failsIfNothingIsEnqueued() async {
    let status = await status { _ = try await client.look(Place("here")) }
    #expect(
      status
        == GRPCStatus(code: .unavailable, message: "no response is enqueued for /weather.Weather/Look")
    )
  }

  @Test func callsPassTheInterceptors() async throws {
    let louder = Weather_WeatherClientInterceptors(look: { [LouderInterceptor()] })
    let client = try Weather_WeatherTestClient(interceptors: louder)
    client.enqueueLookResponse(Report("rain")) { seen.append($0) }
    #expect(try await client.look(Place("here")) == Report("RAIN"))
    #expect(messages == [Place("HERE")])
  }

  @Test func conformsToTheClientProtocol() async throws {
    client.enqueueLookResponse(Report("rain"))
    #expect(try await advice(any: client) == "take an umbrella")
  }

  @Test func sendingToACancelledCallDoesNothing() async throws {
    let response = client.makeForecastResponseStream()
    let call = client.makeForecastCall(Place("here"))
    call.cancel()
    #expect(await call.status.code == .cancelled)
    try response.sendMessage(Report("nobody listens"))
  }

  private func advice(any client: some Weather_WeatherClientProtocol) async throws -> String {
    try await client.look(Place("here"), callOptions: nil).text == "rain" ? "take an umbrella" : "go"
  }
}

/// The parts of requests that a fake response saw.
private final class Seen: Sendable {
  private let parts = Locked<[FakeRequestPart<Weather_Place>]>([])

  var all: [FakeRequestPart<Weather_Place>] { parts.withLock { $0 } }

  func append(_ part: FakeRequestPart<Weather_Place>) { parts.withLock { $0.append(part) } }
}

/// Shouts.
private final class LouderInterceptor: ClientInterceptor<Weather_Place, Weather_Report> {
  override func send(
    _ part: GRPCClientRequestPart<Weather_Place>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Weather_Place, Weather_Report>
  ) {
    guard case .message(let place, let metadata) = part else {
      return context.send(part, promise: promise)
    }
    context.send(.message(Place(place.name.uppercased()), metadata), promise: promise)
  }

  override func receive(
    _ part: GRPCClientResponsePart<Weather_Report>,
    context: ClientInterceptorContext<Weather_Place, Weather_Report>
  ) {
    guard case .message(let report) = part else { return context.receive(part) }
    context.receive(.message(Report(report.text.uppercased())))
  }
}
