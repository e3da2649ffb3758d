import Dispatch

/// Runs `StateCheck` with the values of `STATE_SEED` and `STATE_CALLS`, for the role that `STATE_ROLE` names or for all.
let seed = StateCheck.chosen("STATE_SEED") ?? 1
let calls = Int(clamping: StateCheck.chosen("STATE_CALLS") ?? 250_000)
for role in StateCheck.chosenRoles {
  do {
    let start = DispatchTime.now()
    let report = try StateCheck.run(role, seed: seed, calls: calls)
    let milliseconds = (DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1_000_000
    print("states: \(report), from the seed \(seed), in \(milliseconds) ms")
  } catch {
    fatalError("states: \(role): \(error)")
  }
}
