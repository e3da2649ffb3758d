import SwitchboardCall
import Testing

@testable import SwitchboardConsole

/// Which of the calls in progress a query includes.
@Suite struct WantedMethodsTests {
  @Test func aNameIsComparedOnceForAllCalls() {
    let compared = Locked(0)
    let methods = WantedMethods { name in
      compared.withLock { $0 += 1 }
      return name.utf8.elementsEqual("a.A/One".utf8)
    }
    let (one, two) = (
      MethodDescriptor(service: "a.A", method: "One", type: .unary),
      MethodDescriptor(service: "a.A", method: "Two", type: .unary)
    )
    for _ in 0..<1000 {
      #expect(methods.include(one))
      #expect(!methods.include(two))
    }
    #expect(compared.withLock { $0 } == 2)
  }

  @Test func fewMethodsAreKept() {
    let methods = WantedMethods { _ in true }
    for number in 0..<(WantedMethods.mostKept * 2 + 1) {
      #expect(methods.include(MethodDescriptor(service: "a.A", method: "M\(number)", type: .unary)))
    }
    #expect(methods.keptCount <= WantedMethods.mostKept)
  }
}
