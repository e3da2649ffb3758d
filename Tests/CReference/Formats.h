// Reads or writes one message in one format. Each function returns an error message; empty on success.

#ifndef SWITCHBOARD_REFERENCE_FORMATS_H
#define SWITCHBOARD_REFERENCE_FORMATS_H

#include <google/protobuf/message.h>

#include <string>

#include "CReference.h"

namespace switchboard {

std::string Read(reference_format format, const std::string &bytes, const reference_options &options,
                 google::protobuf::Message *message);

std::string Write(reference_format format, const google::protobuf::Message &message,
                  const reference_options &options, std::string *bytes);

}  // namespace switchboard

#endif
