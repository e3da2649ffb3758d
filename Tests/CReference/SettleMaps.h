// Makes what was read into the maps of dynamic messages into maps.

#ifndef SWITCHBOARD_REFERENCE_SETTLE_MAPS_H
#define SWITCHBOARD_REFERENCE_SETTLE_MAPS_H

#include <google/protobuf/message.h>

namespace switchboard {

// A dynamic message keeps the entries of a map as it read them, duplicates and unknown fields included, until
// somebody asks for the map; generated messages have a map from the start. This asks, in all messages below.
void SettleMaps(google::protobuf::Message *message);

}  // namespace switchboard

#endif
