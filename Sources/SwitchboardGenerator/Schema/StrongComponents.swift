/// The strongly connected components of a directed graph (Tarjan's algorithm with an explicit stack, because the input
/// controls the depth of the graph).
struct StrongComponents {
  private let edges: [[Int]]
  private var order: [Int?]
  private var low: [Int]
  private var isOpen: [Bool]
  private var open: [Int] = []
  private var count = 0
  private var found: [[Int]] = []

  /// The sets of nodes that can reach each other, each after all components that it leads to.
  static func find(in edges: [[Int]]) -> [[Int]] {
    var search = StrongComponents(edges)
    for node in edges.indices where search.order[node] == nil { search.visit(from: node) }
    return search.found
  }

  private init(_ edges: [[Int]]) {
    self.edges = edges
    order = Array(repeating: nil, count: edges.count)
    low = Array(repeating: 0, count: edges.count)
    isOpen = Array(repeating: false, count: edges.count)
  }

  private mutating func visit(from root: Int) {
    var path = [(node: root, next: 0)]
    enter(root)
    while let (node, next) = path.last {
      if next < edges[node].count {
        path[path.count - 1].next += 1
        let target = edges[node][next]
        if let seen = order[target] {
          if isOpen[target] { low[node] = min(low[node], seen) }
        } else {
          enter(target)
          path.append((node: target, next: 0))
        }
      } else {
        path.removeLast()
        leave(node, to: path.last?.node)
      }
    }
  }

  private mutating func enter(_ node: Int) {
    order[node] = count
    low[node] = count
    count += 1
    open.append(node)
    isOpen[node] = true
  }

  private mutating func leave(_ node: Int, to parent: Int?) {
    if let parent { low[parent] = min(low[parent], low[node]) }
    guard low[node] == order[node] else { return }
    var members: [Int] = []
    repeat {
      guard let member = open.popLast() else { break }
      isOpen[member] = false
      members.append(member)
    } while members.last != node
    found.append(members)
  }
}
