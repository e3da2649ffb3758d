import Switchboard

/// Hands in the scans of a parcel on its way, and prints where it was seen.
func deliver(_ number: UInt64, by tracking: Parcels_TrackingClient) async throws {
  let receipt = try await tracking.handIn { call in
    for place in ["depot", "van", "door"] {
      let scan = Parcels_Scan.with {
        $0.number = number
        $0.place = place
        $0.delivered = place == "door"
      }
      try await call.requestStream.send(scan)
    }
  }
  print("\(receipt.scans) scans")

  let sightings = tracking.follow(.with { $0.number = number })
  for try await sighting in sightings { print("seen: \(sighting.place)") }
}
