/// Where parcels were seen, and who waits to hear of it.
actor Journal {
  private var scans: [UInt64: [Parcels_Scan]] = [:]
  private var followers: [UInt64: [Int: AsyncStream<Parcels_Scan>.Continuation]] = [:]
  private var lastFollower = 0

  func record(_ scan: Parcels_Scan) {
    scans[scan.number, default: []].append(scan)
    for follower in followers[scan.number, default: [:]].values { tell(follower, scan) }
  }

  /// The scans of a parcel, from the first one until it is delivered.
  func follow(_ number: UInt64) -> AsyncStream<Parcels_Scan> {
    let (stream, follower) = AsyncStream.makeStream(of: Parcels_Scan.self)
    lastFollower += 1
    let id = lastFollower
    follower.onTermination = { _ in Task { await self.forget(id, of: number) } }
    followers[number, default: [:]][id] = follower
    for scan in scans[number, default: []] { tell(follower, scan) }
    return stream
  }

  private func tell(_ follower: AsyncStream<Parcels_Scan>.Continuation, _ scan: Parcels_Scan) {
    follower.yield(scan)
    if scan.delivered { follower.finish() }
  }

  private func forget(_ follower: Int, of number: UInt64) { followers[number]?[follower] = nil }
}
