#!/bin/sh
# A plugin for protoc that keeps its input in the file KEPT, and answers that it knows proto3's `optional`.
cat >"$KEPT"
printf '\020\001'
