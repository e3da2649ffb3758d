import SwitchboardBalancing
import Testing

@Suite struct BackoffTests {
  @Test func growsToTheMaximumWithJitter() {
    var backoff = Backoff(initial: .seconds(1), maximum: .seconds(10))
    var random = SystemRandomNumberGenerator()
    var base = 1.0
    for _ in 0..<20 {
      let wait = backoff.next(using: &random) / .milliseconds(1) / 1000
      #expect(wait >= base * 0.8 - 0.001 && wait <= base * 1.2 + 0.001)
      base = min(base * 1.6, 10)
    }
    backoff.reset()
    #expect(backoff.next(using: &random) <= .milliseconds(1200))
  }
}
