/// A first-in, first-out queue that gives its memory back as it is read.
struct MessageQueue: Sendable {
  private var slots: [MessageBuffer?] = []
  private var head = 0

  var isEmpty: Bool { head == slots.count }

  mutating func append(_ message: MessageBuffer) {
    slots.append(message)
  }

  mutating func popFirst() -> MessageBuffer? {
    guard head < slots.count else { return nil }
    let message = slots[head]
    slots[head] = nil
    head += 1
    if head == slots.count {
      slots.removeAll(keepingCapacity: head <= 64)
      head = 0
    } else if head >= 64, head * 2 >= slots.count {
      slots.removeFirst(head)
      head = 0
    }
    return message
  }

  mutating func removeAll() {
    slots = []
    head = 0
  }
}
