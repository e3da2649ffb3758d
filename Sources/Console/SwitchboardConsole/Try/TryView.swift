import ConsoleMessages
import SwitchboardCall
import SwitchboardDynamic
import SwitchboardText

/// Makes the view of what can be called.
struct TryView: ConsoleView {
  static let name = "try"
  static let permission: ConsolePermission? = .call

  let targets: CallTargets
  let clock: ConsoleClock

  func waitsFor(_ query: ViewQuery) -> String {
    (targets.named(query.target) ?? targets.all.first).map { "the schema of \($0.id)" } ?? ""
  }

  func answer(_ query: ViewQuery) async -> Switchboard_Console_V1_TryView {
    var view = Switchboard_Console_V1_TryView()
    let all = targets.all
    for target in all {
      // A loop that a handler blocks does not answer.
      view.targets.append(.init(target, await clock.inTime { await target.reach() }))
    }
    guard let chosen = targets.named(query.target) ?? all.first else {
      view.missing = "The console shows no server and no channel: call add(_:name:)."
      return view
    }
    view.target = chosen.id
    do {
      let found = try await targets.schema(of: chosen)
      view.missing = found.remark
      let methods = found.schema.services.flatMap(\.methods).filter { query.includes($0.path) }
      view.methodCount = UInt32(clamping: methods.count)
      var room = FormMaker.mostBytes
      for method in query.part(of: methods) {
        let shown = Switchboard_Console_V1_CallableMethod(method, found.schema)
        room -= shown.size
        if room < 0 { break }
        view.methods.append(shown)
      }
      if let method = found.schema.method(named: String(decoding: query.selected, as: UTF8.self)) {
        view.selected = .init(method, found.schema)
        view.selected.add(commentsOf: method, found.schema)
        view.selected.noCurl = chosen.noCurl(method)
        if let swift = SwiftCall(method, found.schema) {
          (view.selected.swiftCall, view.selected.swiftRequest) = (swift.method, swift.request)
        }
      }
    } catch {
      view.missing = Self.remark(on: error)
    }
    return view
  }

  /// The most characters of what a server says of itself.
  private static let longestRemark = 400

  static func remark(on error: any Error) -> String {
    if let late = error as? TargetSchemas.Late { return late.description }
    guard let failure = error as? SchemaFailure else {
      return "The descriptors of its services are of no use: \("\(error)".excerpt(longestRemark))"
    }
    guard case .noReflection = failure.reason else { return failure.description.excerpt(longestRemark) }
    return failure.description
      + ": a server has one with ReflectionService(describing: providers), or what its library calls so"
  }
}

/// Makes the forms of message types.
struct FormView: ConsoleView {
  static let name = "form"
  static let permission: ConsolePermission? = .call

  let targets: CallTargets

  func waitsFor(_ query: ViewQuery) -> String {
    targets.named(query.target).map { "the schema of \($0.id)" } ?? ""
  }

  func answer(_ query: ViewQuery) async -> Switchboard_Console_V1_FormView {
    guard let target = targets.named(query.target) else {
      return .with { $0.remark = "The console shows no server and no channel with this ID, or no longer." }
    }
    do {
      let found = try await targets.schema(of: target)
      return FormMaker(schema: found.schema).form(of: String(decoding: query.selected, as: UTF8.self))
    } catch {
      return .with { $0.remark = TryView.remark(on: error) }
    }
  }
}

/// Servers and channels that can be called.
struct CallTargets: Sendable {
  private let schemas: TargetSchemas
  private let found: @Sendable () -> [any CallTarget]

  init(schemas: TargetSchemas, _ found: @escaping @Sendable () -> [any CallTarget]) {
    (self.schemas, self.found) = (schemas, found)
  }

  var all: [any CallTarget] { found() }

  func named(_ id: [UInt8]) -> (any CallTarget)? { all.first { $0.id.utf8.elementsEqual(id) } }

  func schema(of target: any CallTarget) async throws -> TargetSchema { try await schemas.schema(of: target) }
}

extension Switchboard_Console_V1_CallTarget {
  fileprivate init(_ target: any CallTarget, _ reach: CallReach?) {
    self.init()
    (id, name, isInProcess) = (target.id, target.name, target.isInProcess)
    guard let reach else { return }
    (address, usesTls) = (reach.address, reach.usesTLS)
  }
}

extension Switchboard_Console_V1_CallableMethod {
  fileprivate init(_ method: SchemaMethod, _ schema: Schema) {
    self.init()
    name = method.path
    streamsRequests = method.descriptor.clientStreaming
    streamsResponses = method.descriptor.serverStreaming
    (requestType, responseType) = (method.requestType, method.responseType)
    if let formats = schema.marks.formats(of: method.descriptor) {
      (requestFormat, responseFormat) = (formats.requests ?? "", formats.responses ?? "")
    }
    isDeprecated = method.descriptor.options.deprecated
  }

  /// How many bytes its names take, which are the server's.
  fileprivate var size: Int { name.utf8.count + requestType.utf8.count + responseType.utf8.count }

  fileprivate mutating func add(commentsOf method: SchemaMethod, _ schema: Schema) {
    guard let service = schema.symbol(named: method.service),
      let index = schema.service(named: method.service)?.descriptor.method.firstIndex(where: {
        $0.name.isExactly(method.name)
      })
    else { return }
    let path = service.path + [SymbolIndex.Number.serviceMethod, Int32(truncatingIfNeeded: index)]
    comment = Comments(schema.files[service.file]).text(at: path)
  }
}
