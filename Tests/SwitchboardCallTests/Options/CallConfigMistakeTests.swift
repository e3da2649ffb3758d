import CallTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import Testing

/// What a service config asks for and a call does not have is in the log, once for each method.
@Suite(.timeLimit(.minutes(5))) struct CallConfigMistakeTests {
  // MARK: The buffer of retries

  @Test func aRequestThatIsTooLargeToBeSentAgain() async throws {
    let warnings = LogEntries()
    let script = ScriptedChannel(
      try .retrying(),
      retryBufferSize: 10,
      logger: Logger(warnings, minimumLevel: .warning)
    )
    for _ in 0..<2 {
      let call = script.unary([UInt8](repeating: 1, count: 11))
      try await script.transport.next().end(.unavailable)
      #expect(await call.status.code == .unavailable)
    }
    #expect(warnings.all.count == 1)
    #expect(warnings.all.first?.message.hasSuffix("its requests take more than retryBufferSize") == true)
    #expect(warnings.all.first?.metadata["method"] == "/test.Test/Get")
    #expect(warnings.all.first?.metadata["retryBufferSize"] == "10 bytes")
  }

  @Test func aStreamThatIsTooLongToBeSentAgain() async throws {
    let warnings = LogEntries()
    let script = ScriptedChannel(
      try .retrying(),
      retryBufferSize: 1000,
      logger: Logger(warnings, minimumLevel: .warning)
    )
    let call = script.update()
    let only = try await script.transport.next()
    try await call.requestStream.send([UInt8](repeating: 1, count: 2000))
    #expect(try await only.nextRequest()?.count == 2000)
    only.end(.unavailable)
    #expect(await call.status.code == .unavailable)
    #expect(warnings.all.map { $0.metadata["method"] } == ["/test.Test/Update"])
  }

  /// A failure that no policy names, or after the server has answered, would not be repeated anyway.
  @Test func callsThatAreNotRepeatedAnyway() async throws {
    let warnings = LogEntries()
    let script = ScriptedChannel(
      try .retrying(),
      retryBufferSize: 1000,
      logger: Logger(warnings, minimumLevel: .warning)
    )
    for isAnswered in [false, true] {
      let call = script.update()
      let only = try await script.transport.next()
      try await call.requestStream.send([UInt8](repeating: 1, count: 2000))
      #expect(try await only.nextRequest()?.count == 2000)
      if isAnswered { only.sendHeaders() }
      only.end(isAnswered ? .unavailable : .notFound)
      _ = await call.status
    }
    let small = script.unary()
    for _ in 0..<2 {
      try await script.transport.next().end(.unavailable)
      _ = try await script.passNextWait()
    }
    try await script.transport.next().end(.unavailable)
    #expect(await small.status.code == .unavailable)
    #expect(warnings.all.isEmpty)
  }

  // MARK: A call's own config

  private func config(for service: String) throws -> ServiceConfig {
    let name = try MethodConfig.Name(service: service)
    return try ServiceConfig(methodConfigs: [MethodConfig(names: [name], timeout: .seconds(5))])
  }

  /// The warnings of a channel with this config about calls with this one.
  private func warnings(_ ofChannel: ServiceConfig?, _ ofCall: ServiceConfig) async throws -> [String] {
    let warnings = LogEntries()
    let script = ScriptedChannel(ofChannel, logger: Logger(warnings, minimumLevel: .warning))
    for _ in 0..<2 {
      let call = script.unary(options: .with { $0.serviceConfig = ofCall })
      try await script.transport.next().end(.notFound)
      _ = await call.status
    }
    return warnings.all.map { "\($0.message) \($0.metadata["method"] ?? "")" }
  }

  @Test func aConfigWithoutTheMethodReplacesTheChannels() async throws {
    let found = try await warnings(try config(for: "test.Test"), try config(for: "test.Tset"))
    #expect(found.count == 1)
    #expect(
      found.first?.contains("has other methods than that of the call, and replaces the channel's") == true
    )
    #expect(found.first?.hasSuffix(" /test.Test/Get") == true)
    // One that is empty replaces it on purpose, and one with the method does what it says.
    #expect(try await warnings(try config(for: "test.Test"), try ServiceConfig()) == [])
    #expect(try await warnings(try config(for: "test.Test"), try config(for: "test.Test")) == [])
    #expect(try await warnings(try config(for: "test.Other"), try config(for: "test.Tset")) == [])
    #expect(try await warnings(nil, try config(for: "test.Tset")) == [])
  }

  /// A method that is called has no config by its name, and the config has one by nearly that name.
  @Test(arguments: ["Test_Test", "test_test", "Test", "test.Test.Get", "test.test", "TEST.TEST"])
  func aNameThatIsNearlyTheServicesIsReported(_ name: String) async throws {
    let found = try await warnings(nil, try config(for: name))
    #expect(found.count == 1)
    #expect(found.first?.contains("a service config has nothing for a method that is called") == true)
    #expect(found.first?.hasSuffix(" /test.Test/Get") == true)
  }

  @Test func aMethodInOtherLettersIsReported() async throws {
    let wrong = try MethodConfig.Name(service: "test.Test", method: "get")
    let config = try ServiceConfig(methodConfigs: [MethodConfig(names: [wrong], timeout: .seconds(5))])
    #expect(try await warnings(nil, config).count == 1)
    // The service has a config, which applies.
    let both = try ServiceConfig(methodConfigs: [
      MethodConfig(names: [wrong], timeout: .seconds(5)),
      MethodConfig(names: [try MethodConfig.Name(service: "test.Test")], timeout: .seconds(6)),
    ])
    #expect(try await warnings(nil, both) == [])
  }

  private func config(forMethod name: String) throws -> ServiceConfig {
    let name = try MethodConfig.Name(service: "test.Test", method: name)
    return try ServiceConfig(methodConfigs: [MethodConfig(names: [name], timeout: .seconds(5))])
  }

  /// The method that is called is `Get`.
  @Test(arguments: ["Gett", "Gt", "Ge", "Gat", "Gte", "gett"])
  func aMisspelledMethodIsReported(_ name: String) async throws {
    #expect(try await warnings(nil, try config(forMethod: name)).count == 1)
  }

  /// What is nearly the name of a method may be that of another one.
  @Test(arguments: ["Set", "Gets", "Get2", "Put", "Getter", "G"])
  func otherMethodsAreNotReported(_ name: String) async throws {
    #expect(try await warnings(nil, try config(forMethod: name)) == [])
  }

  @Test func aMethodThatIsCalledTooIsNotReported() async throws {
    let warnings = LogEntries()
    let script = ScriptedChannel(
      try config(forMethod: "Ping"),
      logger: Logger(warnings, minimumLevel: .warning)
    )
    for name in ["Ping", "Pong", "Pang"] {
      let method = MethodDescriptor(service: "test.Test", method: name, type: .unary)
      let call = script.channel.call(method).makeUnaryCall([1])
      try await script.transport.next().end(.notFound)
      _ = await call.status
    }
    #expect(warnings.all.isEmpty)
  }

  @Test func otherServicesAreNotReported() async throws {
    for name in ["test.Other", "other.Test2", "est.Test"] {
      #expect(try await warnings(nil, try config(for: name)) == [])
    }
  }
}
