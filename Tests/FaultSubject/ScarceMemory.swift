import CRefusingHeap
import Foundation
import Switchboard

/// Memory that the system refuses to the process. `FAULT_MEMORY` in the environment chooses one of them, for any scenario.
enum ScarceMemory: String {
  /// A limit of address space, as containers and `ulimit -v` have it.
  case limited
  /// An allocator that promises no more than there is, as with `vm.overcommit_memory=2`.
  case refusing

  /// The address space that the process may take besides what it has: most of it is that of threads.
  private static let addressSpace = 256 << 20
  /// What it may allocate. By the threat model, the peers of no scenario make it hold more.
  private static let memory = 64 << 20
  /// The largest block that is needed for a message of the default size.
  private static let block = 16 << 20

  /// From now on, the system has no larger block than this, and `memory` in all.
  static func refuse(moreThan block: Int) { heap_refuse(memory, block) }

  /// From now on, the system refuses what the environment says.
  static func begin() throws {
    guard let name = ProcessInfo.processInfo.environment["FAULT_MEMORY"] else { return }
    switch ScarceMemory(rawValue: name) {
    case .limited: Hoard.limitAddressSpace(toMore: addressSpace)
    case .refusing: refuse(moreThan: block)
    case nil: throw GRPCStatus(code: .invalidArgument, message: "FAULT_MEMORY is limited or refusing")
    }
  }
}
