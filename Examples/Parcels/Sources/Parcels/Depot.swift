/// The parcels that were ordered.
actor Depot {
  private var parcels: [UInt64: Parcels_Parcel] = [:]

  func take(_ order: Parcels_Order) -> Parcels_Parcel {
    let parcel = Parcels_Parcel.with {
      $0.number = UInt64(parcels.count + 1)
      $0.order = order
    }
    parcels[parcel.number] = parcel
    return parcel
  }

  func parcel(_ number: UInt64) -> Parcels_Parcel? { parcels[number] }
}
