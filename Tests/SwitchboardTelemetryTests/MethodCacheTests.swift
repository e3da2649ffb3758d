import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

@Suite struct MethodCacheTests {
  private final class Value: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
  }

  private struct WeakValue {
    weak var value: Value?
  }

  private let methods = (0..<200).map { MethodDescriptor(service: "a.B", method: "C\($0)", type: .unary) }

  @Test func eachMethodHasItsOwnObject() {
    var cache = MethodCache<Value>()
    for _ in 0..<2 {
      for method in methods {
        let value = cache.value(of: method) { Value(method.method) }.takeUnretainedValue()
        #expect(value.name == method.method)
        #expect(cache.value(of: method) { Value("another") }.takeUnretainedValue() === value)
      }
    }
  }

  /// Otherwise another method could get the address of one that is known.
  @Test func methodsAreKeptAsLongAsTheirObjects() {
    weak var method: MethodDescriptor?
    do {
      var cache = MethodCache<Value>()
      do {
        let made = MethodDescriptor(service: "a.B", method: "Temporary", type: .unary)
        method = made
        _ = cache.value(of: made) { Value("temporary") }
      }
      #expect(method != nil)
      for method in methods { _ = cache.value(of: method) { Value(method.method) } }
    }
    #expect(method == nil)
  }

  /// The cache replaces objects when it has many, and releases all of them in the end.
  @Test func objectsAreReleased() {
    var made: [WeakValue] = []
    do {
      var cache = MethodCache<Value>()
      for method in methods {
        _ = cache.value(of: method) {
          let value = Value(method.method)
          made.append(WeakValue(value: value))
          return value
        }
      }
      let kept = made.count { $0.value != nil }
      #expect((1...64).contains(kept))
    }
    #expect(made.count == methods.count)
    #expect(made.allSatisfy { $0.value == nil })
  }
}
