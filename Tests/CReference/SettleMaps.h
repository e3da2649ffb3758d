// Converts the map fields of dynamic messages to maps.

#ifndef SWITCHBOARD_REFERENCE_SETTLE_MAPS_H
#define SWITCHBOARD_REFERENCE_SETTLE_MAPS_H

#include <google/protobuf/message.h>

namespace switchboard {

// A dynamic message stores the entries of a map as read, including duplicates and unknown fields, until the map is
// accessed; generated messages use a map from the start. This accesses all maps in all nested messages.
void SettleMaps(google::protobuf::Message *message);

}  // namespace switchboard

#endif
