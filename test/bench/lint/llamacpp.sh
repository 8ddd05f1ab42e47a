#!/usr/bin/env bash
# Builds llamacpp.cpp against the sources of llama.cpp, without a model or a device.
# usage: llamacpp.sh LLAMA_CPP_SOURCES PROGRAM
# The sources are a checkout, or vendor/llama.cpp in the source package of llama-cpp-python.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$1" && pwd)
program=$2
cd "$sources"
objects=$(mktemp -d)
compile() { g++ -std=c++17 -O1 -w -Icommon -Isrc -Iinclude -Iggml/include -Ivendor -c "$1" -o "$objects/$2.o"; }
compile "$here/llamacpp.cpp" main &
for file in common/json-schema-to-grammar common/json-schema common/json common/trie common/unicode common/common \
  src/llama-grammar src/unicode src/unicode-data; do
  compile "$file.cpp" "${file//\//-}"
done
wait
# Nothing of the model code is reached, so its symbols may stay open.
g++ -no-pie "$objects"/*.o -pthread -Wl,--unresolved-symbols=ignore-all -o "$program"
