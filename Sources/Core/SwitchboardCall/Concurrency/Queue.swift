/// A first-in, first-out queue that frees memory as it is read.
@frozen
@usableFromInline
package struct Queue<Element: Sendable>: Sendable {
  @usableFromInline var slots: [Element?] = []
  @usableFromInline var head = 0

  @inlinable
  package init() {}

  @inlinable
  package var isEmpty: Bool { head == slots.count }

  @inlinable
  package var count: Int { slots.count - head }

  @inlinable
  package var first: Element? { head < slots.count ? slots[head] : nil }

  /// The element `offset` positions after the first.
  @inlinable
  package subscript(offset: Int) -> Element? {
    offset >= 0 && head + offset < slots.count ? slots[head + offset] : nil
  }

  @inlinable
  package mutating func append(_ element: Element) {
    slots.append(element)
  }

  @inlinable
  package mutating func popFirst() -> Element? {
    guard head < slots.count else { return nil }
    let element = slots[head]
    slots[head] = nil
    head += 1
    if head == slots.count {
      slots.removeAll(keepingCapacity: head <= 64)
      head = 0
    } else if head >= 64, head * 2 >= slots.count {
      slots.removeFirst(head)
      head = 0
    }
    return element
  }

  @inlinable
  package mutating func removeAll() {
    slots = []
    head = 0
  }
}
