import SwitchboardBalancing
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct WaitingRoomTests {
  private func makeCall() throws -> ClientCallStream {
    let group = try LoopGroup()
    let channel = try HTTP2ClientTransport(target: "unix:/nowhere", options: ChannelOptions(), group: group)
    let request = BytesMarshaller().encode([])
    let call = CallRequest(method: TestService.get, options: nil, body: .message(request))
    return ClientCallStream(call, EndRecorder(), channel)
  }

  @Test func onlySoManyCallsMayWait() throws {
    var room = WaitingRoom()
    try room.admit(limit: 2)
    try room.admit(limit: 2)
    #expect(throws: GRPCStatus.tooManyWaitingCalls) { try room.admit(limit: 2) }
    room.leave(1)
    try room.admit(limit: 2)
    #expect(room.count == 2)
  }

  @Test func theLoopIsKeptWhileSomethingIsAwaited() throws {
    var room = WaitingRoom()
    #expect(room.keepLoop(awaitsConfig: false) == 0 && room.keepLoop(awaitsConfig: true) == 1)
    try room.admit(limit: 1)
    #expect(room.keepLoop(awaitsConfig: false) == 0)
    room.leave(1)
    #expect(room.keepLoop(awaitsConfig: false) == -1)
  }

  @Test func allCallsAskAPickerWhoseAnswerIsNotKnown() throws {
    var room = WaitingRoom()
    let call = try makeCall()
    #expect(room.takeForRetry(QueuePicker(), nameIsResolved: true).isEmpty)
    try room.admit(limit: 1)
    room.append(call, awaitingName: false)
    #expect(call.isWaiting)
    #expect(
      room.takeForRetry(QueuePicker(), nameIsResolved: true).map(ObjectIdentifier.init) == [
        ObjectIdentifier(call)
      ]
    )
    #expect(room.count == 0 && call.isStarted)
  }

  /// Otherwise, each failure of one of many servers would cost time in proportion to the number of calls.
  @Test func onlyCallsThatMayFailAskAPickerThatFails() throws {
    var room = WaitingRoom()
    try room.admit(limit: 1)
    room.append(try makeCall(), awaitingName: false)
    let failing = ConstantPicker(.fail(.connectionLost))
    #expect(room.takeForRetry(failing, nameIsResolved: true).isEmpty && room.count == 1)
    room.mayFailFast()
    #expect(room.takeForRetry(ConstantPicker(.wait), nameIsResolved: true).isEmpty && room.count == 1)
    #expect(room.takeForRetry(failing, nameIsResolved: true).count == 1 && room.count == 0)
  }

  /// A picker that may answer each call in another way.
  private final class QueuePicker: Picker {
    func pick(_ call: any CallToPick) -> Pick { .wait }
  }
}
