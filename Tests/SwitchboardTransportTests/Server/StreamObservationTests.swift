import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct StreamObservationTests {
  private final class Observer: ServerStreamObserver {
    var holders: [AnyObject] { [] }
    func sent(_ part: SentPart) {}
    func closed(_ failure: GRPCStatus?) {}
  }

  @Test func theObserverLearnsOfTheEndOnce() {
    var observation = StreamObservation()
    let observer = Observer()
    #expect(observation.add(observer, sent: false) && !observation.reportsSent)
    #expect(observation.end(nil) === observer)
    #expect(observation.end(.callGone) == nil && observation.failure == nil)
  }

  @Test func anObserverAfterTheEndIsTold() {
    var observation = StreamObservation()
    #expect(observation.end(.callGone) == nil)
    #expect(!observation.add(Observer(), sent: true) && observation.failure == .callGone)
    #expect(!observation.reportsSent)
  }

  /// A second observer replaces the first, and gets what that one wanted.
  @Test func whatOneObserverWantsIsReportedFromThenOn() {
    var observation = StreamObservation()
    let second = Observer()
    #expect(observation.add(Observer(), sent: true) && observation.add(second, sent: false))
    #expect(observation.reportsSent && observation.observer === second)
  }
}
