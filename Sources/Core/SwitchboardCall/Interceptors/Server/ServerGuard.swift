/// Lets calls pass to their handlers, or refuses them: the shortest form of an interceptor for authorization.
///
/// A guard is a factory of interceptors for any method: give it to the generated interceptors of a service, or to a
/// server's options. `ServerOptions.requiredInterceptors` makes sure that no method is without it.
///
/// ```swift
/// struct KeyGuard: ServerGuard {
///   func check(_ headers: HPACKHeaders, of call: ServerCallContext) throws {
///     guard headers.first(name: "key") == "secret" else {
///       throw GRPCStatus(code: .unauthenticated, message: "a key is required")
///     }
///   }
/// }
/// ```
public protocol ServerGuard: ServerInterceptorFactory {
  /// Throws the status with which a call is refused. `headers` are the metadata as earlier interceptors have left it.
  ///
  /// Called when the metadata of a call arrives, before its messages, on the call's loop: it must not block. A check that
  /// has to wait for something is a `ServerCallInterceptor`.
  func check(_ headers: HPACKHeaders, of call: ServerCallContext) throws
}

extension ServerGuard {
  public func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [GuardInterceptor(self)] }
}

/// An interceptor that asks a guard.
private final class GuardInterceptor<Request: Sendable, Response: Sendable>:
  ServerInterceptor<Request, Response>, GuardedInterceptor
{
  let serverGuard: any ServerGuard

  init(_ serverGuard: any ServerGuard) { self.serverGuard = serverGuard }

  override func receive(
    _ part: GRPCServerRequestPart<Request>,
    context: ServerInterceptorContext<Request, Response>
  ) {
    if case .metadata(let headers) = part {
      do {
        try serverGuard.check(headers, of: ServerCallContext(context.stream))
      } catch {
        return context.send(.end(context.stream.status(of: error), HPACKHeaders()), promise: nil)
      }
    }
    context.receive(part)
  }
}

/// An interceptor that keeps no part: what it does not pass on at once, it answers.
protocol PassingInterceptor: AnyObject {}

/// An interceptor whose guard has another type.
protocol GuardedInterceptor: PassingInterceptor {
  var serverGuard: any ServerGuard { get }
}

extension MethodHandler {
  /// Those of `types` of which no interceptor of a call is, and no guard of one. Makes the interceptors as for a call.
  package func lacking(_ types: [any Any.Type]) -> [any Any.Type] {
    // Without a requirement, no factory is called before there are calls.
    guard !types.isEmpty else { return [] }
    let chain = makeInterceptors()
    func hasOne<Wanted>(_ type: Wanted.Type) -> Bool {
      chain.contains { $0 is Wanted || ($0 as? any GuardedInterceptor)?.serverGuard is Wanted }
    }
    return types.filter { !hasOne($0) }
  }
}

extension ServerInterceptorFactory {
  /// The same for factories that are one: an object, or a type without properties. `nil` for those that may differ.
  package var sameness: ObjectIdentifier? {
    if type(of: self) is AnyObject.Type { return ObjectIdentifier(self as AnyObject) }
    return MemoryLayout<Self>.size == 0 ? ObjectIdentifier(type(of: self)) : nil
  }
}

extension MethodHandler {
  /// The names of those of `guards` that are among its own interceptors, too. Makes these as for a call, unless no guard can be
  /// known again.
  package func namesOfGuards(among guards: [any ServerGuard]) -> [String] {
    let known = guards.compactMap(\.sameness)
    guard !known.isEmpty else { return [] }
    var seen: [ObjectIdentifier] = []
    return makeInterceptors().compactMap { interceptor in
      guard let own = (interceptor as? any GuardedInterceptor)?.serverGuard, let identity = own.sameness,
        known.contains(identity), !seen.contains(identity)
      else { return nil }
      seen.append(identity)
      return "\(type(of: own))"
    }
  }
}

extension MethodHandler {
  /// Why it says nothing to require this type: every interceptor is of it, or none is.
  package static func fault(ofRequired type: any Any.Type) -> String? {
    let ownType = "name the type of your own interceptor or guard, such as KeyGuard.self"
    let isBase = (type as? any InterceptorClass.Type)?.isBase ?? false
    if isBase || allHave.contains(where: { $0 == type }) {
      return "requires \(type), which interceptors of any kind are: \(ownType)"
    }
    let isInterceptor = type is any InterceptorClass.Type || type is any ServerGuard.Type
    if type is any ServerInterceptorFactory.Type, !isInterceptor {
      return "requires \(type), which makes interceptors and is none: name the class of those that it makes"
    }
    return nil
  }

  private static let allHave: [any Any.Type] = [
    Any.self, AnyObject.self, (any Sendable).self, (any ServerGuard).self,
    (any ServerInterceptorFactory).self,
  ]
}

private protocol InterceptorClass {
  /// Whether it is the class that all others of a method are derived from.
  static var isBase: Bool { get }
}

extension ServerInterceptor: InterceptorClass {
  fileprivate static var isBase: Bool { self == ServerInterceptor<Request, Response>.self }
}
